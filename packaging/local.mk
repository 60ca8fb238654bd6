# SPDX-License-Identifier: GPL-3.0-or-later
# What builds packages; tests/packaging.py checks it against make install, and
# tests/packages.sh builds them.
EXTRA_DIST += packaging/cpprof.spec tests/packages.sh tests/same-dist.sh \
	debian/changelog debian/control debian/copyright debian/cpprof-mpi.install \
	debian/cpprof-mpi.manpages debian/cpprof.install debian/cpprof.manpages \
	debian/libcpprof-dev.install debian/libcpprof-dev.manpages \
	debian/libcpprof0.install debian/libcpprof0.symbols debian/not-installed \
	debian/rules debian/source/format debian/tests/control debian/tests/link \
	debian/tests/open debian/tests/record

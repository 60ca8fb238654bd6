#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# packages.sh -- builds the Debian packages from what `make dist` packs, and tries
# them on machines that have nothing else.  Not part of check: half an hour.
#
#	tests/packages.sh DIST.tar.gz DIR [SUITE...]
#
# For root.  For each suite (bookworm and trixie), a minimal Debian in DIR, made by
# debootstrap from the mirror that this machine uses and kept for the next time.
# In a copy of it: dpkg-buildpackage and lintian; in another one, which has never
# had a compiler: the packages are installed, the README's session and
# debian/tests run, and everything is purged again.  What is left then is shown.
#
# It stops with exit status 1 at the first step that fails.
set -eu
if [ "$(id -u)" != 0 ] || [ $# -lt 2 ]; then
	sed -n 's/^#	//p' "$0" >&2
	exit 2
fi
dist=$(readlink -f "$1") place=$2
shift 2
[ $# -gt 0 ] || set -- bookworm trixie
mkdir -p "$place"
place=$(readlink -f "$place")
mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
	sed -nE 's/^(URIs:|deb)( \[[^]]*\])? +(https?:[^ ]*\/debian)\/?( .*|$)/\3/p' |
	head -n 1)
root=

leave() {
	for mount in dev/pts dev proc; do
		umount -l "$root/$mount" 2>/dev/null || true
	done
}
trap '[ -z "$root" ] || leave' EXIT

# enter NAME BASE: a copy of a machine, in $root from now on.
enter() {
	[ -z "$root" ] || leave
	root=$place/$1
	leave
	rm -rf "$root"
	cp -a "$2" "$root"
	for file in resolv.conf hosts; do
		cp /etc/$file "$root/etc/" 2>/dev/null || true
	done
	# How this machine reaches the mirror, which no package says.
	for file in /etc/apt/apt.conf.d/*; do
		dpkg -S "$file" >/dev/null 2>&1 ||
			cp "$file" "$root/etc/apt/apt.conf.d/"
	done
	mount -t proc proc "$root/proc"
	mount --bind /dev "$root/dev"
	mount --bind /dev/pts "$root/dev/pts"
}

# inside COMMAND...: on that machine.
inside() {
	chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin \
		HOME=/root TERM=dumb LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
		${DEB_BUILD_OPTIONS+DEB_BUILD_OPTIONS="$DEB_BUILD_OPTIONS"} "$@"
}

# step WHAT COMMAND...: shows the end of the output if it fails.
step() {
	what=$1
	shift
	if "$@" >"$place/log" 2>&1; then
		echo "ok - $suite: $what"
	else
		echo "not ok - $suite: $what"
		tail -n 40 "$place/log" | sed 's/^/# /'
		return 1
	fi
}

# all_files: what there is, without what apt and the kernel keep for themselves.
all_files() {
	(cd "$root" && find . -xdev ! -path './proc/*' ! -path './dev/*' \
		! -path './var/cache/*' ! -path './var/lib/apt/*' \
		! -path './var/lib/dpkg/*' ! -path './var/log/*' \
		! -path './tmp/*' ! -path './root/*' | sort)
}

for suite; do
	base=$place/$suite
	[ -e "$base/etc/debian_version" ] ||
		debootstrap --variant=minbase "$suite" "$base" "$mirror" \
			>"$place/debootstrap.log" 2>&1

	# The machine that builds; its packages are kept for the next time.
	if [ ! -e "$base-build/root/ready" ]; then
		enter "$suite-build" "$base"
		step 'what a build needs' inside sh -c '
			apt-get -qq update && apt-get -qq install -y \
				--no-install-recommends build-essential fakeroot lintian'
		touch "$root/root/ready"
	else
		[ -z "$root" ] || leave
		root=$base-build
		leave
		mount -t proc proc "$root/proc"
		mount --bind /dev "$root/dev"
		mount --bind /dev/pts "$root/dev/pts"
	fi
	rm -rf "$root/root/build"
	mkdir "$root/root/build"
	name=$(basename "$dist" .tar.gz)
	tar -C "$root/root/build" -xf "$dist"
	step 'what debian/control needs' inside sh -c "cd /root/build/$name &&
		apt-get -qq build-dep -y --no-install-recommends ./"
	step dpkg-buildpackage inside sh -c "cd /root/build/$name &&
		dpkg-buildpackage -us -uc -j$(nproc)"
	step 'lintian finds nothing' inside sh -c '
		cd /root/build && lintian --fail-on error,warning *.changes'
	cp "$place/log" "$place/lintian-$suite.log"
	rm -rf "$place/packages-$suite"
	mkdir "$place/packages-$suite"
	cp "$root"/root/build/*.deb "$place/packages-$suite/"

	enter "$suite-use" "$base"
	step 'package lists' inside apt-get -qq update
	mkdir "$root/root/packages" "$root/root/tests"
	all_files >"$place/before"
	inside dpkg --get-selections >"$place/selections"
	cp "$place/packages-$suite"/*.deb "$root/root/packages/"
	tar -C "$root/root/tests" --strip-components=3 -xf "$dist" \
		"$name/debian/tests"
	step 'the packages are installed' inside sh -c 'cd /root/packages &&
		apt-get -qq install -y ./cpprof_*.deb ./libcpprof0_*.deb \
			./libcpprof-dev_*.deb ./cpprof-mpi_*.deb'
	step 'the README'\''s session' inside sh -c 'cd /usr/share/cpprof &&
		printf "functions\nroot db_read_record\nup\n" |
			cpprof sample-data/forms.folded | grep -F "0.6873 (address"
		man -w cpprof >/dev/null 2>&1 || test -e /usr/share/man/man1 ||
			ls /usr/share/doc/cpprof'
	step 'a program of the system is recorded' inside sh -c 'cd /tmp &&
		cpprof record -o r sha256sum /usr/bin/* >/dev/null &&
		cpprof -q -e "functions 3" r && rm -r r'
	step 'a compiler for debian/tests' inside sh -c '
		apt-get -qq install -y --no-install-recommends gcc libc6-dev pkg-config'
	for test in open record link; do
		step "debian/tests/$test" inside sh -c "mkdir /tmp/test &&
			AUTOPKGTEST_TMP=/tmp/test sh -e /root/tests/$test &&
			rm -r /tmp/test"
	done
	step 'the packages are purged' inside sh -c '
		apt-get -qq purge -y cpprof libcpprof0 libcpprof-dev cpprof-mpi &&
		! dpkg-query -W -f "\${Package}\n" | grep cpprof'
	# What only they and the compiler needed goes with them.
	inside dpkg --get-selections | cut -f 1 >"$place/now"
	cut -f 1 "$place/selections" | grep -vxFf - "$place/now" >"$place/more" ||
		true
	step 'and what they needed' inside sh -c "apt-get -qq purge -y \
		$(tr '\n' ' ' <"$place/more")"
	all_files >"$place/after"
	diff "$place/before" "$place/after" | grep '^>' >"$place/left" || true
	step 'nothing of cpprof is left' sh -c "! grep -i cpprof '$place/left'"
	echo "# $suite: $(wc -l <"$place/left") other files are left," \
		'of the packages that these needed'
done

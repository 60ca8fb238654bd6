#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# python-root.sh DIRECTORY -- python.py, python-outside.py, python-parts.py, tasks.py
# and task-list.py, with the newest CPython.
#
# Makes a root of Debian's unstable suite in DIRECTORY, if it is empty, and runs
# the tests in it by chroot, with the cpprof that was built here.  As root, in the
# build's folder; needs debootstrap and the network (MIRROR: from where), which
# `make check` does not.
set -eu
root=${1:?usage: python-root.sh DIRECTORY}
top=$(cd "$(dirname "$0")/.." && pwd)
build=$PWD
packages=python3.14,python3.15,libelf1t64,libdw1t64,libreadline8t64
packages=$packages,libdeflate0,libyajl2,libxxhash0,libpcre2-8-0,libmd0

[ -x "$build/cpprof" ] || { echo "python-root.sh: no cpprof here" >&2; exit 2; }
[ -e "$root/usr/bin/python3.15" ] || debootstrap --variant=minbase \
	--include="$packages" unstable "$root" ${MIRROR:+"$MIRROR"}
# What is mounted is so for this process and its children only.
exec unshare -m sh -eu -c '
	root=$1 top=$2 build=$3
	mount -t proc proc "$root/proc"
	mount --bind /dev "$root/dev"
	for folder in "$top" "$build"; do
		mkdir -p "$root$folder"
		mount --bind "$folder" "$root$folder"
	done
	for test in python.py python-outside.py python-parts.py tasks.py \
		task-list.py; do
		chroot "$root" env -i PATH=/usr/bin:/bin HOME=/root srcdir="$top" \
			CPPROF="$build/cpprof" python3.14 "$top/tests/$test"
	done' sh "$root" "$top" "$build"

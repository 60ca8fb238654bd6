#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# same-dist.sh -- `make dist` writes the same bytes in clones in other directories,
# by another umask, time zone, locale and time, and from what it has packed.  Not
# part of check: it configures three times.
set -u
source=$(cd "${srcdir:-.}" && pwd) n=0
git -C "$source" rev-parse HEAD >/dev/null 2>&1 ||
	{ echo '1..0 # SKIP no repository'; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset MAKEFLAGS MAKELEVEL MFLAGS SOURCE_DATE_EPOCH

# pack FOLDER BUILD: prints the hash of the tarball.
pack() {
	[ -e "$1/configure" ] || (cd "$1" && mkdir -p m4 && autoreconf -fi)
	mkdir -p "$2" && cd "$2" && "$1/configure" -q && make dist
} >>"$work/log" 2>&1
hash() {
	sha256sum <"$(ls "$1"/cpprof-*.tar.gz)"
}
claim() {
	n=$((n + 1))
	if [ "$2" = "$3" ] && [ -n "$2" ]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		tail -n 5 "$work/log" | sed 's/^/# /'
	fi
}

git clone -q "$source" "$work/a"
(umask 022 && pack "$work/a" "$work/a/build")
first=$(hash "$work/a/build")
(
	umask 077
	export TZ=Asia/Tokyo LC_ALL=C.UTF-8
	git clone -q "$source" "$work/another directory's name"
	mv "$work/another directory's name" "$work/longer-name"
	find "$work/longer-name" -name .git -prune -o -type f -exec \
		touch -d '2001-02-03 04:05:06' {} +
	pack "$work/longer-name" "$work/out of the way"
)
claim 'another directory, umask and time' "$first" \
	"$(hash "$work/out of the way")"
mkdir "$work/packed"
tar -C "$work/packed" --strip-components=1 -xf "$work"/a/build/cpprof-*.tar.gz
(pack "$work/packed" "$work/packed/build")
claim 'what is packed, packed again' "$first" "$(hash "$work/packed/build")"
(cd "$work/a/build" && SOURCE_DATE_EPOCH=1000000000 make dist) \
	>>"$work/log" 2>&1
claim 'the time is SOURCE_DATE_EPOCH, if it is set' 2001-09-09 \
	"$(TZ=UTC tar -tvf "$work"/a/build/cpprof-*.tar.gz | awk '{ print $4 }' |
		sort -u)"
echo "1..$n"

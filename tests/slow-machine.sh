#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# slow-machine.sh -- runs tests where timers, page faults and processes are slow.
#
# Not part of the suite.  Boots Debian in QEMU's software emulation, which needs
# no virtualisation of the processor, and runs tests there: a timer interrupt
# costs some 100 microseconds, a process several milliseconds.  A test that
# assumes what such things cost fails here.  The machine has one processor, whose
# clocks count its instructions, so it is as slow however busy this one is.
# Tests what is committed.
#
#	sudo tests/slow-machine.sh [-u] [-s SHIFT] [TEST...]
#		-u	as an ordinary user, who may not use perf events
#		-s	an instruction takes 2^SHIFT ns (3)
#		TEST	such as tests/brief.py (those that record)
#
# Needs root, debootstrap, qemu-system-x86_64 and mke2fs, and 6 GB in $SLOW_DIR
# (/var/tmp/cpprof-slow), which keeps the installed system for the next time.
# Exit status: 0 if all tests passed, 1 if not, 2 if they could not be run.
set -eu

directory=${SLOW_DIR:-/var/tmp/cpprof-slow}
base=$directory/base root=$directory/root
user=root shift=3

fail() {
	echo "slow-machine.sh: $*" >&2
	exit 2
}

while getopts us: option; do
	case $option in
	u)	user=tester;;
	s)	shift=$OPTARG;;
	*)	exit 2;;
	esac
done
shift $((OPTIND - 1))
tests=${*:-tests/test-collector.py tests/undisturbed.py tests/linked.py
	tests/live.py tests/test-wrappers.py tests/brief.py tests/together.py
	tests/waits.py tests/endings.py tests/test-exceptions.py
	tests/test-attacks.py tests/test-slices.py tests/test-resources.py
	tests/test-stacks.py tests/test-parts.py tests/names.py
	tests/record.sh tests/recordings.sh}

[ "$(id -u)" = 0 ] || fail 'needs root, for chroot'
for tool in debootstrap qemu-system-x86_64 mke2fs git; do
	command -v $tool >/dev/null || fail "needs $tool"
done
top=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)

# The same mirror as this machine's.
mirror() {
	cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
		sed -nE 's,^(URIs:|deb)( \[[^]]*\])? +(https?:[^ ]*/debian)/?( .*|$),\3,p' |
		head -n 1
}

# in_root DIRECTORY COMMAND: by a shell, with /proc, in the project's folder.
in_root() {
	mount -t proc proc "$1/proc"
	result=0
	chroot "$1" /usr/bin/env -i HOME=/root DEBIAN_FRONTEND=noninteractive \
		PATH=/usr/sbin:/usr/bin:/sbin:/bin \
		sh -c "cd /project && $2" >"$directory/log" 2>&1 </dev/null ||
		result=$?
	umount "$1/proc"
	[ $result = 0 ] || {
		tail -n 20 "$directory/log" >&2
		fail "failed: $2"
	}
}

make_base() {
	echo "slow-machine.sh: installing Debian in $base" >&2
	rm -rf "$base.new"
	debootstrap --variant=minbase \
		--include=linux-image-cloud-amd64,iproute2,git,ca-certificates \
		bookworm "$base.new" "$(mirror)" >"$directory/log" 2>&1 ||
		fail "debootstrap failed; see $directory/log"
	cp /etc/resolv.conf "$base.new/etc/"
	cp -r /etc/apt/apt.conf.d/. "$base.new/etc/apt/apt.conf.d/"
	chroot "$base.new" useradd -m tester
	git clone -q "$top" "$base.new/project"
	in_root "$base.new" './quickstart packages'
	rm -rf "$base.new/project"
	mv "$base.new" "$base"
}

# What the machine runs in place of init: the tests, then it is switched off.
write_init() {
	cat >"$root/init-tests" <<-EOF
	#!/bin/sh
	export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp TERM=dumb
	export TEST_TIME_LIMIT=14400 TEST_CASE_LIMIT=1800
	mount -t proc proc /proc
	mount -t sysfs sys /sys
	mount -t tmpfs tmp /tmp
	mount -t tracefs trace /sys/kernel/tracing
	mkdir -p /dev/pts /dev/shm
	mount -t devpts pts /dev/pts
	mount -t tmpfs shm /dev/shm
	ip link set lo up
	cd /project
	echo BEGIN >/dev/ttyS0
	setpriv --reuid=$user --regid=$user --init-groups \
		make -C build check TESTS='$(echo $tests)' \
		</dev/null >/dev/ttyS0 2>&1
	echo "END \$?" >/dev/ttyS0
	for log in build/tests/*.log; do
		grep -l '^not ok' \$log >/dev/null && { echo "== \$log"
			grep -B 16 -A 24 '^not ok' \$log; }
	done >/dev/ttyS0
	sync
	echo o >/proc/sysrq-trigger
	sleep 60
	EOF
	chmod +x "$root/init-tests"
}

build() {
	rm -rf "$root"
	cp -a "$base" "$root"
	git clone -q "$top" "$root/project"
	in_root "$root" "./quickstart build && make -C build -j$(nproc) check TESTS="
	chroot "$root" chown -R "$user:$user" /project
}

boot() {
	rm -f "$directory/disk"
	truncate -s 12G "$directory/disk"
	mke2fs -q -t ext4 -d "$root" "$directory/disk"
	qemu-system-x86_64 -accel tcg,thread=single \
		-icount "shift=$shift,sleep=off" -cpu max -smp 1 -m 3G \
		-nographic -no-reboot -monitor none \
		-kernel "$(echo "$root"/boot/vmlinuz-*)" \
		-initrd "$(echo "$root"/boot/initrd.img-*)" \
		-append 'root=/dev/vda rw console=ttyS0 quiet init=/init-tests' \
		-drive "file=$directory/disk,format=raw,if=virtio" \
		</dev/null 2>&1 | tr -d '\r' | tee "$directory/console" |
		sed -n '/^BEGIN$/,$p'
}

mkdir -p "$directory"
[ -e "$base" ] || make_base
build
write_init
boot
grep -q '^END' "$directory/console" || fail 'the machine ended early'
grep -q '^END 0$' "$directory/console"

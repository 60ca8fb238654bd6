#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# compat.sh -- widely used programs behave the same under cpprof.
#
# Each runs without and with it; output, messages and status must be the same.
# $options, at first from the environment, sets what is recorded besides CPU
# time.  Programs that are not installed are skipped.
set -u
: "${builddir:=build}"
cpprof=$(realpath "${CPPROF:-$builddir/cpprof}") || exit 1
if [ ! -e "$builddir/.libs/libcpprof.so.0" ]; then
	echo '1..0 # SKIP no collector on this machine'
	exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
export LC_ALL=C HOME="$work" GOCACHE="$work/go" GOFLAGS=-mod=mod
usual=${options=}
n=0

# both WHAT: sh runs the script on standard input without and with cpprof.
both() {
	cat >"script"
	n=$((n + 1))
	sh ./script >plain.out 2>plain.err </dev/null
	echo "status $?" >>plain.out
	rm -rf profile
	# Its own lines are on standard error, too.
	"$cpprof" record $options --force -o profile -- sh ./script >cpprof.out \
		2>cpprof.err </dev/null
	echo "status $?" >>cpprof.out
	grep '^cpprof: [a-z-]*: ' cpprof.err >sources
	sed -i -e '/^cpprof: [0-9]* samples\{0,1\} of /d' \
		-e '/^cpprof: [a-z-]*: \(of some processes \)\{0,1\}from the /d' \
		-e '/^cpprof: .* CPU s were not sampled: /d' cpprof.err
	if cmp -s plain.out cpprof.out && cmp -s plain.err cpprof.err; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		diff plain.out cpprof.out | head -20 | sed 's/^/# /'
		diff plain.err cpprof.err | head -20 | sed 's/^/# /'
	fi
}

# try PROGRAM WHAT: the same if the program is there.
try() {
	if command -v "$1" >/dev/null; then
		both "$2"
	else
		cat >/dev/null
		n=$((n + 1))
		echo "ok $n - $2 # SKIP $1 not found"
	fi
}

seq 200000 | awk '{ print $1 * 7919 % 200003, "line", $1 }' >data
for i in 1 2 3 4 5 6 7 8 9 10; do
	echo "static int f$i(int *p, int n) { int s = 0; for (int i = 0;" \
		"i < n; i++) s += p[i] * $i + (s >> 3); return s; }"
	echo "int g$i(int *p, int n) { return f$i(p, n) + f$i(p + 1, n - 1); }"
done >code.c

try bash 'GNU sort in a bash pipeline' <<'EOT'
bash -c 'set -o pipefail
sort -k1,1n --parallel=2 -S 2M data | tee >(md5sum >sum) | uniq -c |
	awk "{ s += \$1 } END { print s }"
sort -r --parallel=2 data | head -3; echo "${PIPESTATUS[@]}"
wait; until [ -s sum ]; do sleep .02; done; cat sum
trap "echo bye; exit 4" EXIT; kill -USR1 $BASHPID & wait; false'
EOT

try git 'git' <<'EOT'
rm -rf repository; git init -q repository; cd repository
git config user.email a@example.com; git config user.name a
export GIT_AUTHOR_DATE='2000-01-01T00:00:00Z' \
	GIT_COMMITTER_DATE='2000-01-01T00:00:00Z'
for i in 1 2 3; do
	head -n "${i}0000" ../data >file; git add file; git commit -qm "$i"
done
git log --stat --format=%H; git gc -q; git fsck; git diff HEAD~2 | md5sum
git grep -c 77 HEAD; git clone -q . ../clone; git -C ../clone log --oneline
rm -rf ../clone; git show nonsense
EOT

try gcc 'gcc, errors and all' <<'EOT'
gcc -O2 -Wall -S -o - code.c | md5sum; gcc -c -g -O1 -o code.o code.c && nm code.o
echo 'int main(void) { return x; }' | gcc -x c -o /dev/null -
EOT

try python3 'python3' <<'EOT'
python3 -c '
import concurrent.futures, hashlib, json, multiprocessing, signal, subprocess
import sys, threading, time
def work(n):
    return hashlib.sha1(json.dumps(list(range(n))).encode()).hexdigest()
if __name__ == "__main__":
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        print(list(pool.map(work, range(50000, 50008))))
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(pool.map(work, range(100, 110)))
    caught = []
    signal.signal(signal.SIGALRM, lambda *a: caught.append(a[0]))
    signal.setitimer(signal.ITIMER_REAL, .01, .01)
    while len(caught) < 5:
        time.sleep(.001)
    signal.setitimer(signal.ITIMER_REAL, 0)
    # An event has a high descriptor until its first trap.
    print(subprocess.run(["sh", "-c",
                          "ls /proc/self/fd | grep -vc ...; exit 6"]))
    sys.exit(9)'
EOT

try node 'node' <<'EOT'
node -e '
const { Worker } = require("worker_threads");
const { execFileSync } = require("child_process");
const zlib = require("zlib"), crypto = require("crypto");
let sum = 0;
for (let i = 0; i < 3e7; i++) sum = (sum * 31 + i) | 0;
console.log(sum, execFileSync("echo", ["child"]).toString());
console.log(crypto.createHash("sha1").update(zlib.gzipSync(
    Buffer.alloc(3e6, "abc"))).digest("hex").length);
const worker = new Worker(`let n = 0; for (let i = 0; i < 1e7; i++) n += i;
    require("worker_threads").parentPort.postMessage(n)`, { eval: true });
worker.on("message", n => console.log(n));
worker.on("exit", () => setTimeout(() => { throw new RangeError("end"); },
    10));' 2>&1 | grep -v '^ *at \|^Node'
EOT

try perl 'perl' <<'EOT'
perl -e '$SIG{ALRM} = sub { print "alarm\n"; exit 3 };
$x{$_ % 977} .= $_ for 1 .. 300000; print length $x{5}, "\n";
for (1 .. 5) { my $pid = fork; exit $_ if !$pid; waitpid $pid, 0; print $? >> 8 }
print scalar `echo back`; kill 9, $$ if fork && wait < 0; alarm 1; sleep 9'
EOT

try sqlite3 'sqlite3' <<'EOT'
rm -f base; sqlite3 base 'create table t (a integer, b text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 100000)
insert into t select i * 7919 % 100003, hex(i) from n;
create index i on t (b); select count(*), sum(a), max(b) from t where b like "3%";
select a % 7, count(*) from t group by 1 order by 2; nonsense;'
EOT

try openssl 'openssl' <<'EOT'
openssl dgst -sha256 data; openssl enc -aes-256-ctr -K 0123456789abcdef -iv 00 \
	-in data 2>&1 | md5sum
openssl genrsa -out key 2048 2>/dev/null && openssl rsa -in key -noout -check
echo text >text; openssl dgst -sha256 -sign key -out signature text
openssl rsa -in key -pubout -out public 2>/dev/null
openssl dgst -sha256 -verify public -signature signature text; openssl nonsense
EOT

try tar 'tar, gzip and xargs' <<'EOT'
tar cf - data code.c | gzip -1 | gzip -dc | tar tvf - | wc -l
seq 50 | xargs -n 5 -P 4 sh -c 'echo $(($# * 2))' x | sort | uniq -c
timeout 0.3 sh -c 'while :; do :; done'; echo $?
EOT

# Programs that walk stacks themselves, with as many marks on them as possible.
options='--returns -F 10000 -r cpu -r allocs:7'

try ocamlopt 'OCaml: exceptions and collections' <<'EOT'
cat >collect.ml <<'EOF'
exception Found of int
let rec build n =
  if n = 0 then [] else (string_of_int n, [| n; n * 2 |]) :: build (n - 1)
let rec below n f = if n = 0 then f () else 1 + below (n - 1) f
let search l k =
  try
    List.iter (fun (s, a) -> if a.(0) = k then raise (Found (String.length s))) l;
    0
  with Found n -> n
let () =
  let t = ref 0 in
  for i = 1 to 300 do
    let l = build 2000 in
    t := !t + below (i mod 100) (fun () -> search l (i * 5));
    if i mod 50 = 0 then Gc.compact ();
    try ignore (below 50 (fun () -> failwith "x")) with Failure _ -> incr t
  done;
  Printf.printf "%d\n" !t
EOF
ocamlopt collect.ml -o collect && ./collect
EOT

greenlet=/usr/lib/python3/dist-packages/greenlet
[ -e "$greenlet" ] && with=/usr/bin/python3 || with=greenlet-for-python3
try "$with" 'python3 with greenlets' <<'EOT'
/usr/bin/python3 -c '
import greenlet
def work(n):
    def deep(k):
        return deep(k - 1) + 1 if k else main.switch(i)
    total = 0
    for i in range(n):
        total += deep(i % 40) or 0
    return total
main = greenlet.getcurrent()
all = [greenlet.greenlet(work) for _ in range(20)]
sum = sum(g.switch(300) for g in all)
for _ in range(250):
    for g in all:
        sum += g.switch(1) or 0
print(sum)'
EOT

# A backtrace may have one frame more.
echo '#include <libunwind.h>' | gcc -E - >/dev/null 2>&1 && with=gcc ||
	with=libunwind
try "$with" 'libunwind' <<'EOT'
cat >steps.c <<'EOF'
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#include <stdio.h>
static int look(void)
{
	unw_context_t context;
	unw_cursor_t cursor;
	void *trace[300];
	int n = 1, by_trace;

	unw_getcontext(&context);
	unw_init_local(&cursor, &context);
	while (unw_step(&cursor) > 0)
		n++;
	by_trace = unw_backtrace(trace, 300);
	return by_trace - n < 2 && n - by_trace < 3 ? n : -1000;
}
static int below(int k)
{
	volatile int n;

	if (k == 0)
		return look();
	n = below(k - 1);
	for (volatile int i = 0; i < 3000; i++)
		;
	return n;
}
int main(void)
{
	int first[60], i, n, wrong = 0;

	for (i = 0; i < 60; i++)
		first[i] = below(i);
	for (i = 0; i < 10000; i++) {
		n = below(i % 60) - first[i % 60];
		wrong += n < -1 || n > 1;
	}
	printf("%d\n", wrong);
	return 0;
}
EOF
gcc -O1 -o steps steps.c -lunwind && ./steps
EOT
options=$usual

# Built beforehand, outside the comparison: cgo makes it a dynamic program.
cat >go.go <<'EOT'
package main

// #include <stdlib.h>
// #include <math.h>
// static double heavy(int n) {
//	double s = 0; for (int i = 0; i < n; i++) s += i % 7; return s; }
// #cgo LDFLAGS: -lm
import "C"
import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"
)

func deep(n int) int {
	var pad [64]int
	pad[n%64] = n
	if n == 0 {
		return 0
	}
	return deep(n-1) + pad[n%64] - n + 1
}

func main() {
	var wait sync.WaitGroup
	total := make([]float64, 200)
	for i := range total {
		wait.Add(1)
		go func(i int) {
			defer wait.Done()
			total[i] = float64(C.heavy(C.int(200000+i))) +
				float64(deep(3000))
			runtime.Gosched()
		}(i)
	}
	wait.Wait()
	sum := 0.0
	for _, t := range total {
		sum += t
	}
	fmt.Println(sum)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	syscall.Kill(os.Getpid(), syscall.SIGUSR1)
	select {
	case s := <-signals:
		fmt.Println(s)
	case <-time.After(5 * time.Second):
		fmt.Println("no signal")
	}
	runtime.GC()
	out, err := exec.Command("echo", "child").Output()
	fmt.Print(string(out), err, "\n")
	func() {
		defer func() { fmt.Println(recover() != nil) }()
		var p *int
		*p = 1
	}()
	os.Exit(7)
}
EOT
if command -v go >/dev/null && command -v gcc >/dev/null; then
	go build -o go-program go.go 2>/dev/null </dev/null
fi
[ -x ./go-program ] || rm -f ./go-program
try ./go-program 'a Go program with cgo' <<'EOT'
./go-program
EOT
options='-r syscalls -r fp-exceptions -r page-faults -r real'
try ./go-program 'a Go program with cgo, of which everything is counted' <<'EOT'
./go-program
EOT
n=$((n + 1))
what="record says that a Go program's system calls come from elsewhere"
if [ ! -x ./go-program ] || ! grep -q 'from the syscall user dis' sources; then
	echo "ok $n - $what # SKIP no go, or no dispatch"
elif grep -q 'syscalls: \(of some processes \)\{0,1\}from the library calls' sources; then
	echo "ok $n - $what"
else
	echo "not ok $n - $what"
fi

# Loaded while the program runs, when its threads' calls are already counted.
cat >library.go <<'EOT'
package main

// #include <stdlib.h>
import "C"
import "os"

//export work
func work(n C.int) C.int {
	sums := make(chan int)
	for i := 0; i < 4; i++ {
		go func() {
			sum := 0
			for k := 0; k < int(n); k++ {
				f, _ := os.Open("/dev/null")
				f.Close()
				sum++
			}
			sums <- sum
		}()
	}
	return C.int(<-sums + <-sums + <-sums + <-sums)
}

func main() {}
EOT
cat >loads.c <<'EOT'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
static int (*work)(int);
static volatile int is_there;
static void *run(void *argument)
{
	int i, sum = 0;

	while (!is_there)
		;
	for (i = 0; i < 20; i++)
		sum += work(50);
	printf("%d\n", sum);
	return argument;
}
int main(void)
{
	pthread_t before, after;
	void *library;

	pthread_create(&before, NULL, run, NULL);
	library = dlopen("./library.so", RTLD_NOW);
	if (library == NULL)
		return 1;
	work = (int (*)(int))dlsym(library, "work");
	is_there = 1;
	pthread_create(&after, NULL, run, NULL);
	run(NULL);
	pthread_join(before, NULL);
	pthread_join(after, NULL);
	return 7;
}
EOT
if [ -x ./go-program ]; then
	go build -buildmode=c-shared -o library.so library.go 2>/dev/null \
		</dev/null && gcc -o loads loads.c -ldl -lpthread
fi
try ./loads 'a Go library in a C program, of which everything is counted' <<'EOT'
./loads
EOT
options=$usual

cat >Main.java <<'EOT'
import java.util.*;
import java.util.stream.*;
public class Main {
	static int deep(int n) { return n == 0 ? 0 : 1 + deep(n - 1); }
	public static void main(String[] words) throws Exception {
		System.out.println(IntStream.range(0, 2000000).parallel()
		    .mapToObj(i -> Integer.toString(i * 31)).mapToInt(
		    String::length).sum());
		Thread[] threads = new Thread[4];
		for (int i = 0; i < 4; i++)
			(threads[i] = new Thread(() -> deep(2000))).start();
		for (Thread t : threads) t.join();
		try { deep(100000000); } catch (StackOverflowError e) {
			System.out.println("overflow"); }
		try { Object o = null; o.hashCode(); }
		catch (NullPointerException e) { System.out.println("null"); }
		System.gc();
		Runtime.getRuntime().addShutdownHook(new Thread(
		    () -> System.out.println("hook")));
		System.exit(8);
	}
}
EOT
if command -v javac >/dev/null; then
	javac Main.java 2>/dev/null </dev/null
fi
[ -e Main.class ] || rm -f Main.class
if [ -e Main.class ]; then
	try java 'java' <<'EOT'
java -cp . Main
EOT
	options='-r fp-exceptions -r page-faults -r real'
	try java 'java, of which more is counted' <<'EOT'
java -cp . Main
EOT
else
	for i in 1 2; do
		n=$((n + 1))
		echo "ok $n - java # SKIP javac not found"
	done
fi
echo "1..$n"

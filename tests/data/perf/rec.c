/* rec.c -- recursion, a child process and two threads, for a small profile.
 *
 *	gcc -O1 -g0 -fno-omit-frame-pointer -pthread -o rec rec.c
 *	perf record -q -N -F 350 -e cpu-clock:u,page-faults:u -g -o rec.data ./rec
 *	perf script --no-inline -i rec.data >rec.script
 *	perf report -i rec.data --stdio --no-inline --no-children -g none \
 *	    -t TAB -F overhead,period,sample,comm,dso,sym >rec.self.txt
 *	perf report -i rec.data --stdio --no-inline --children -g none -t TAB \
 *	    -s sym -F overhead_children,overhead,period,sample,sym \
 *	    >rec.children.txt
 *	perf record -q -N -F 250 -e cpu-clock:u --call-graph dwarf,1024 \
 *	    -o rec-dwarf.data ./rec	and perf report likewise
 *	perf record -q -N -F 700 -e '{cpu-clock:u,page-faults:u}:S' -g \
 *	    -o rec-group.data ./rec	and perf report --no-group likewise
 *	LD_PRELOAD=libprofiler.so.0 CPUPROFILE=rec.prof \
 *	    CPUPROFILE_FREQUENCY=1000 ./rec
 *	google-pprof --text --cum --functions --nodefraction=0 \
 *	    --nodecount=100000 rec rec.prof >rec.cum.txt
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile unsigned long sink;

__attribute__((noinline)) static void
spin(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sink += i * i;
}

__attribute__((noinline)) static void
odd(int n);

__attribute__((noinline)) static void
even(int n)
{
	spin(300000);
	if (n > 0)
		odd(n - 1);
	spin(10);
}

__attribute__((noinline)) static void
odd(int n)
{
	spin(500000);
	if (n > 0)
		even(n - 1);
	spin(10);
}

static void *
work(void *argument)
{
	for (int i = 0; i < 30; i++)
		even(5);
	return argument;
}

int
main(int argc, char **argv)
{
	pthread_t thread;

	if (argc > 1) {
		for (int i = 0; i < 9; i++)
			odd(9);
		return 0;
	}
	if (fork() == 0)
		execl(argv[0], "child of rec", "again", NULL);
	pthread_create(&thread, NULL, work, NULL);
	pthread_setname_np(thread, "two words");
	for (int i = 0; i < 30; i++)
		odd(4);
	pthread_join(thread, NULL);
	wait(NULL);
	return 0;
}

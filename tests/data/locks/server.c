/* SPDX-License-Identifier: GPL-3.0-or-later */
/* server.c -- the program of server.cpprofdata.gz: requests that wait for each
 * other.  One thread puts, and keeps the lock while it writes; three threads
 * get.
 *
 *	gcc -O1 -g -o server server.c -lpthread
 *	cpprof record -o server.cpprof -r blame ./server
 *	gzip -9n < server.cpprof/cpprofdata.* > server.cpprofdata.gz
 */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned entries;

__attribute__((noinline)) static void
flush(void)
{
	usleep(5000);			/* as long as a disk may take */
	entries++;
}

__attribute__((noinline)) static void
put(void)
{
	pthread_mutex_lock(&table);
	entries++;
	flush();
	pthread_mutex_unlock(&table);
	entries++;
}

__attribute__((noinline)) static void
get(void)
{
	pthread_mutex_lock(&table);
	entries++;
	pthread_mutex_unlock(&table);
	entries++;
}

__attribute__((noinline)) static void
note(void)
{
	pthread_mutex_lock(&log_lock);
	usleep(200);
	pthread_mutex_unlock(&log_lock);
	entries++;
}

static void *
handle_puts(void *unused)
{
	for (int i = 0; i < 50; i++) {
		put();
		usleep(5000);
	}
	return unused;
}

static void *
handle_gets(void *unused)
{
	for (int i = 0; i < 200; i++) {
		get();
		note();
		usleep(1000);
	}
	return unused;
}

int
main(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL,
		    i == 0 ? handle_puts : handle_gets, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

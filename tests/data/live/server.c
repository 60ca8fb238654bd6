#include <stdlib.h>
#include <string.h>
#include <time.h>
#define N __attribute__((noipa))
void *table, *entry, *buffer;
N void *allocate(size_t n) { void *p = malloc(n); memset(p, 1, n); return p; }
N void set_up(void) { for (int i = 0; i < 400; i++) { table = allocate(20000); } }
N void remember(void) { entry = allocate(3000); }
N void answer(void) { buffer = allocate(50000); memset(buffer, 1, 50000); free(buffer); }
int main(void)
{
	set_up();
	for (int i = 0; i < 1500; i++) {
		answer();
		remember();
		nanosleep(&(struct timespec){ .tv_nsec = 600000 }, NULL);
	}
	return 0;
}

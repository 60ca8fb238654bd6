/* grow.cc -- prints tcmalloc's growth stacks: growth.heap.
 *
 * g++ -O1 -fno-omit-frame-pointer grow.cc -ltcmalloc
 */
#include <cstdio>
#include <cstdlib>
#include <string>

#include <gperftools/malloc_extension.h>

static __attribute__((noinline)) void *
grow(size_t n)
{
	void *p = malloc(n);

	if (p == nullptr)
		abort();
	return p;
}

static __attribute__((noinline)) void
grow_twice(size_t n)
{
	grow(n);
	grow(2 * n);
}

int
main()
{
	std::string text;

	grow_twice(3 << 20);
	grow(5 << 20);
	MallocExtension::instance()->GetHeapGrowthStacks(&text);
	fputs(text.c_str(), stdout);
}

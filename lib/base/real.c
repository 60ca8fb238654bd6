/* SPDX-License-Identifier: MIT */
/* real.c -- looks each real function up when it is first called. */

#include "lib/base/lookup.h"

static struct real next;

#define NEXT(type, name, parameters, arguments)				\
static type								\
first_##name parameters							\
{									\
	lookup_real(#name, &next.name);					\
	return next.name arguments;					\
}
#include "lib/base/real.def"
#undef NEXT

static struct real next = {
#define NEXT(type, name, parameters, arguments) .name = first_##name,
#include "lib/base/real.def"
};

const struct real *
real(void)
{
	return &next;
}

void
real_prepare(void)
{
	lookup_real("sigtimedwait", &next.sigtimedwait);
}

void
real_prepare_for_children(void)
{
	if (next.execve == first_execve)
		lookup_real("execve", &next.execve);
	if (next._exit == first__exit)
		lookup_real("_exit", &next._exit);
}

/* SPDX-License-Identifier: MIT */
/* fenv.c -- wrappers of functions that change the floating-point environment.
 */
#include <fenv.h>

#include "lib/base/exported.h"
#include "lib/base/fpu.h"
#include "lib/sources/exceptions.h"

EXPORTED int
feenableexcept(int exceptions)
{
	exceptions_program_enables();
	return fpu_enable(exceptions);
}

EXPORTED int
feclearexcept(int exceptions)
{
	fpu_clear(exceptions);
	exceptions_program_clears(exceptions);
	return 0;
}

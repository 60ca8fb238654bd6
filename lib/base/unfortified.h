/* SPDX-License-Identifier: MIT */
/* unfortified.h -- the compiler reads this before each file of the collector.
 *
 * Distributions define _FORTIFY_SOURCE for all that they build.  Then longjmp and
 * read are other functions, which the collector defines itself (lib/wrap), and
 * checks of buffers call abort, which must not happen in another's program.
 */
#undef _FORTIFY_SOURCE

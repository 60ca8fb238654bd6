/* SPDX-License-Identifier: MIT */
/* stdio.c -- wrappers of standard I/O.
 *
 * Standard I/O reads and writes by calls inside the C library that cannot be
 * wrapped.  But a stream's buffer shows what they did: bytes read are those
 * that the program received plus what the buffer gained, bytes written are
 * those that the program gave minus what the buffer gained.  Streams that are
 * not files, wide streams and rarer functions are left to the kernel's count
 * (lib/wrap/wrapped.h).
 *
 * The buffer is examined without the stream's lock, since a cancelled call
 * would leave it locked.  If threads use one stream at the same time, one may
 * be charged with bytes of the other.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/wrap/wrapped.h"

/*
 * Wrap the functions, not the macros.  Some are declared only under feature
 * macros.
 */
#undef getc
#undef putc
#undef getchar
#undef putchar
#undef getc_unlocked
#undef putc_unlocked
#undef getchar_unlocked
#undef putchar_unlocked
#undef fread_unlocked
#undef fwrite_unlocked
size_t __fread_chk(void *, size_t, size_t, size_t, FILE *);
size_t __fread_unlocked_chk(void *, size_t, size_t, size_t, FILE *);
char *__fgets_chk(char *, size_t, int, FILE *);
char *__fgets_unlocked_chk(char *, size_t, int, FILE *);
int __isoc99_fscanf(FILE *, const char *, ...);
int __isoc99_scanf(const char *, ...);
/* Do not look up functions that the C library lacks: dlerror would allocate. */
#define HAS_C23_SCANF __GLIBC_PREREQ(2, 38)
#if HAS_C23_SCANF
int __isoc23_fscanf(FILE *, const char *, ...);
int __isoc23_scanf(const char *, ...);
#endif
int __vfprintf_chk(FILE *, int, const char *, va_list);
int __vprintf_chk(int, const char *, va_list);
int __fprintf_chk(FILE *, int, const char *, ...);
int __printf_chk(int, const char *, ...);

#define UNKNOWN PTRDIFF_MAX
#define IN_BACKUP 0x100		/* _IO_IN_BACKUP: reading pushed-back
				   characters */
#define BUFFER_MAX (1 << 30)	/* more than this is a race between two
				   threads */

#define NEXT_ROWS "lib/wrap/stdio.def"
#define NEXT_LOOK_UP stdio_look_up
#define STDIO(direction, type, name, parameters, arguments, file, most,	\
    passed) NEXT(type, name, parameters, arguments)
#define STDIO_BY_HAND(name, parameters, arguments)			\
	NEXT(int, name, parameters, arguments)
#include "lib/base/next.def"
#undef STDIO
#undef STDIO_BY_HAND

/* Functions with variable arguments: samples show them, nothing calls them. */
static struct {
	void *fprintf, *printf, *__fprintf_chk, *__printf_chk;
} shown;

static enum gate gate;

/* The buffer's fill, from which the bytes moved follow; -1: not available. */
static ptrdiff_t
read_state(const FILE *file)
{
	if (file->_fileno < 0 || file->_mode > 0 ||
	    (file->_flags & IN_BACKUP) != 0)
		return -1;
	return file->_IO_read_end - file->_IO_read_ptr;
}

static ptrdiff_t
write_state(const FILE *file)
{
	if (file->_fileno < 0 || file->_mode > 0)
		return -1;
	return file->_IO_write_ptr - file->_IO_write_base;
}

/* Whether the buffer suffices, so that the call will not enter the kernel. */
static bool
read_is_buffered(const FILE *file, ptrdiff_t most)
{
	return most <= file->_IO_read_end - file->_IO_read_ptr;
}

static bool
write_is_buffered(const FILE *file, ptrdiff_t most)
{
	return most <= file->_IO_write_end - file->_IO_write_ptr;
}

/* A call that only used the buffer spent no time reading or writing. */
static void
stdio_leave(struct wrapped_call *call, ptrdiff_t n_read, ptrdiff_t n_written,
    bool has_waited)
{
	if (n_read < 0 || n_read > BUFFER_MAX)
		n_read = 0;
	if (n_written < 0 || n_written > BUFFER_MAX)
		n_written = 0;
	if (n_read > 0 || n_written > 0 || has_waited)
		io_leave(call, (uint64_t)n_read, (uint64_t)n_written, true);
	else
		wrapped_leave_uncounted(call);
}

static void
leave_read(struct wrapped_call *call, FILE *file, ptrdiff_t before,
    ptrdiff_t got)
{
	ptrdiff_t after = read_state(file);

	stdio_leave(call, before < 0 || after < 0 ? 0 : got + after - before, 0,
	    feof_unlocked(file) != 0);
}

static void
leave_write(struct wrapped_call *call, FILE *file, ptrdiff_t before,
    ptrdiff_t given)
{
	ptrdiff_t after = write_state(file);

	stdio_leave(call, 0,
	            before < 0 || after < 0 ? 0 : given + before - after,
	            false);
}

#define STDIO(direction, type, name, parameters, arguments, file, most,	\
    passed)								\
EXPORTED type								\
name parameters								\
{									\
	struct wrapped_call call;					\
	ptrdiff_t before;						\
	type result;							\
									\
	if (GATE_IS_CLOSED(gate) ||					\
	    direction##_is_buffered(file, (ptrdiff_t)(most)) ||		\
	    !wrapped_pass(gate, __builtin_return_address(0)))		\
		return next.name arguments;				\
	wrapped_enter(&call, (const void *)next.name, WRAPPED_IO);	\
	before = direction##_state(file);				\
	result = next.name arguments;					\
	leave_##direction(&call, file, before, (ptrdiff_t)(passed));	\
	return result;							\
}
#define STDIO_BY_HAND(name, parameters, arguments)
#include "lib/wrap/stdio.def"

/* Functions with variable arguments.  flag < 0: the function has no flag. */
static int
stdio_print(FILE *file, int flag, const char *format, va_list values,
    const void *function, const void *return_address)
{
	struct wrapped_call call;
	ptrdiff_t before;
	int result;

	if (GATE_IS_CLOSED(gate) || !wrapped_pass(gate, return_address))
		return flag < 0 ? next.vfprintf(file, format, values) :
		    next.__vfprintf_chk(file, flag, format, values);
	wrapped_enter(&call, function, WRAPPED_IO);
	before = write_state(file);
	result = flag < 0 ? next.vfprintf(file, format, values) :
	    next.__vfprintf_chk(file, flag, format, values);
	leave_write(&call, file, before, result > 0 ? result : 0);
	return result;
}

#define PRINT(name, parameters, file, flag)				\
EXPORTED int								\
name parameters								\
{									\
	va_list values;							\
	int result;							\
									\
	va_start(values, format);					\
	result = stdio_print(file, flag, format, values,		\
	    shown.name, __builtin_return_address(0));			\
	va_end(values);							\
	return result;							\
}
PRINT(fprintf, (FILE *file, const char *format, ...), file, -1)
PRINT(printf, (const char *format, ...), stdout, -1)
PRINT(__fprintf_chk, (FILE *file, int flag, const char *format, ...), file,
    flag)
PRINT(__printf_chk, (int flag, const char *format, ...), stdout, flag)

/*
 * scanf waits if the buffer is empty.  The number of bytes that it consumes is
 * not known, so they are left to the kernel's count.
 */
static int
scan(int (*real_one)(FILE *, const char *, va_list), FILE *file, const char *format,
    va_list values, const void *return_address)
{
	struct wrapped_call call;
	int result;

	if (GATE_IS_CLOSED(gate) || (gate == GATE_OPEN &&
	    file->_IO_read_ptr < file->_IO_read_end) ||
	    !wrapped_pass(gate, return_address))
		return real_one(file, format, values);
	wrapped_enter(&call, (const void *)real_one, WRAPPED_IO);
	result = real_one(file, format, values);
	wrapped_leave(&call);
	return result;
}

#define SCAN(name, parameters, real_name, file)				\
EXPORTED int								\
name parameters								\
{									\
	va_list values;							\
	int result;							\
									\
	va_start(values, format);					\
	result = scan(next.real_name, file, format, values,		\
	    __builtin_return_address(0));				\
	va_end(values);							\
	return result;							\
}
#undef fscanf
#undef scanf
EXPORTED int plain_fscanf(FILE *, const char *, ...) __asm__("fscanf");
EXPORTED int plain_scanf(const char *, ...) __asm__("scanf");
SCAN(plain_fscanf, (FILE *file, const char *format, ...), vfscanf, file)
SCAN(plain_scanf, (const char *format, ...), vfscanf, stdin)
SCAN(__isoc99_fscanf, (FILE *file, const char *format, ...),
    __isoc99_vfscanf, file)
SCAN(__isoc99_scanf, (const char *format, ...), __isoc99_vfscanf, stdin)
#if HAS_C23_SCANF
SCAN(__isoc23_fscanf, (FILE *file, const char *format, ...),
    __isoc23_vfscanf, file)
SCAN(__isoc23_scanf, (const char *format, ...), __isoc23_vfscanf, stdin)
#endif

/* file NULL: all streams, whose bytes are left to the kernel's count. */
static int
flush(int (**real_one)(FILE *), FILE *file, const void *return_address)
{
	struct wrapped_call call;
	ptrdiff_t before;
	int result;

	if (GATE_IS_CLOSED(gate) || !wrapped_pass(gate, return_address))
		return (*real_one)(file);
	wrapped_enter(&call, (const void *)*real_one, WRAPPED_IO);
	before = file != NULL ? write_state(file) : -1;
	result = (*real_one)(file);
	if (before > 0)
		leave_write(&call, file, before, 0);
	else
		stdio_leave(&call, 0, 0, file == NULL);
	return result;
}

EXPORTED int
fflush(FILE *file)
{
	return flush(&next.fflush, file, __builtin_return_address(0));
}

EXPORTED int
fflush_unlocked(FILE *file)
{
	return flush(&next.fflush_unlocked, file, __builtin_return_address(0));
}

EXPORTED int
fclose(FILE *file)
{
	struct wrapped_call call;
	ptrdiff_t before;
	int result;

	if (!GATE_LETS_PASS(gate))
		return next.fclose(file);
	wrapped_enter(&call, (const void *)next.fclose, WRAPPED_IO);
	before = write_state(file);
	result = next.fclose(file);
	stdio_leave(&call, 0, result == 0 ? before : 0, false);
	return result;
}

static uint64_t
pending(void)
{
	ptrdiff_t n = stdout != NULL ? write_state(stdout) : 0;

	return n > 0 && n < BUFFER_MAX ? (uint64_t)n : 0;
}

void
stdio_begin(bool is_sampled)
{
	gate = is_sampled && io_is_wanted() ? GATE_OPEN : GATE_CLOSED;
	bytes_pending = pending;
	if (gate == GATE_CLOSED)
		return;
	stdio_look_up();
	shown.fprintf = lookup_next("fprintf");
	shown.printf = lookup_next("printf");
	shown.__fprintf_chk = lookup_next("__fprintf_chk");
	shown.__printf_chk = lookup_next("__printf_chk");
}

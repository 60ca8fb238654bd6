/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step-stacks.c -- every stack of a program, walked after each instruction.
 *
 *	step-stacks FIRST N COMMAND ARGUMENT...
 *
 * Runs the command, lets it execute FIRST instructions, or what it does until it
 * raises SIGTRAP if FIRST is "trap", and then walks its stack before each of the
 * next N.  The truth is kept beside it: a call adds the address it returns to, and
 * what lies below the stack pointer after a return or a jump has been left.  Other stacks, as goroutines have, get a
 * truth of their own.  At the trap, the truth is what the first walk says, which
 * all others must agree with.  Prints, in one line:
 *
 *	WALKED WHOLE PARTIAL WRONG
 *
 * and, for the first few of the partial and wrong ones, where they were.
 * Exit status: 0, 1 if one was wrong, 2 if the program could not be run.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/symbols/unwind/stack_unwinder.h"
#include "src/symbols/unwind/x86_instruction.h"

enum {
	MAPS_MAX = 256,
	DEPTH_MAX = 4096,
	STACKS_MAX = 64,
	FRAMES_MAX = 512,
	STACK_SIZE = 8 << 20,		/* of the first thread */
	SHOWN_MAX = 12,
	CODE_CACHE = 1 << 14,
	COPY_MAX = 32768,
	MOVE_MAX = 1 << 16,		/* more is another stack */
};

struct map {
	uint64_t start, end;
	int64_t bias;			/* of addresses in the module */
	uint32_t number;
	char path[256];
};

/* What is returned to. */
struct truth_frame {
	uint64_t pc, slot;
	bool is_sent;			/* by a signal: pc is not in the slot */
};

struct truth {
	uint64_t top;			/* the last stack pointer */
	bool is_open;			/* how it began was not seen */
	struct truth_frame frames[DEPTH_MAX];	/* outermost first */
	size_t n;
};

struct walk {
	uint64_t pcs[FRAMES_MAX];
	uint64_t slots[FRAMES_MAX];	/* where each was read */
	size_t n;
	bool is_whole, has_left_stack;
	enum stack_end end;
};

struct code {
	uint64_t address;
	struct x86_instruction instruction;
};

static pid_t child;
static struct map maps[MAPS_MAX];
static size_t n_maps;
static char paths[MAPS_MAX][256];
static uint32_t n_paths;
static struct truth *truths;
static size_t n_truths, current;
static size_t previous;			/* before the last change, */
static size_t n_before;			/* frames of the current one then */
static uint64_t first_sp;		/* at the program's start */
static struct code *codes;
static unsigned char copy[COPY_MAX];

/* ---- memory ---- */

static size_t
read_memory(uint64_t address, void *to, size_t size)
{
	struct iovec local = { to, size };
	struct iovec remote = { (void *)(uintptr_t)address, size };
	const ssize_t n = process_vm_readv(child, &local, 1, &remote, 1, 0);

	return n > 0 ? (size_t)n : 0;
}

static bool
read_number(void *context, uint64_t address, size_t size, uint64_t *number)
{
	(void)context;
	*number = 0;
	return read_memory(address, number, size) == size;
}

static uint32_t
number_of(const char *path)
{
	for (uint32_t i = 0; i < n_paths; i++)
		if (strcmp(paths[i], path) == 0)
			return i;
	if (n_paths == MAPS_MAX)
		exit(2);
	strcpy(paths[n_paths], path);
	return n_paths++;
}

static void
read_maps(void)
{
	char name[64], line[512], rights[8], path[256];
	unsigned long start, end, offset;
	FILE *file;

	snprintf(name, sizeof name, "/proc/%d/maps", (int)child);
	file = fopen(name, "re");
	n_maps = 0;
	while (file != NULL && fgets(line, sizeof line, file) != NULL) {
		struct map *map = &maps[n_maps];
		struct module_file module = { .path = map->path };

		if (n_maps == MAPS_MAX || sscanf(line,
		        "%lx-%lx %7s %lx %*s %*s %255s", &start, &end, rights,
		        &offset, path) != 5 || rights[2] != 'x' ||
		    strcmp(path, "[vsyscall]") == 0)
			continue;
		strcpy(map->path, path);
		map->start = start;
		map->end = end;
		map->number = number_of(path);
		map->bias = (int64_t)(module_file_address(&module, offset) -
		    start);
		n_maps++;
	}
	if (file != NULL)
		fclose(file);
}

static const struct map *
find_map(uint64_t address)
{
	for (int tries = 0; tries < 2; tries++) {
		for (size_t i = 0; i < n_maps; i++)
			if (address >= maps[i].start && address < maps[i].end)
				return &maps[i];
		if (tries == 0)
			read_maps();
	}
	return NULL;
}

static const struct x86_instruction *
instruction_at(uint64_t pc)
{
	struct code *code = &codes[pc * 0x9e3779b97f4a7c15 >> 50];
	unsigned char bytes[X86_SIZE_MAX];

	if (code->address != pc) {
		code->address = pc;
		if (!x86_decode(bytes, read_memory(pc, bytes, sizeof bytes), pc,
		                &code->instruction)) {
			fprintf(stderr, "%#lx: not decoded\n",
			        (unsigned long)pc);
			code->instruction.size = 0;
		}
	}
	return &code->instruction;
}

/* ---- the truth ---- */

/* Whether a truth has a frame whose return address was just below `sp`. */
static bool
truth_returns_to(const struct truth *truth, uint64_t sp)
{
	uint64_t value = 0;

	for (size_t i = truth->n; i-- > 0;)
		if (truth->frames[i].slot == sp - 8)
			return read_number(NULL, sp - 8, 8, &value) &&
			    value == truth->frames[i].pc;
	return false;
}

/*
 * Goes on with a truth.  Meanwhile another thread, whose steps are not seen, may
 * have run on that stack.
 */
static void
resume_truth(size_t i)
{
	struct truth *truth = &truths[i];

	current = i;
	n_before = truth->n;
	for (size_t k = 0; k < truth->n; k++) {
		uint64_t value = 0;

		if (read_number(NULL, truth->frames[k].slot, 8, &value) &&
		    (value == truth->frames[k].pc || truth->frames[k].is_sent))
			continue;
		truth->n = n_before = 0;
		truth->is_open = true;
	}
}

/*
 * The stack pointer was set to somewhere else: to where another stack was left,
 * to the first thread's own stack, or to one that is new, or was moved.
 */
static void
choose_truth(uint64_t sp)
{
	if (sp - truths[current].top + MOVE_MAX <= 2 * MOVE_MAX)
		return;
	previous = current;
	if (first_sp - sp < STACK_SIZE) {
		resume_truth(0);
		return;
	}
	for (size_t i = 1; i < n_truths; i++)
		if (i != current && (truths[i].top == sp ||
		                     truth_returns_to(&truths[i], sp))) {
			resume_truth(i);
			return;
		}
	current = n_truths < STACKS_MAX ? n_truths++ :
	    1 + (size_t)(sp >> 11) % (STACKS_MAX - 1);
	truths[current].n = 0;
	truths[current].top = sp;
	truths[current].is_open = true;
	n_before = 0;
}

static void
truth_add(uint64_t pc, uint64_t slot)
{
	struct truth *truth = &truths[current];

	if (truth->n == DEPTH_MAX)
		exit(2);
	truth->frames[truth->n++] = (struct truth_frame){ pc, slot, false };
}

static void
truth_leave(uint64_t sp)
{
	struct truth *truth = &truths[current];

	while (truth->n > 0 && truth->frames[truth->n - 1].slot < sp)
		truth->n--;
}

/* After an instruction at `before`. */
static void
follow(const struct x86_instruction *i, uint64_t before,
       const struct user_regs_struct *now, uint64_t sp_before)
{
	choose_truth(now->rsp);
	truths[current].top = now->rsp;
	if ((i->flow == X86_CALL || i->flow == X86_CALL_INDIRECT) &&
	    now->rsp == sp_before - 8) {
		truth_leave(now->rsp + 8);
		/* A call of what follows only pushes an address. */
		if (now->rip != before + i->size)
			truth_add(before + i->size, now->rsp);
		return;
	}
	/* vfork pops its return address, and pushes it again. */
	if (i->flow == X86_RETURN || i->flow == X86_JUMP ||
	    i->flow == X86_JUMP_INDIRECT || now->rsp > sp_before + 64)
		truth_leave(now->rsp);
}

/* ---- walks ---- */

static void
walk_stack(struct stack_unwinder *unwinder, const struct user_regs_struct *now,
           struct walk *walk)
{
	const uint64_t values[X86_64_REGISTERS] = { now->rax, now->rdx,
		now->rcx, now->rbx, now->rsi, now->rdi, now->rbp, now->rsp,
		now->r8, now->r9, now->r10, now->r11, now->r12, now->r13,
		now->r14, now->r15, now->rip };
	struct stack_frame frame = { .arch = &dwarf_x86_64,
		.is_interrupted = true, .stack = copy,
		.stack_start = now->rsp, .read_outside = read_number };
	struct error error = { 0 };
	int found = 1;

	memcpy(frame.registers.value, values, sizeof values);
	frame.registers.known = UINT64_MAX;
	frame.stack_size = read_memory(now->rsp, copy, sizeof copy);
	walk->n = 0;
	while (found > 0 && walk->n < FRAMES_MAX) {
		const uint64_t address = stack_frame_address(&frame);
		const struct map *map = find_map(address);
		struct module_file module = { .path = map != NULL ? map->path :
			NULL };

		if (map == NULL && walk->n > 0) {
			frame.end = STACK_END_NO_RULES;
			break;
		}
		walk->slots[walk->n] = frame.return_at;
		walk->pcs[walk->n++] = stack_frame_pc(&frame);
		found = stack_unwinder_step(unwinder, map == NULL ? NULL :
		    &module, map == NULL ? 0 : map->number, map == NULL ? 0 :
		    address + (uint64_t)map->bias, &frame, &error);
	}
	if (found < 0) {
		fprintf(stderr, "%s\n", error.text);
		exit(2);
	}
	if (frame.was_refuted)
		walk->n--;
	walk->end = frame.end;
	walk->has_left_stack = frame.has_left_stack;
	walk->is_whole = found == 0 && frame.end == STACK_END_OUTERMOST;
}

/*
 * What the walk should be: of the current stack; or, for those that lead back
 * from the thread's stack to that of a goroutine, to what that was left at.
 */
struct expected {
	uint64_t pcs[DEPTH_MAX];	/* innermost first */
	size_t n;
	bool is_open;
};

static void
expected_add(struct expected *expected, const struct truth *truth, size_t from)
{
	for (size_t i = truth->n; i-- > from && expected->n < DEPTH_MAX;)
		expected->pcs[expected->n++] = truth->frames[i].pc;
	expected->is_open = truth->is_open;
}

static const struct expected *
expect(uint64_t pc, bool is_back)
{
	static struct expected expected;

	expected.pcs[0] = pc;
	expected.n = 1;
	expected_add(&expected, &truths[current], is_back ? n_before : 0);
	if (is_back)
		expected_add(&expected, &truths[previous], 0);
	return &expected;
}

/*
 * Go's stacks end where they change to the thread's, and at a function that was
 * never called, but is returned to.
 */
static struct code_range goexit;

static bool
is_goexit(uint64_t pc)
{
	const struct map *map = find_map(pc);
	const uint64_t address = map == NULL ? 0 : pc + (uint64_t)map->bias;

	return address >= goexit.start && address < goexit.end;
}

static void
find_goexit(const char *program)
{
	static const char *const names[] = { "runtime.goexit" };
	struct elf_file file;

	if (elf_file_open(&file, program) != ELF_FILE_OPEN)
		return;
	go_symbols_find(&file, names, 1, &goexit);
	elf_file_close(&file);
}

enum verdict { WHOLE, PARTIAL, WRONG };

static enum verdict
judge(const struct walk *walk, const struct expected *expected)
{
	for (size_t i = 0; i < walk->n; i++)
		if (i >= expected->n ? !expected->is_open &&
		    !is_goexit(walk->pcs[i]) : walk->pcs[i] != expected->pcs[i])
			return WRONG;
	if (!walk->is_whole)
		return PARTIAL;
	return walk->n == expected->n || goexit.start != 0 ? WHOLE : WRONG;
}

static void
show_place(uint64_t pc)
{
	const struct map *map = find_map(pc);
	const char *name = map == NULL ? NULL : strrchr(map->path, '/');

	printf(" %s%s%#lx", map == NULL ? "" : name != NULL ? name + 1 :
	       map->path, map == NULL ? "" : "+", (unsigned long)(pc +
	       (map == NULL ? 0 : (uint64_t)map->bias)));
}

static void
show(const char *what, const struct walk *walk,
     const struct expected *expected)
{
	printf("# %s, end %d: walk", what, (int)walk->end);
	for (size_t i = 0; i < walk->n && i < SHOWN_MAX; i++)
		show_place(walk->pcs[i]);
	printf("; truth");
	for (size_t i = 0; i < expected->n && i < SHOWN_MAX; i++)
		show_place(expected->pcs[i]);
	printf("\n");
}

/* ---- the program ---- */

/* Lets the program run to its trap. */
static void
run_to_trap(struct stack_unwinder *unwinder)
{
	struct user_regs_struct now;
	struct walk walk;
	int status;

	ptrace(PTRACE_CONT, child, NULL, NULL);
	if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
		exit(2);
	ptrace(PTRACE_GETREGS, child, NULL, &now);
	walk_stack(unwinder, &now, &walk);
	if (!walk.is_whole)
		exit(2);
	for (size_t i = walk.n; i-- > 1;)
		truth_add(walk.pcs[i], walk.slots[i]);
}

static void
start(char **arguments)
{
	int status;

	child = fork();
	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		if (freopen("/dev/null", "w", stdout) != NULL)
			execvp(arguments[0], arguments);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) != child ||
	    !WIFSTOPPED(status))
		exit(2);
	ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_EXITKILL);
}

int
main(int argc, char **argv)
{
	const unsigned long first = argc > 3 ? strtoul(argv[1], NULL, 10) : 0;
	const unsigned long n = argc > 3 ? strtoul(argv[2], NULL, 10) : 0;
	unsigned long counts[3] = { 0 }, shown[3] = { 0 };
	struct user_regs_struct now, before;
	struct error error = { 0 };
	struct stack_unwinder *unwinder = stack_unwinder_new(&error);
	int status = 0, number = 0;

	truths = calloc(STACKS_MAX, sizeof *truths);
	codes = calloc(CODE_CACHE, sizeof *codes);
	if (argc < 4 || unwinder == NULL || truths == NULL || codes == NULL)
		return 2;
	find_goexit(argv[3]);
	start(argv + 3);
	if (strcmp(argv[1], "trap") == 0)
		run_to_trap(unwinder);
	ptrace(PTRACE_GETREGS, child, NULL, &now);
	truths[0].top = first_sp = now.rsp;
	n_truths = 1;
	for (unsigned long i = 0; i < first + n; i++) {
		const struct x86_instruction *instruction =
		    instruction_at(now.rip);
		struct walk walk;

		if (i >= first) {
			const struct expected *expected;
			enum verdict verdict;

			walk_stack(unwinder, &now, &walk);
			expected = expect(now.rip, false);
			verdict = judge(&walk, expected);
			if (verdict == WRONG && walk.has_left_stack) {
				expected = expect(now.rip, true);
				verdict = judge(&walk, expected);
			}
			counts[verdict]++;
			if (verdict != WHOLE && shown[verdict]++ < SHOWN_MAX)
				show(verdict == WRONG ? "wrong" : "partial",
				     &walk, expected);
		}
		before = now;
		if (ptrace(PTRACE_SINGLESTEP, child, NULL,
		           (void *)(long)number) != 0 ||
		    waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
			break;
		ptrace(PTRACE_GETREGS, child, NULL, &now);
		/* A handler that is entered: the kernel has called it, and has
		 * put the registers behind its return address. */
		if (number != 0 && now.rsp < before.rsp) {
			uint64_t back = 0;

			choose_truth(now.rsp);
			truths[current].top = now.rsp;
			truth_add(before.rip, now.rsp + 8);
			truths[current].frames[truths[current].n - 1].is_sent =
			    true;
			read_number(NULL, now.rsp, 8, &back);
			truth_add(back, now.rsp);
		} else if (number == 0) {
			follow(instruction, before.rip, &now, before.rsp);
		}
		number = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	}
	printf("%lu %lu %lu %lu\n", counts[WHOLE] + counts[PARTIAL] +
	       counts[WRONG], counts[WHOLE], counts[PARTIAL], counts[WRONG]);
	stack_unwinder_free(unwinder);
	kill(child, SIGKILL);
	return counts[WRONG] > 0;
}

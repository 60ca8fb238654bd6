/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf_stacks.c -- the frames of perf's samples.
 *
 * A call chain has addresses, and marks between those of the kernel and of the
 * process.  Where perf copied the top of the process's stack instead, the stack
 * is unwound here.
 *
 * The same few thousand addresses come again and again.  So most are answered
 * from a table that has, for each hash of address and space, the last frame.
 */
#include "src/formats/perf/perf_data.h"

#include <stdlib.h>
#include <string.h>

#include "src/base/bytes.h"
#include "src/base/memory.h"
#include "src/formats/reader.h"
#include "src/symbols/elf/elf_file.h"
#include "src/symbols/names/address_frames.h"
#include "src/symbols/unwind/stack_unwinder.h"

enum {
	UNWOUND_MAX = 8192,	/* frames of a copied stack, at most 64 KiB */
	RECENT_BITS = 15,
};

struct perf_stacks {
	struct profile *profile;
	struct perf_machine *machine;
	struct module_cache *modules;
	struct address_frames *frames;	/* their numbers are labels */
	struct stack_unwinder *unwinder;	/* NULL before it is needed */
	uint32_t kernel;		/* a module, NO_MODULE until it is
					 * known where it was loaded */
	uint64_t kernel_base;
	struct id_table pids;		/* their numbers index: */
	struct jit_map **jit_maps;
	size_t n_jit_maps, jit_maps_capacity;
	struct perf_stacks_missed missed;
	struct perf_recent {
		uint64_t address;
		uint32_t version;	/* of the space; PERF_NO_VERSION */
		uint32_t frame;
	} recent[1 << RECENT_BITS];
};

struct perf_stacks *
perf_stacks_new(struct profile *profile, struct perf_machine *machine,
                struct module_cache *modules, struct error *error)
{
	struct perf_stacks *stacks = memory_array(1, sizeof *stacks, error);

	if (stacks == NULL)
		return NULL;
	stacks->profile = profile;
	stacks->machine = machine;
	stacks->modules = modules;
	stacks->kernel = NO_MODULE;
	stacks->frames = address_frames_new(error);
	if (stacks->frames == NULL) {
		free(stacks);
		return NULL;
	}
	return stacks;
}

void
perf_stacks_free(struct perf_stacks *stacks)
{
	if (stacks == NULL)
		return;
	for (size_t i = 0; i < stacks->n_jit_maps; i++)
		jit_map_free(stacks->jit_maps[i]);
	free(stacks->jit_maps);
	id_table_free(&stacks->pids);
	stack_unwinder_free(stacks->unwinder);
	address_frames_free(stacks->frames);
	free(stacks);
}

struct perf_stacks_missed
perf_stacks_missed(const struct perf_stacks *stacks)
{
	return stacks->missed;
}

size_t
perf_stacks_room(const struct perf_sample *sample)
{
	return 1 + (size_t)sample->n_chain + (size_t)sample->n_calls + 1 +
	    (sample->link != 0) + (sample->stack_size > 0 ? UNWOUND_MAX : 0);
}

/* ---- the frame of an address ---- */

/* The frame that has only a name. */
static uint32_t
perf_stacks_named_frame(struct perf_stacks *stacks, const char *name,
                        struct error *error)
{
	uint32_t number = names_add(stacks->profile->names, name,
	                            strlen(name), error);

	return number == NO_NAME ? UINT32_MAX :
	    address_frames_add_name(stacks->frames, number, error);
}

static uint32_t
look_up_user(struct perf_stacks *stacks, uint32_t pid,
             const struct perf_space *space, uint64_t address,
             struct error *error)
{
	struct perf_map *map = perf_space_find(space, address);
	const struct jit_map *jit;
	const char *name = NULL;

	if (map != NULL && map->module != NO_MODULE)
		return address_frames_add(stacks->frames, map->module,
		    perf_machine_address(stacks->machine, map, address),
		    error);
	if (map != NULL) {
		struct symbol_search search = module_cache_search(
		    stacks->modules);
		uint32_t number = id_table_add(&stacks->pids, pid, error);

		/* The map that the process wrote of its code. */
		if (number == NO_ID)
			return UINT32_MAX;
		if (number == stacks->n_jit_maps) {
			if (memory_grow(&stacks->jit_maps,
			                &stacks->jit_maps_capacity,
			                stacks->n_jit_maps + 1,
			                sizeof(struct jit_map *), error) != 0)
				return UINT32_MAX;
			stacks->jit_maps[stacks->n_jit_maps++] = NULL;
		}
		if (stacks->jit_maps[number] == NULL)
			stacks->jit_maps[number] = jit_map_new(&search, pid,
			                                       error);
		jit = stacks->jit_maps[number];
		if (jit == NULL)
			return UINT32_MAX;
		name = jit_map_find(jit, address);
	}
	return perf_stacks_named_frame(stacks,
	                               name != NULL ? name : "[unknown]",
	                               error);
}

static uint32_t
look_up_kernel(struct perf_stacks *stacks, const struct perf_space *space,
               uint64_t address, struct error *error)
{
	const struct perf_map *map = perf_space_find(space, address);

	if (map != NULL && map->module != NO_MODULE)
		return address_frames_add(stacks->frames, map->module,
		    address - map->start + map->offset, error);
	if (map != NULL && map->name != NO_NAME)
		return address_frames_add_name(stacks->frames, map->name,
		                               error);
	if (stacks->kernel == NO_MODULE)
		stacks->kernel = perf_machine_kernel(stacks->machine,
		    &stacks->kernel_base, error);
	if (stacks->kernel == NO_MODULE)
		return error->is_set ? UINT32_MAX :
		       perf_stacks_named_frame(stacks, KERNEL_PATH, error);
	return address_frames_add(stacks->frames, stacks->kernel,
	                          address - stacks->kernel_base, error);
}

/* The frame of an address in the kernel or in a process.  Expected O(1). */
static uint32_t
perf_stacks_find_frame(struct perf_stacks *stacks,
                       const struct perf_stack *stack, uint64_t address,
                       struct error *error)
{
	bool is_kernel = stack->context == PERF_CONTEXT_KERNEL;
	const struct perf_space *space = is_kernel ?
	    perf_machine_kernel_space(stacks->machine) : stack->space;
	uint64_t hash = (address ^ (uint64_t)space->version << 40) *
	                0x9e3779b97f4a7c15;
	struct perf_recent *recent = &stacks
					  ->recent[hash >> (64 - RECENT_BITS)];

	if (recent->address == address && recent->version == space->version)
		return recent->frame;
	*recent = (struct perf_recent){ address, space->version, is_kernel ?
		look_up_kernel(stacks, space, address, error) :
		look_up_user(stacks, stack->pid, space, address, error) };
	return recent->frame;
}

/* ---- the frames of a sample ---- */

static int
perf_stacks_add_address(struct perf_stacks *stacks, struct perf_stack *stack,
                        uint64_t address, struct error *error)
{
	uint32_t label;

	/* A call may be the last instruction of its function. */
	if (!stack->is_first)
		address--;
	stack->is_first = false;
	switch (stack->context) {
	case PERF_CONTEXT_KERNEL:
	case PERF_CONTEXT_USER:
		label = perf_stacks_find_frame(stacks, stack, address, error);
		break;
	case PERF_CONTEXT_HYPERVISOR:
		label = perf_stacks_named_frame(stacks, "[hypervisor]", error);
		break;
	case PERF_CONTEXT_GUEST:
	case PERF_CONTEXT_GUEST_KERNEL:
	case PERF_CONTEXT_GUEST_USER:
		label = perf_stacks_named_frame(stacks, "[guest]", error);
		stack->has_guest = true;
		break;
	default:
		label = perf_stacks_named_frame(stacks, "[unknown]", error);
		break;
	}
	stack->labels[stack->n++] = label;
	return label != UINT32_MAX ? 0 : -1;
}

/* The context of the instruction that was interrupted. */
static uint64_t
context_of(const struct perf_record *record)
{
	switch (record->misc & PERF_MODE_MASK) {
	case PERF_MODE_KERNEL:
		return PERF_CONTEXT_KERNEL;
	case PERF_MODE_USER:
		return PERF_CONTEXT_USER;
	case PERF_MODE_HYPERVISOR:
		return PERF_CONTEXT_HYPERVISOR;
	case PERF_MODE_GUEST_KERNEL:
	case PERF_MODE_GUEST_USER:
		return PERF_CONTEXT_GUEST;
	default:
		return PERF_CONTEXT_MAX;
	}
}

static int
perf_stacks_need_unwinder(struct perf_stacks *stacks, struct error *error)
{
	if (stacks->unwinder == NULL)
		stacks->unwinder = stack_unwinder_new(error);
	return stacks->unwinder != NULL ? 0 : -1;
}

/* Goes on to the caller's frame: 1, 0 at the end, or -1 with *error set. */
static int
unwind_step(struct perf_stacks *stacks, const struct perf_stack *stack,
            struct stack_frame *frame, struct error *error)
{
	struct perf_map *map = perf_space_find(stack->space,
	    stack_frame_address(frame));

	return map == NULL ? 0 : perf_frame_step(stacks->unwinder,
	    stacks->machine, stacks->profile, stacks->modules, map, frame,
	    error);
}

/*
 * AArch64's call chains are made by frame pointers, so they lack the caller of a
 * function that still has its return address in the register.  perf records
 * that, too, and the rules for the pc say whether it counts.
 */
static int
perf_stacks_add_link(struct perf_stacks *stacks, struct perf_stack *stack,
                     uint64_t pc, uint64_t link, struct error *error)
{
	struct stack_frame frame = { .arch = &dwarf_aarch64,
		.is_interrupted = true,
		.registers = { .value = { [AARCH64_PC] = pc,
			[AARCH64_X30] = link },
		    .known = CFI_BIT(AARCH64_PC) | CFI_BIT(AARCH64_X30) |
			CFI_BIT(AARCH64_SP) } };
	int found = perf_stacks_need_unwinder(stacks, error);

	if (found == 0)
		found = unwind_step(stacks, stack, &frame, error);
	return found <= 0 ? found : perf_stacks_add_address(stacks, stack,
	    stack_frame_pc(&frame), error);
}

/*
 * The call chain; if the process's stack was copied, without the process's
 * part.  A damaged word ends the chain: what follows it cannot be trusted.
 */
static int
add_chain(struct perf_stacks *stacks, struct perf_stack *stack,
          const struct perf_sample *sample, bool is_copied,
          struct error *error)
{
	for (uint64_t i = 0; i < sample->n_chain; i++) {
		uint64_t word = perf_number_at(sample->chain + 8 * i);
		bool is_pc;

		/*
		 * Neither an address nor a mark: something that a program
		 * without frame pointers left where the kernel looked for one.
		 */
		if (word >= PERF_CONTEXT_MAX && word != PERF_CONTEXT_KERNEL &&
		    word != PERF_CONTEXT_USER &&
		    word != PERF_CONTEXT_USER_DEFERRED &&
		    word != PERF_CONTEXT_HYPERVISOR &&
		    word != PERF_CONTEXT_GUEST &&
		    word != PERF_CONTEXT_GUEST_KERNEL &&
		    word != PERF_CONTEXT_GUEST_USER) {
			stack->context = PERF_CONTEXT_MAX;
			return perf_stacks_add_address(stacks, stack, word,
			                               error);
		}
		if (word == PERF_CONTEXT_USER_DEFERRED) {
			stack->context = PERF_CONTEXT_USER;
			stack->is_first = true;
			/* A cookie; if more follows, perf has already put
			 * the process's frames there. */
			if (sample->n_chain - i > 2)
				continue;
			stack->is_deferred = sample->n_chain - i == 2;
			if (stack->is_deferred)
				stack->cookie = perf_number_at(sample->chain +
				    8 * (i + 1));
			return 0;
		}
		if (word >= PERF_CONTEXT_MAX) {
			stack->context = word;
			stack->is_first = true;
			continue;
		}
		if (stack->context == PERF_CONTEXT_USER && is_copied)
			continue;
		if (stack->context == PERF_CONTEXT_USER &&
		    sample->n_calls > 0) {
			/*
			 * The process's frames from the calls that the
			 * processor recorded: first where the process is, which
			 * the call chain gives, then the place of each call.
			 */
			stack->is_first = true;
			if (perf_stacks_add_address(stacks, stack, word,
			                            error) != 0)
				return -1;
			for (uint64_t call = 0; call < sample->n_calls;
			     call++) {
				stack->is_first = true; /* the call itself */
				if (perf_stacks_add_address(
					stacks, stack,
					perf_number_at(sample->calls +
				                       call * PERF_BRANCH_SIZE),
					error) != 0)
					return -1;
			}
			return 0;
		}
		is_pc = stack->is_first && stack->context == PERF_CONTEXT_USER;
		if (perf_stacks_add_address(stacks, stack, word, error) != 0 ||
		    (is_pc && sample->link != 0 && perf_stacks_add_link(stacks,
		        stack, word, sample->link, error) != 0))
			return -1;
	}
	return 0;
}

bool
perf_frame_begin(const struct perf_attr *attr, const struct perf_sample *sample,
                 struct stack_frame *frame)
{
	const uint64_t mask = attr->user_registers;
	const struct dwarf_arch *arch = dwarf_arch_of_perf(mask);
	struct bytes in = bytes_of(sample->registers,
	    (size_t)__builtin_popcountll(mask) * 8);

	if (sample->abi != 2 || sample->stack_size == 0 ||
	    sample->registers == NULL || arch == NULL)
		return false;
	*frame = (struct stack_frame){ .arch = arch, .is_interrupted = true,
		.stack = sample->stack, .stack_size = sample->stack_size };
	for (unsigned bit = 0; bit < sizeof arch->perf_columns; bit++) {
		uint64_t value;

		if ((mask >> bit & 1) == 0)
			continue;
		value = bytes_number(&in, 8);
		if ((arch->perf_registers >> bit & 1) == 0)
			continue;
		frame->registers.value[arch->perf_columns[bit]] = value;
		frame->registers.known |= CFI_BIT(arch->perf_columns[bit]);
	}
	frame->stack_start = stack_frame_sp(frame);
	return true;
}

int
perf_frame_step(struct stack_unwinder *unwinder, struct perf_machine *machine,
                const struct profile *profile,
                const struct module_cache *modules, struct perf_map *map,
                struct stack_frame *frame, struct error *error)
{
	struct module_file file = { .search = module_cache_search(modules) };
	const struct module *module;

	if (map->module == NO_MODULE)
		return stack_unwinder_step(unwinder, NULL, 0, 0, frame, error);
	module = &profile->modules[map->module];
	file.path = module->path;
	file.build_id = module->build_id;
	file.build_id_size = module->build_id_size;
	return stack_unwinder_step(unwinder, &file, map->module,
	    perf_machine_address(machine, map, stack_frame_address(frame)),
	    frame, error);
}

/* An empty stack of a process. */
static int
begin_process(struct perf_stacks *stacks, const struct perf_sample *sample,
              uint64_t context, struct perf_stack *stack, struct error *error)
{
	*stack = (struct perf_stack){ .labels = stack->labels,
		.pid = sample->pid, .context = context, .is_first = true };
	stack->space = perf_machine_space(stacks->machine, sample->pid, error);
	return stack->space != NULL ? 0 : -1;
}

/*
 * Whether a sample in the kernel has only frames of its process, as with
 * --user-callchains: only its address then says where it is in the kernel.
 */
static bool
lacks_kernel(const struct perf_record *record,
             const struct perf_sample *sample, bool is_copied)
{
	uint64_t first = sample->n_chain > 0 ?
	    perf_number_at(sample->chain) : 0;

	return context_of(record) == PERF_CONTEXT_KERNEL &&
	    (sample->n_chain > 0 ? first == PERF_CONTEXT_USER ||
	                           first == PERF_CONTEXT_USER_DEFERRED :
	                           is_copied);
}

int
perf_stacks_fill(struct perf_stacks *stacks, const struct perf_attr *attr,
                 const struct perf_record *record,
                 const struct perf_sample *sample, struct perf_stack *stack,
                 struct error *error)
{
	struct stack_frame frame;
	bool is_copied = perf_frame_begin(attr, sample, &frame);

	if (begin_process(stacks, sample, context_of(record), stack, error) !=
	        0 ||
	    (lacks_kernel(record, sample, is_copied) &&
	     perf_stacks_add_address(stacks, stack, sample->ip, error) != 0) ||
	    add_chain(stacks, stack, sample, is_copied, error) != 0)
		return -1;
	if (is_copied) {
		size_t n = 0;
		int found;

		/* The frames of the process, from its copied stack. */
		if (perf_stacks_need_unwinder(stacks, error) != 0)
			return -1;
		stack->context = PERF_CONTEXT_USER;
		do {
			stack->is_first = frame.is_interrupted;
			if (perf_stacks_add_address(stacks, stack,
			                            stack_frame_pc(&frame),
			                            error) != 0)
				return -1;
			found = unwind_step(stacks, stack, &frame, error);
		} while (found > 0 && ++n < UNWOUND_MAX);
		if (found < 0)
			return -1;
		/* The last one did not call the one before. */
		if (n > 0 && (frame.was_refuted || (frame.callee.is_open &&
		    !frame.callee.was_guessed)))
			stack->n--;
	}
	stack->is_ip_only = stack->n == 0;
	if (stack->is_deferred)
		stack->context = context_of(record);
	if (stack->is_ip_only &&
	    perf_stacks_add_address(stacks, stack, sample->ip, error) != 0)
		return -1;
	stacks->missed.n_guests += stack->has_guest;
	stacks->missed.n_unwalked += sample->stack_size > 0 && !is_copied;
	return 0;
}

int
perf_stacks_fill_process(struct perf_stacks *stacks,
                         const struct perf_sample *record,
                         struct perf_stack *stack, struct error *error)
{
	return begin_process(stacks, record, PERF_CONTEXT_USER, stack,
	                     error) == 0 ?
	    add_chain(stacks, stack, record, false, error) : -1;
}

/* ---- the end ---- */

int
perf_stacks_finish(struct perf_stacks *stacks, struct error *error)
{
	const char *first = NULL;
	size_t n = 0;
	int result = 0;

	for (size_t i = 0; i < stacks->n_jit_maps; i++) {
		const char *problem = stacks->jit_maps[i] == NULL ? NULL :
		    jit_map_problem(stacks->jit_maps[i]);

		if (problem != NULL && n++ == 0)
			first = problem;
	}
	/* One line for all processes. */
	if (n == 1)
		result = profile_warn(stacks->profile, error, "code made at "
		    "run time may lack names: %s", first);
	else if (n > 1)
		result = profile_warn(stacks->profile, error, "code made at "
		    "run time may lack names: %s, and likewise %zu more",
		    first, n - 1);
	return result == 0 ?
	    address_frames_finish(stacks->frames, stacks->profile,
	                          stacks->modules, error) : -1;
}

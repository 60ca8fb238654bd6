/* SPDX-License-Identifier: MIT */
/* progress.c -- compares the registers at successive signals. */
#include "lib/run/sample.h"

#include "lib/base/arch.h"

void
progress_note(struct thread_progress *progress, const void *context)
{
	struct cfi_registers registers;
	uint64_t now = 0;
	unsigned i;

	arch_registers(context, &registers);
	for (i = 0; i < ARCH_N_REGISTERS; i++)
		now += registers.value[i] * (0x9e3779b97f4a7c15u + 2 * i);
	if (now == progress->registers) {
		progress->n_other = 0;
		if (progress->n_same < PROGRESS_SIGNALS)
			progress->n_same++;
		else
			progress->is_lacking = true;
	} else {
		progress->registers = now;
		progress->n_same = 0;
		if (progress->n_other < PROGRESS_SIGNALS)
			progress->n_other++;
		else
			progress->is_lacking = false;
	}
}

/* SPDX-License-Identifier: MIT */
/* trampoline-personality.c -- the stub's personality routine.
 *
 * The stub catches no exceptions.  When an exception is to pass it, control
 * goes to trampoline_land, which makes the unwinder resume from the true
 * caller.  This is necessary because for an unwinder the stub's frame is the
 * same as its caller's (they have one CFA).  If the caller is where the
 * exception will be caught, libgcc's unwinder insists on a landing in this
 * frame (gcc_assert in _Unwind_RaiseException_Phase2, unwind.inc).
 *
 * A process can contain several unwinders, so the one that calls is identified
 * by the return address, and its functions are found without the loader's lock.
 */
#include <dlfcn.h>
#include <string.h>
#include <unwind.h>

#include "lib/unwind/traits.h"
#include "lib/unwind/trampoline.h"

extern const char trampoline_land[] __attribute__((visibility("hidden")));

struct functions {
	void (*set_register)(struct _Unwind_Context *, int, _Unwind_Word);
	void (*set_ip)(struct _Unwind_Context *, _Unwind_Ptr);
	void *resume;
};

static bool
trampoline_personality_find_functions(void *caller, struct functions *functions)
{
	struct dl_find_object object;
	void *set_register, *set_ip;

	if (_dl_find_object(caller, &object) != 0)
		return false;
	set_register = traits_symbol(object.dlfo_link_map, "_Unwind_SetGR");
	set_ip = traits_symbol(object.dlfo_link_map, "_Unwind_SetIP");
	functions->resume = traits_symbol(object.dlfo_link_map,
	    "_Unwind_Resume");
	memcpy(&functions->set_register, &set_register, sizeof set_register);
	memcpy(&functions->set_ip, &set_ip, sizeof set_ip);
	return set_register != NULL && set_ip != NULL &&
	    functions->resume != NULL;
}

_Unwind_Reason_Code trampoline_personality(int version, _Unwind_Action actions,
    _Unwind_Exception_Class class, struct _Unwind_Exception *exception,
    struct _Unwind_Context *context);

_Unwind_Reason_Code
trampoline_personality(int version, _Unwind_Action actions,
    _Unwind_Exception_Class class, struct _Unwind_Exception *exception,
    struct _Unwind_Context *context)
{
	struct functions functions;

	(void)version, (void)class;
	/*
	 * In the cleanup phase, unwinders that restart do not meet the mark
	 * again.
	 */
	trampoline_before_jump();
	if ((actions & _UA_CLEANUP_PHASE) == 0 ||
	    (actions & _UA_FORCE_UNWIND) != 0 ||
	    !trampoline_personality_find_functions(__builtin_return_address(0),
	                                           &functions))
		return _URC_CONTINUE_UNWIND;
	functions.set_register(context, __builtin_eh_return_data_regno(0),
	    (_Unwind_Word)(uintptr_t)exception);
	functions.set_register(context, __builtin_eh_return_data_regno(1),
	    (_Unwind_Word)(uintptr_t)functions.resume);
	functions.set_ip(context, (_Unwind_Ptr)trampoline_land);
	return _URC_INSTALL_CONTEXT;
}

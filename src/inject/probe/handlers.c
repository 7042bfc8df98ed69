/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/probe/handlers.h"

#include "inject/calls.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

/*
 * Patterns (fnmatch(3)) of the names of driver calls, without the suffixes _ptsz and _ptds, and how the
 * prober handles such a call. The first match decides; a call without a match is KWHY_PROBE_IGNORED.
 */
static const struct {
	const char *pattern;
	enum kwhy_probe_handler handler;
} handlers[] = {
	{"cuLaunchKernel", KWHY_PROBE_LAUNCH},
	{"cuLaunchKernelEx", KWHY_PROBE_LAUNCH_WITH},
	{"cuLaunchCooperativeKernel", KWHY_PROBE_LAUNCH_COOPERATIVE},
	{"cuLaunchCooperative*", KWHY_PROBE_LAUNCH_OVER_DEVICES},
	{"cuGraphLaunch", KWHY_PROBE_LAUNCH_GRAPH},
	{"cuGraphInstantiate*", KWHY_PROBE_MAKE_GRAPH},
	{"cuGraphExecUpdate*", KWHY_PROBE_UPDATE_GRAPH},
	{"cuGraphExecKernelNodeSetParams*", KWHY_PROBE_SET_KERNEL},
	{"cuGraphExecChildGraphNodeSetParams", KWHY_PROBE_SET_CHILD},
	{"cuGraphExecNodeSetParams", KWHY_PROBE_SET_NODE},
	{"cuGraphExec*SetParams*",
		KWHY_PROBE_OTHER}, /* calls for nodes other than kernels and child graphs */
	{"cuGraphNodeSetEnabled", KWHY_PROBE_SET_ENABLED},
	{"cuGraphExecDestroy", KWHY_PROBE_END_GRAPH},
	{"cuMemAlloc_v2", KWHY_PROBE_ALLOCATE},
	{"cuMemAllocAsync", KWHY_PROBE_ALLOCATE},
	{"cuMemAllocFromPoolAsync", KWHY_PROBE_ALLOCATE},
	{"cuMemAllocPitch_v2", KWHY_PROBE_ALLOCATE_PITCH},
	{"cuMemFree_v2", KWHY_PROBE_FREE},
	{"cuMemFreeAsync", KWHY_PROBE_FREE},
	{"cuMemMap", KWHY_PROBE_MAP},
	{"cuMemUnmap", KWHY_PROBE_UNMAP},
	{"cuIpcGetMemHandle", KWHY_PROBE_SHARE},
	{"cuIpcOpenMemHandle*", KWHY_PROBE_OPEN_SHARED},
	{"cuMemcpyDtoDAsync_v2", KWHY_PROBE_COPY},
	{"cuMemcpyHtoDAsync_v2", KWHY_PROBE_COPY},
	{"cuMemsetD8Async", KWHY_PROBE_SET_8},
	{"cuMemsetD16Async", KWHY_PROBE_SET_16},
	{"cuMemsetD32Async", KWHY_PROBE_SET_32},
	{"cuMemcpy*", KWHY_PROBE_OTHER},
	{"cuMemset*", KWHY_PROBE_OTHER},
	{"cuStreamBeginCapture*", KWHY_PROBE_OTHER},
};

enum kwhy_probe_handler kwhy_probe_handler_of(const char *name, bool *out_is_of_thread)
{
	char plain[KWHY_INJECT_CALL_NAME_BYTES];
	char *ending;

	snprintf(plain, sizeof(plain), "%s", name);
	ending = strstr(plain, "_ptsz");
	ending = ending ? ending : strstr(plain, "_ptds");
	*out_is_of_thread = ending != NULL;
	if (ending)
		*ending = '\0';
	for (size_t i = 0; i < sizeof(handlers) / sizeof(handlers[0]); i++)
		if (fnmatch(handlers[i].pattern, plain, 0) == 0)
			return handlers[i].handler;
	return KWHY_PROBE_IGNORED;
}

unsigned kwhy_probe_handler_width(enum kwhy_probe_handler handler)
{
	return handler == KWHY_PROBE_SET_8     ? 1
		: handler == KWHY_PROBE_SET_16 ? 2
		: handler == KWHY_PROBE_SET_32 ? 4
					       : 0;
}

void kwhy_probe_handler_given(enum kwhy_probe_handler handler, const struct kwhy_cupti_callback *data,
	struct kwhy_probe_allocation *out)
{
	const struct kwhy_cupti_parameters_memory *memory = data->parameters;
	const struct kwhy_cupti_parameters_pitch *pitch = data->parameters;
	const struct kwhy_cupti_parameters_map *map = data->parameters;
	const struct kwhy_cupti_parameters_share *share = data->parameters;
	const struct kwhy_cupti_parameters_shared *shared = data->parameters;

	*out = (struct kwhy_probe_allocation){.context = data->context};
	if (handler == KWHY_PROBE_SHARE) {
		out->address = share->address;
	} else if (handler == KWHY_PROBE_OPEN_SHARED) {
		out->address = *shared->out_address;
	} else if (handler == KWHY_PROBE_ALLOCATE) {
		out->address = *memory->out_address;
		out->bytes = memory->bytes;
	} else if (handler == KWHY_PROBE_ALLOCATE_PITCH) {
		out->address = *pitch->out_address;
		out->bytes = *pitch->out_pitch_bytes * pitch->height;
	} else if (handler == KWHY_PROBE_MAP) {
		*out = (struct kwhy_probe_allocation){.address = map->address, .bytes = map->bytes};
	}
	out->is_shared = handler == KWHY_PROBE_SHARE || handler == KWHY_PROBE_OPEN_SHARED;
}

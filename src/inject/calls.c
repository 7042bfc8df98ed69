/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/calls.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

/*
 * Patterns (fnmatch(3)) of plain names of the CUDA calls that are recorded. The first matching pattern
 * decides; a minus before a pattern excludes the call. A call without a match is not recorded.
 */
static const char *const patterns[] = {
	"-*LaunchHostFunc",
	"cudaLaunch*",
	"cudaGraphLaunch",
	"cudaMemcpy*",
	"cudaMemset*",
	"cudaMemPrefetch*",
	"cuda*Synchronize",
	"cudaMalloc*",
	"cudaHostAlloc",
	"cudaHostRegister",
	"cudaHostUnregister",
	"cudaFree*",
	"cuLaunch*",
	"cuGraphLaunch",
	"cuMemcpy*",
	"cuMemset*",
	"cuMemPrefetch*",
	"cu*Synchronize",
	"cuMemAlloc*",
	"cuMemHostAlloc",
	"cuMemHostRegister",
	"cuMemHostUnregister",
	"cuMemCreate",
	"cuMemRelease",
	"cuMemMap",
	"cuMemUnmap",
	"cuMemFree*",
};

/* Cuts one suffix off a name: _ptsz, _ptds, or _v and digits. False: the name has no such suffix. */
static bool cut_ending(char *name)
{
	char *ending = strrchr(name, '_');

	if (!ending || ending == name)
		return false;
	if (strcmp(ending, "_ptsz") != 0 && strcmp(ending, "_ptds") != 0 &&
		(ending[1] != 'v' || !ending[2] || strspn(ending + 2, "0123456789") != strlen(ending + 2)))
		return false;
	*ending = '\0';
	return true;
}

void kwhy_inject_call_name(const char *cupti_name, char out[KWHY_INJECT_CALL_NAME_BYTES])
{
	while (*cupti_name == '_')
		cupti_name++;
	snprintf(out, KWHY_INJECT_CALL_NAME_BYTES, "%s", cupti_name);
	while (cut_ending(out))
		continue;
}

bool kwhy_inject_call_matters(const char *name)
{
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		const bool is_left_out = patterns[i][0] == '-';

		if (fnmatch(patterns[i] + is_left_out, name, 0) == 0)
			return !is_left_out;
	}
	return false;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A tool that counts the ranges that a program reports by NVTX. */
#include "vendor/nvtx_abi.h"

int InitializeInjectionNvtx2(kwhy_nvtx_export *export);

/* Results for the test: number of pushes, number of open ranges, first letter of the last name. */
extern int nvtx_tool_pushes, nvtx_tool_open, nvtx_tool_letter;
int nvtx_tool_pushes, nvtx_tool_open, nvtx_tool_letter;

static int on_push(const char *name)
{
	nvtx_tool_pushes++;
	nvtx_tool_letter = name[0];
	return nvtx_tool_open++;
}

static int on_pop(void)
{
	return --nvtx_tool_open;
}

int InitializeInjectionNvtx2(kwhy_nvtx_export *export)
{
	const struct kwhy_nvtx_callbacks *callbacks = export(KWHY_NVTX_EXPORT_CALLBACKS);
	kwhy_nvtx_function ***table;
	unsigned places;

	if (!callbacks || !callbacks->table_of(KWHY_NVTX_MODULE_CORE, &table, &places))
		return 0;
	*table[KWHY_NVTX_PUSH_A] = (kwhy_nvtx_function *)(void *)on_push;
	*table[KWHY_NVTX_POP] = (kwhy_nvtx_function *)(void *)on_pop;
	return callbacks->table_of(KWHY_NVTX_MODULE_CORE2, &table, &places) == 0;
}

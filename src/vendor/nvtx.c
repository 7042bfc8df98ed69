/* SPDX-License-Identifier: Apache-2.0 */
#include "vendor/nvtx.h"

#include "vendor/nvtx_abi.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES = 16 };

/* Pointers to the functions of the tool, and the table that gives the tool the address of each pointer. */
static kwhy_nvtx_function *functions[PLACES];
static kwhy_nvtx_function **table[PLACES + 1];

/*
 * Called by the tool. The tool gets a table only for the core module, because kwhy makes ranges only in the
 * default domain.
 */
static int table_of(int module, kwhy_nvtx_function ****out_table, unsigned *out_places)
{
	if (module != KWHY_NVTX_MODULE_CORE)
		return 0;
	for (size_t i = 0; i < PLACES; i++)
		table[i] = &functions[i];
	*out_table = table;
	*out_places = PLACES;
	return 1;
}

static const void *export_of(uint32_t which)
{
	static const struct kwhy_nvtx_callbacks callbacks = {sizeof(callbacks), table_of};

	return which == KWHY_NVTX_EXPORT_CALLBACKS ? &callbacks : NULL;
}

/* Loads the tool's library. It stays loaded, because it may record until the process ends. */
static void find_tool(void)
{
	const char *path = secure_getenv("NVTX_INJECTION64_PATH");
	void *library = path && *path ? dlopen(path, RTLD_LAZY) : NULL;
	void *address = library ? dlsym(library, "InitializeInjectionNvtx2") : NULL;
	int (*begin)(kwhy_nvtx_export * export);

	if (!address)
		return;
	memcpy(&begin, &address, sizeof(begin));
	if (!begin(export_of))
		memset(functions, 0, sizeof(functions));
}

void kwhy_nvtx_push(const char *name)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int (*push)(const char *name);

	pthread_once(&once, find_tool);
	push = (int (*)(const char *))(void *)functions[KWHY_NVTX_PUSH_A];
	if (push)
		push(name);
}

void kwhy_nvtx_pop(void)
{
	int (*pop)(void) = (int (*)(void))(void *)functions[KWHY_NVTX_POP];

	if (pop)
		pop();
}

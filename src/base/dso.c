/* SPDX-License-Identifier: Apache-2.0 */
#include "base/dso.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Returns the loader's last error message and clears it; "": there was no error. */
static const char *loader_words(void)
{
	const char *words = dlerror();

	return words ? words : "";
}

static enum kwhy_status load(
	const struct kwhy_dso_library *library, void **out_handle, struct kwhy_error *error)
{
	char first[240] = "";

	for (size_t i = 0; library->sonames[i]; i++) {
		*out_handle = dlopen(library->sonames[i], RTLD_NOW | RTLD_LOCAL);
		if (*out_handle)
			return KWHY_OK;
		if (i == 0)
			snprintf(first, sizeof(first), "%s", loader_words());
	}
	return kwhy_fail(error, KWHY_E_UNSUPPORTED, "%s is not here (%s); %s", library->title, first,
		library->device && access(library->device, F_OK) == 0
			? library->device_cure
			: "install it, or name its folder in LD_LIBRARY_PATH");
}

/*
 * Looks up every symbol into `table`; the pointer of an optional symbol that is missing becomes NULL. Returns
 * the name of the first required symbol that is missing; NULL: none is.
 */
static const char *fill(const struct kwhy_dso_library *library, void *handle, char *table)
{
	for (size_t i = 0; i < library->symbol_count; i++) {
		const struct kwhy_dso_symbol *symbol = &library->symbols[i];
		void *address = dlsym(handle, symbol->name);

		if (!address && symbol->need == KWHY_DSO_REQUIRED)
			return symbol->name;
		memcpy(table + symbol->offset, &address, sizeof(address));
	}
	return NULL;
}

static enum kwhy_status fill_whole(
	const struct kwhy_dso_library *library, void *handle, void *out_table, struct kwhy_error *error)
{
	char *table = calloc(1, library->table_bytes);
	const char *missing;

	if (!table)
		return kwhy_fail_memory(error, library->title);
	missing = fill(library, handle, table);
	if (!missing)
		memcpy(out_table, table, library->table_bytes);
	free(table);
	if (missing)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"%s is here but has no %s, which kwhy needs; install a newer version", library->title,
			missing);
	return KWHY_OK;
}

enum kwhy_status kwhy_dso_open(
	const struct kwhy_dso_library *library, void *out_table, void **out_handle, struct kwhy_error *error)
{
	void *handle = NULL;
	enum kwhy_status status = load(library, &handle, error);

	if (status)
		return status;
	status = fill_whole(library, handle, out_table, error);
	if (status)
		dlclose(handle);
	else
		*out_handle = handle;
	return status;
}

void kwhy_dso_close(void *handle)
{
	if (handle)
		dlclose(handle);
}

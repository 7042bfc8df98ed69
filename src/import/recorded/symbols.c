/* SPDX-License-Identifier: Apache-2.0 */
#include "import/recorded/symbols.h"

#include "import/demangle.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Largest number of modules in which addresses are looked up. */
enum { MODULES_MAX = 256 };

/*
 * The part of elfutils' libdwfl.h that is used, declared here. The functions are versioned symbols and have
 * not changed since elfutils 0.120.
 */
struct dwfl_callbacks {
	int (*find_elf)(void);
	int (*find_debuginfo)(void);
	int (*section_address)(void);
	char **debuginfo_path;
};

struct kwhy_dwfl {
	void *library;
	void *(*begin)(const struct dwfl_callbacks *callbacks);
	void (*end)(void *session);
	void *(*report_offline)(void *session, const char *name, const char *path, int file);
	int (*report_end)(void *session, void *removed, void *context);
	void *(*module_getelf)(void *module, uint64_t *out_bias);
	const char *(*module_addrname)(void *module, uint64_t address);
	void *(*module_getsrc)(void *module, uint64_t address);
	const char *(*lineinfo)(
		void *line, uint64_t *address, int *out_line, int *column, uint64_t *time, uint64_t *length);
	int (*build_id_find_elf)(void);
	int (*standard_find_debuginfo)(void);
	int (*offline_section_address)(void);
};

struct kwhy_symbol_module {
	char *path;
	void *session, *module; /* handles of libdw; module NULL: libdw cannot read the file */
	uint64_t bias;
};

static bool find_calls(struct kwhy_dwfl *calls)
{
	const struct {
		const char *name;
		void **call;
	} list[] = {
		{"dwfl_begin", (void **)&calls->begin},
		{"dwfl_end", (void **)&calls->end},
		{"dwfl_report_offline", (void **)&calls->report_offline},
		{"dwfl_report_end", (void **)&calls->report_end},
		{"dwfl_module_getelf", (void **)&calls->module_getelf},
		{"dwfl_module_addrname", (void **)&calls->module_addrname},
		{"dwfl_module_getsrc", (void **)&calls->module_getsrc},
		{"dwfl_lineinfo", (void **)&calls->lineinfo},
		{"dwfl_build_id_find_elf", (void **)&calls->build_id_find_elf},
		{"dwfl_standard_find_debuginfo", (void **)&calls->standard_find_debuginfo},
		{"dwfl_offline_section_address", (void **)&calls->offline_section_address},
	};

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		*list[i].call = dlsym(calls->library, list[i].name);
		if (!*list[i].call)
			return false;
	}
	return true;
}

static void open_library(struct kwhy_symbols *symbols)
{
	struct kwhy_dwfl calls = {.library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL)};

	symbols->is_opened = true;
	if (!calls.library)
		return;
	if (find_calls(&calls))
		symbols->calls = malloc(sizeof(*symbols->calls));
	if (symbols->calls)
		*symbols->calls = calls;
	else
		dlclose(calls.library);
}

/*
 * Whether the path is a regular file. A damaged or hostile recording may name something else, such as a pipe,
 * from which reading would never end.
 */
static bool is_file(const char *path)
{
	struct stat facts;

	return stat(path, &facts) == 0 && S_ISREG(facts.st_mode);
}

static void read_module(const struct kwhy_dwfl *calls, struct kwhy_symbol_module *out)
{
	const struct dwfl_callbacks callbacks = {.find_elf = calls->build_id_find_elf,
		.find_debuginfo = calls->standard_find_debuginfo,
		.section_address = calls->offline_section_address};
	void *module;

	if (!is_file(out->path))
		return;
	out->session = calls->begin(&callbacks);
	if (!out->session)
		return;
	module = calls->report_offline(out->session, out->path, out->path, -1);
	calls->report_end(out->session, NULL, NULL);
	if (module && calls->module_getelf(module, &out->bias))
		out->module = module;
}

/*
 * The module with that path, which is added if it is new. NULL: memory is exhausted, or there are already
 * MODULES_MAX modules.
 */
static struct kwhy_symbol_module *module_of(struct kwhy_symbols *symbols, const char *path)
{
	struct kwhy_symbol_module *out;

	for (size_t i = 0; i < symbols->count; i++)
		if (!strcmp(symbols->modules[i].path, path))
			return &symbols->modules[i];
	if (symbols->count == MODULES_MAX)
		return NULL;
	if (!symbols->modules)
		symbols->modules = calloc(MODULES_MAX, sizeof(*symbols->modules));
	if (!symbols->modules)
		return NULL;
	out = &symbols->modules[symbols->count];
	out->path = strdup(path);
	if (!out->path)
		return NULL;
	symbols->count++;
	read_module(symbols->calls, out);
	return out;
}

static void name_function(const char *name, struct kwhy_symbol *out)
{
	char *plain = kwhy_demangle(name, strlen(name));

	snprintf(out->function, sizeof(out->function), "%s", plain ? plain : name);
	free(plain);
}

/*
 * Sets function, file and line of the call before the return address `offset`. Looks up the byte before it,
 * the last one of the call instruction, because the next instruction may belong to another line.
 */
static void look_up(const struct kwhy_dwfl *calls, const struct kwhy_symbol_module *module, uint64_t offset,
	struct kwhy_symbol *out)
{
	const uint64_t address = offset + module->bias - 1;
	const char *name = calls->module_addrname(module->module, address), *file;
	void *line = calls->module_getsrc(module->module, address);
	int number = 0;

	if (name)
		name_function(name, out);
	file = line ? calls->lineinfo(line, NULL, &number, NULL, NULL, NULL) : NULL;
	if (!file || number <= 0)
		return;
	snprintf(out->file, sizeof(out->file), "%s", file);
	out->line = (uint32_t)number;
}

void kwhy_symbols_find(
	struct kwhy_symbols *symbols, const char *module, uint64_t offset, struct kwhy_symbol *out)
{
	const char *slash = strrchr(module, '/');
	const struct kwhy_symbol_module *known = NULL;

	*out = (struct kwhy_symbol){0};
	snprintf(out->function, sizeof(out->function), "%.400s+0x%" PRIx64,
		module[0] ? (slash ? slash + 1 : module) : "unknown module", offset);
	if (!symbols->is_opened)
		open_library(symbols);
	if (symbols->calls && module[0] == '/')
		known = module_of(symbols, module);
	if (known && known->module)
		look_up(symbols->calls, known, offset, out);
}

void kwhy_symbols_done(struct kwhy_symbols *symbols)
{
	for (size_t i = 0; i < symbols->count; i++) {
		if (symbols->modules[i].session)
			symbols->calls->end(symbols->modules[i].session);
		free(symbols->modules[i].path);
	}
	free(symbols->modules);
	if (symbols->calls)
		dlclose(symbols->calls->library);
	free(symbols->calls);
}

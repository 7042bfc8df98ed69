/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_RECORDED_SYMBOLS_H
#define KWHY_IMPORT_RECORDED_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Finds functions and source lines of code addresses by elfutils' libdw, which is loaded when it is first
 * needed. If libdw or the module's file is missing, the name consists of module and offset. Zero-initialise;
 * end with kwhy_symbols_done().
 */
struct kwhy_symbols {
	struct kwhy_dwfl *calls; /* functions of libdw; NULL: not available */
	struct kwhy_symbol_module *modules;
	size_t count;
	bool is_opened; /* loading libdw was attempted, with or without success */
};

struct kwhy_symbol {
	char function[512]; /* never empty */
	char file[512];	    /* source file; "": unknown */
	uint32_t line;	    /* source line; 0: unknown */
};

/*
 * Sets *out to the function, file and line of the call instruction in `module` whose return address has the
 * offset `offset`, in bytes, in the module.
 */
void kwhy_symbols_find(
	struct kwhy_symbols *symbols, const char *module, uint64_t offset, struct kwhy_symbol *out);
void kwhy_symbols_done(struct kwhy_symbols *symbols);

#endif

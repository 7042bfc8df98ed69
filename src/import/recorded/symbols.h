/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_RECORDED_SYMBOLS_H
#define KWHY_IMPORT_RECORDED_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What places in modules are called, by elfutils' libdw, which is opened when it is first needed. Without it,
 * or without the module's file, a place is called by its module and offset. Zero-initialise; end with
 * kwhy_symbols_done().
 */
struct kwhy_symbols {
	struct kwhy_dwfl *calls; /* of libdw; NULL: not there */
	struct kwhy_symbol_module *modules;
	size_t count;
	bool is_opened; /* or was tried */
};

struct kwhy_symbol {
	char function[512]; /* never empty */
	char file[512];	    /* of the source; "": unknown */
	uint32_t line;	    /* 0: unknown */
};

/* Of the call behind which the program goes on at that offset of a module. */
void kwhy_symbols_find(
	struct kwhy_symbols *symbols, const char *module, uint64_t offset, struct kwhy_symbol *out);
void kwhy_symbols_done(struct kwhy_symbols *symbols);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_JSON_BRIDGE_H
#define KWHY_IMPORT_JSON_BRIDGE_H

#include <stddef.h>
#include <stdint.h>

/*
 * The first of simdjson's two stages behind a C interface: it finds where the JSON tokens of a text begin.
 * simdjson chooses the vector instructions of the machine at run time and checks the text's UTF-8.
 */

#ifdef __cplusplus
extern "C" {
#endif

struct kwhy_json_index;

enum kwhy_json_index_result {
	KWHY_JSON_INDEXED,
	KWHY_JSON_OPEN_STRING, /* the text ends inside a string */
	KWHY_JSON_CONTROL,     /* a byte below 0x20 inside a string */
	KWHY_JSON_UTF8,	       /* the text is not UTF-8 */
	KWHY_JSON_NO_MEMORY
};

/* NULL: no memory. One index serves one thread and any number of texts. */
struct kwhy_json_index *kwhy_json_index_new(void);
void kwhy_json_index_free(struct kwhy_json_index *index);

/*
 * Finds the tokens of text[0, length): the offsets of every { } [ ] : , outside strings, of the opening quote
 * of every string, and of the first byte of every other run outside strings, in ascending order. One more
 * entry, `length`, ends them. `length` is less than 4 GiB. The tokens are borrowed and valid until the next
 * call. An empty text has no tokens.
 */
enum kwhy_json_index_result kwhy_json_index_make(struct kwhy_json_index *index, const char *text,
	size_t length, const uint32_t **out_tokens, size_t *out_count);

#ifdef __cplusplus
}
#endif

#endif

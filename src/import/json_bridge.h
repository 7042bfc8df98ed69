/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_JSON_BRIDGE_H
#define KWHY_IMPORT_JSON_BRIDGE_H

#include <stddef.h>
#include <stdint.h>

/*
 * A C interface to the first stage of the JSON parser simdjson, which finds where the tokens of a text begin.
 * simdjson chooses vector instructions for the machine at run time and checks that the text is UTF-8.
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

/*
 * An index may be used for any number of texts, but by only one thread at a time. NULL: memory is exhausted.
 */
struct kwhy_json_index *kwhy_json_index_new(void);
void kwhy_json_index_free(struct kwhy_json_index *index);

/*
 * Finds the tokens of text[0, length). Tokens are strings, the characters { } [ ] : and comma outside of
 * strings, and every other run of bytes without white space, such as a number. *out_tokens has the offsets of
 * the *out_count tokens' first bytes in ascending order and, after them, the entry `length`. The array is
 * borrowed and valid until the next call. `length` must be less than 4 GiB. An empty text has no tokens.
 */
enum kwhy_json_index_result kwhy_json_index_make(struct kwhy_json_index *index, const char *text,
	size_t length, const uint32_t **out_tokens, size_t *out_count);

#ifdef __cplusplus
}
#endif

#endif

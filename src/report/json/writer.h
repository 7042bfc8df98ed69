/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_JSON_WRITER_H
#define KWHY_REPORT_JSON_WRITER_H

#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * Writes JSON into a text, value by value, so that a document of any size needs no tree in memory. The text
 * keeps the first failure. `key` is NULL for elements of arrays and for the top value. Unknown values
 * (KWHY_UNKNOWN_NJ and the like, NAN, NULL) are written as null.
 */
struct kwhy_json {
	struct kwhy_text *out;
	unsigned depth;
	/*
	 * how deep the writer is inside an object or array that is written on one line: 1 in that object or
	 * array itself, 2 in one nested in it, and so on; 0: not inside any
	 */
	unsigned row_depth;
	bool empty; /* whether the object or array that is being written has no members yet */
};

void kwhy_json_init(struct kwhy_json *json, struct kwhy_text *out);
void kwhy_json_object(struct kwhy_json *json, const char *key);
void kwhy_json_array(struct kwhy_json *json, const char *key);
/* opens an object that is written on one line */
void kwhy_json_row(struct kwhy_json *json, const char *key);
/* opens an array that is written on one line */
void kwhy_json_list(struct kwhy_json *json, const char *key);
void kwhy_json_object_end(struct kwhy_json *json);
void kwhy_json_array_end(struct kwhy_json *json);

void kwhy_json_int(struct kwhy_json *json, const char *key, int64_t value);
void kwhy_json_count(struct kwhy_json *json, const char *key, uint64_t value);
void kwhy_json_real(struct kwhy_json *json, const char *key, double value);
/* Writes a number with 15 significant digits, for sums whose differences other programs compute. */
void kwhy_json_exact(struct kwhy_json *json, const char *key, double value);
void kwhy_json_bool(struct kwhy_json *json, const char *key, bool value);
void kwhy_json_null(struct kwhy_json *json, const char *key);
void kwhy_json_string(struct kwhy_json *json, const char *key, const char *value);

/* Writes an integer. KWHY_UNKNOWN_NJ and KWHY_UNKNOWN_NS (the same number) become null. */
void kwhy_json_known(struct kwhy_json *json, const char *key, int64_t value);
/* Writes an index; KWHY_NONE becomes null. */
void kwhy_json_index(struct kwhy_json *json, const char *key, uint32_t value);
/* Writes a number of bytes; KWHY_UNKNOWN_BYTES becomes null. */
void kwhy_json_bytes(struct kwhy_json *json, const char *key, uint64_t value);

#endif

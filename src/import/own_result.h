/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_OWN_RESULT_H
#define KWHY_IMPORT_OWN_RESULT_H

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Refuses a JSON document that is a result of kwhy. Call it only if the document is not of the kind that the
 * caller reads. `schema` is the document's member "schema", or "" if it has none; `wanted` names what the
 * caller reads, for example "a trace". KWHY_E_INPUT: the message says what the file is and which command
 * reads it. KWHY_OK: `schema` is not that of a result.
 */
KWHY_MUST_USE enum kwhy_status kwhy_own_result_refuse(
	const char *path, const char *schema, const char *wanted, struct kwhy_error *error);

/*
 * Does what kwhy_own_result_refuse() does, for a file that begins with head[0, length). kwhy writes the
 * member "schema" first.
 */
KWHY_MUST_USE enum kwhy_status kwhy_own_result_refuse_head(const char *path, const unsigned char *head,
	size_t length, const char *wanted, struct kwhy_error *error);

/* Does what kwhy_own_result_refuse() does, for a file. KWHY_OK also if the file cannot be read. */
KWHY_MUST_USE enum kwhy_status kwhy_own_result_refuse_file(
	const char *path, const char *wanted, struct kwhy_error *error);

/*
 * Whether the schema of a file is "kwhy.NAME/VERSION", with `name` such as "stat" and any version; false also
 * if the file cannot be read.
 */
bool kwhy_own_result_is(const char *path, const char *name);

/*
 * Appends the whole text of a file, decompressed, to *out. KWHY_E_INPUT: the text is larger than limit_bytes
 * less the length of *out.
 */
KWHY_MUST_USE enum kwhy_status kwhy_own_result_read(
	const char *path, size_t limit_bytes, struct kwhy_text *out, struct kwhy_error *error);

#endif

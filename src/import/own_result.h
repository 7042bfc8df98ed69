/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_OWN_RESULT_H
#define KWHY_IMPORT_OWN_RESULT_H

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Refuses a JSON document that is a result of kwhy but not of the kind that the caller reads. `schema` is the
 * document's member "schema", or "" if it has none; `wanted` names what the caller reads, for example "a
 * trace". KWHY_E_INPUT: the message says what the file is and which command reads it. KWHY_OK: the document
 * is not a result of kwhy.
 */
KWHY_MUST_USE enum kwhy_status kwhy_own_result_refuse(
	const char *path, const char *schema, const char *wanted, struct kwhy_error *error);

/* Does the same for the first bytes of a file; kwhy writes the member "schema" first. */
KWHY_MUST_USE enum kwhy_status kwhy_own_result_refuse_head(const char *path, const unsigned char *head,
	size_t length, const char *wanted, struct kwhy_error *error);

/* Does the same for a file. If the file cannot be read, it returns KWHY_OK. */
KWHY_MUST_USE enum kwhy_status kwhy_own_result_refuse_file(
	const char *path, const char *wanted, struct kwhy_error *error);

/*
 * Whether a file states that it is a result of this kind, such as "stat", of any version; false also if the
 * file cannot be read.
 */
bool kwhy_own_result_is(const char *path, const char *name);

/* Reads a result, which may be compressed, to its end. A file of more than `limit_bytes` is refused. */
KWHY_MUST_USE enum kwhy_status kwhy_own_result_read(
	const char *path, size_t limit_bytes, struct kwhy_text *out, struct kwhy_error *error);

#endif

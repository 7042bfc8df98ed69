/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_GOLDEN_SCHEMA_CHECK_H
#define KWHY_TESTS_GOLDEN_SCHEMA_CHECK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Returns whether `value` conforms to `schema`, a part of the schema `root`. Supports the keywords of JSON
 * Schema 2020-12 that kwhy's schemas use: type, enum, const, pattern, minimum, maximum, lengths, required,
 * properties, additionalProperties, items, and $ref into the $defs of `root`. The keywords $schema, $defs,
 * $id, format, title and description are ignored; any other one is a failure. On failure `why` says what is
 * wrong and where.
 */
bool schema_check(const json_t *root, const json_t *schema, const json_t *value, char *why, size_t why_bytes);

/* Fails the test unless the document conforms to docs/formats/<name>.schema.json. */
void assert_keeps_to_schema(const char *name, const json_t *document);

#endif

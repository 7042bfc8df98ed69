/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_GOLDEN_SCHEMA_CHECK_H
#define KWHY_TESTS_GOLDEN_SCHEMA_CHECK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Does `value` keep to `schema`? Knows the part of JSON Schema 2020-12 that our schemas use: type, enum,
 * const, pattern, minimum, maximum, lengths, required, properties and others beside them, items, $ref into
 * $defs of `root`. A keyword beyond these is a failure too, so that none is ignored. On failure `why` says
 * what and where.
 */
bool schema_check(const json_t *root, const json_t *schema, const json_t *value, char *why, size_t why_bytes);

/* Fails the test where the document breaks docs/formats/<name>.schema.json. */
void assert_keeps_to_schema(const char *name, const json_t *document);

#endif

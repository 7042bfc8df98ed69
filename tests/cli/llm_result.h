/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_CLI_LLM_RESULT_H
#define KWHY_TESTS_CLI_LLM_RESULT_H

#include <jansson.h>

/* Gets values from the JSON that `kwhy llm` writes (docs/formats/llm.md). */

/* Returns the first load of the result. Owned by `root`. */
static inline const json_t *load_of(const json_t *root)
{
	return json_array_get(json_object_get(root, "loads"), 0);
}

static inline double number(const json_t *row, const char *key)
{
	return json_number_value(json_object_get(row, key));
}

/* Returns the number `part` of the object `key` in a row, such as p50 of first_s; 0 if there is none. */
static inline double spread(const json_t *row, const char *key, const char *part)
{
	return number(json_object_get(row, key), part);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_EVENT_JSON_H
#define KWHY_LLM_EVENT_JSON_H

#include <jansson.h>
#include <stddef.h>

/*
 * Parses the JSON of an event. As a token may be only a part of a character, texts may have invalid UTF-8 or
 * an escape that is half of a surrogate pair; both are replaced by U+FFFD. In such a JSON, control characters
 * become spaces. NULL: the JSON is invalid, or out of memory. Release the result with json_decref().
 */
json_t *kwhy_llm_event_json(const char *data, size_t length);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_EVENT_JSON_H
#define KWHY_LLM_EVENT_JSON_H

#include <jansson.h>
#include <stddef.h>

/*
 * Parses the JSON of an event. A token may be only a part of a character; then bytes are invalid UTF-8, or
 * an escape is half of a surrogate pair. Both are replaced by U+FFFD. Control characters become spaces.
 * NULL: the JSON is invalid. Release the result with json_decref().
 */
json_t *kwhy_llm_event_json(const char *data, size_t length);

#endif

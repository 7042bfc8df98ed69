/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_EVENT_JSON_H
#define KWHY_LLM_EVENT_JSON_H

#include <jansson.h>
#include <stddef.h>

/*
 * Parses the JSON of an event; NULL: it is not valid JSON. Release it with json_decref(). A token may be part
 * of a character, so invalid UTF-8 and halves of a surrogate pair become U+FFFD, and control characters
 * become spaces.
 */
json_t *kwhy_llm_event_json(const char *data, size_t length);

#endif

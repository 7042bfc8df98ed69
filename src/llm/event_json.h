/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_EVENT_JSON_H
#define KWHY_LLM_EVENT_JSON_H

#include <jansson.h>
#include <stddef.h>

/*
 * The JSON of an event, to be released with json_decref(); NULL: it is none. A token may be a part of a
 * character: bytes that are no UTF-8 and halves of a surrogate pair become U+FFFD, control characters spaces.
 */
json_t *kwhy_llm_event_json(const char *data, size_t length);

#endif

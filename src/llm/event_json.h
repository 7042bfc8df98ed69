/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_EVENT_JSON_H
#define KWHY_LLM_EVENT_JSON_H

#include <jansson.h>
#include <stddef.h>

/*
 * Parses the JSON of an event. A token may be a part of a character, so that bytes are invalid UTF-8 or an
 * escape is half of a surrogate pair; each becomes U+FFFD. Control characters become spaces. NULL: it is not
 * valid JSON. Release the result with json_decref().
 */
json_t *kwhy_llm_event_json(const char *data, size_t length);

#endif

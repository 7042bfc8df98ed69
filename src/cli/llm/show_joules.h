/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_LLM_SHOW_JOULES_H
#define KWHY_CLI_LLM_SHOW_JOULES_H

#include "cli/llm/show.h"
#include "report/json/writer.h"
#include "report/text_context.h"

/* Joules of requests as text; nothing if no load has energy. */
void kwhy_llm_joules_text(const struct kwhy_text_context *context, const struct kwhy_llm_result *result);

/* Writes the member `requests_energy` of the open object. */
void kwhy_llm_joules_json(struct kwhy_json *json, const struct kwhy_llm_result *result);

/* Writes the members on prefill and decoding of a row to the open object. */
void kwhy_llm_row_joules_json(struct kwhy_json *json, const struct kwhy_llm_result *result, size_t row);

/*
 * A CSV line for each interval of about a second between readings of the meters, the idle server included:
 * its joules by parts, and the work of the requests in it.
 */
void kwhy_llm_windows_csv(const struct kwhy_llm_result *result, struct kwhy_text *out);

/* A CSV line for each request of all loads, with its joules where they are known. */
void kwhy_llm_requests_csv(const struct kwhy_llm_result *result, struct kwhy_text *out);

#endif

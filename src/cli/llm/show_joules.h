/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_LLM_SHOW_JOULES_H
#define KWHY_CLI_LLM_SHOW_JOULES_H

#include "cli/llm/show.h"
#include "report/json/writer.h"
#include "report/text_context.h"

/*
 * Writes the joules of requests, by kind of work and by length, as text. Writes nothing if the energy of no
 * load is known.
 */
void kwhy_llm_joules_text(const struct kwhy_text_context *context, const struct kwhy_llm_result *result);

/* Writes the member `requests_energy` of the open object. */
void kwhy_llm_joules_json(struct kwhy_json *json, const struct kwhy_llm_result *result);

/*
 * Writes the member `requests_nj` of the open object: the metered energy of a load and the parts of that
 * energy for prefill, decoding and the idle server; an empty object if the energy or the parts are unknown.
 */
void kwhy_llm_row_joules_json(struct kwhy_json *json, const struct kwhy_llm_result *result, size_t row);

/*
 * Writes a CSV with one line for each interval between two readings of the meters (about a second), also for
 * intervals in which the server is idle: the metered joules of the interval, the parts of them for the idle
 * server, prefill and decoding, and the amounts of work that the requests caused in it.
 */
void kwhy_llm_windows_csv(const struct kwhy_llm_result *result, struct kwhy_text *out);

/* Writes the requests of all loads as CSV, one line for each request, with its joules if these are known. */
void kwhy_llm_requests_csv(const struct kwhy_llm_result *result, struct kwhy_text *out);

#endif

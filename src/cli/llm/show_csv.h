/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_LLM_SHOW_CSV_H
#define KWHY_CLI_LLM_SHOW_CSV_H

#include "cli/llm/show.h"

/* Writes the loads as CSV, one line for each. */
void kwhy_llm_loads_csv(const struct kwhy_llm_result *result, struct kwhy_text *out);

#endif

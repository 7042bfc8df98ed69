/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_LLM_SHOW_COMPAT_H
#define KWHY_CLI_LLM_SHOW_COMPAT_H

#include "llm/compat.h"
#include "report/json/writer.h"

/*
 * Writes the figures of a load under the names that vllm or aiperf, as `compat` says, uses for them; nothing
 * for KWHY_LLM_COMPAT_NONE. has_limits: the user gave limits (--slo), so there is a goodput.
 */
void kwhy_llm_compat_text(
	struct kwhy_text *out, const char *load, const struct kwhy_llm_compat *compat, bool has_limits);

/* Writes the member `compat` of the open object; null for KWHY_LLM_COMPAT_NONE. */
void kwhy_llm_compat_json(struct kwhy_json *json, const struct kwhy_llm_compat *compat, bool has_limits);

#endif

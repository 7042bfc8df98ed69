/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_LLM_SHOW_COMPAT_H
#define KWHY_CLI_LLM_SHOW_COMPAT_H

#include "llm/compat.h"
#include "report/json/writer.h"

/*
 * Writes the figures of a load under the names that the other tool uses. Writes nothing for
 * KWHY_LLM_COMPAT_NONE. The goodput is only known if there are limits of good answers.
 */
void kwhy_llm_compat_text(
	struct kwhy_text *out, const char *load, const struct kwhy_llm_compat *compat, bool has_limits);

/* Writes the member `compat` of the open object; null for KWHY_LLM_COMPAT_NONE. */
void kwhy_llm_compat_json(struct kwhy_json *json, const struct kwhy_llm_compat *compat, bool has_limits);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_LLM_BY_KERNEL_H
#define KWHY_CLI_LLM_BY_KERNEL_H

#include "cli/llm/plan.h"
#include "cli/output.h"

/*
 * Divides the energy of the loads of an earlier run (--result) among the kernels that a recording of the
 * server (--recording) has in the steady windows of these loads, and writes the result.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_by_kernel(
	const struct kwhy_llm_options *options, enum kwhy_output_form form, struct kwhy_error *error);

#endif

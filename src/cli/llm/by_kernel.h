/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_LLM_BY_KERNEL_H
#define KWHY_CLI_LLM_BY_KERNEL_H

#include "cli/llm/plan.h"
#include "cli/output.h"

/*
 * Reads the result of an earlier `kwhy llm` (--result) and a recording of the server that was made during
 * that `kwhy llm` (--recording). Divides the energy that the recording has in the steady window of each load
 * among the kernels that ran in that window, and writes the kernels' energies to --output.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_by_kernel(
	const struct kwhy_llm_options *options, enum kwhy_output_form form, struct kwhy_error *error);

#endif

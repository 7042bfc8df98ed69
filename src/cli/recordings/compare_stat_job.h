/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RECORDINGS_COMPARE_STAT_JOB_H
#define KWHY_CLI_RECORDINGS_COMPARE_STAT_JOB_H

#include "cli/command.h"
#include "cli/output.h"
#include "report/report.h"

#include <stdbool.h>

/* Options of `kwhy compare` that apply to two results of `kwhy stat`. */
struct kwhy_compare_stat_options {
	const struct kwhy_strings *fail_if;
	const struct kwhy_text_style *style;
	const char *output; /* path of the output; NULL: standard output */
	enum kwhy_output_form form;
};

/* Whether a file is a result of `kwhy stat`, judged by its first bytes. */
bool kwhy_is_stat(const char *path);

KWHY_MUST_USE enum kwhy_status kwhy_compare_stat_run(const struct kwhy_compare_stat_options *options,
	char *const paths[2], enum kwhy_exit *out_exit, struct kwhy_error *error);

#endif

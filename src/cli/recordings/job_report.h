/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RECORDINGS_JOB_REPORT_H
#define KWHY_CLI_RECORDINGS_JOB_REPORT_H

#include "cli/options.h"
#include "cli/output.h"

#include <stdbool.h>

/* Where and in which form a report on the digests of a job is written. */
struct kwhy_job_report {
	const char *output; /* path of the output, which may be a folder; NULL: standard output */
	const char *csv;    /* name of the table that is written as CSV; NULL: "ranks" */
	enum kwhy_output_form form;
	bool verbose, no_color;
};

/*
 * Whether the operands of a command are taken to be digests. Only the first operand decides: true if it is
 * "-" (paths on standard input), a digest, a folder with digests, or a pattern whose first match is one of
 * these two.
 */
bool kwhy_job_report_is_of(const struct kwhy_operands *operands);
/* Writes the report on all digests that the operands name. */
KWHY_MUST_USE enum kwhy_status kwhy_job_report_write(
	const struct kwhy_operands *operands, const struct kwhy_job_report *how, struct kwhy_error *error);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RUN_RECORD_JOB_H
#define KWHY_CLI_RUN_RECORD_JOB_H

#include "cli/command.h"
#include "launch/inject.h"

/* What `kwhy record` and `kwhy probe` are told, as their options have it. */
struct kwhy_record_options {
	const char *output, *devices, *replay, *limit, *range, *graphs;
	double delay_s, duration_s, duty_percent, window_s, gauges_s;
	struct kwhy_strings work, counts, meters;
	bool power_only, memory, no_calls, one_file, progress, quiet;
	const struct kwhy_inject_probe *probe; /* kernels are launched again; NULL: they are not */
};

/* The values where an option is not given. */
void kwhy_record_options_init(struct kwhy_record_options *options);

/* Bytes with K, M or G behind them; NULL: 0. KWHY_E_USAGE names the option. */
KWHY_MUST_USE enum kwhy_status kwhy_record_read_bytes(
	const char *option, const char *text, uint64_t *out, struct kwhy_error *error);

/* Runs the command, records it and shows the first screen of its report. */
KWHY_MUST_USE enum kwhy_status kwhy_record_job_run(const struct kwhy_record_options *options,
	const struct kwhy_operands *operands, enum kwhy_exit *out_exit, struct kwhy_error *error);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RUN_RECORD_JOB_H
#define KWHY_CLI_RUN_RECORD_JOB_H

#include "cli/command.h"
#include "launch/inject.h"

/* Options of `kwhy record` and `kwhy probe`. */
struct kwhy_record_options {
	const char *digest; /* folder for digests; NULL: no digests are made */
	double digest_every_s;
	const char *output, *devices, *replay, *limit, *range, *graphs;
	double delay_s, duration_s, duty_percent, window_s, gauges_s;
	double counter_percent; /* NAN: not given */
	struct kwhy_strings work, counts, meters;
	struct kwhy_strings earlier; /* recordings of kwhy probe (--append) whose kernels are not probed anew
					if their power is known */
	bool power_only, memory, no_calls, no_lines, counters, one_file, progress, quiet;
	const struct kwhy_inject_probe *probe; /* how kernels are probed; NULL: they are not probed */
};

/*
 * Rows of an option table for the options that both commands have. They set the member `member`, a struct
 * kwhy_record_options, of the options struct `type`.
 */
#define KWHY_OPTION_ROWS_RECORDING(type, member)                                                           \
	{"output", 'o', "PATH", "the recording; default run.kwhy, one that is there becomes run.kwhy.old", \
		KWHY_OPTION_TEXT, offsetof(type, member.output)},                                          \
	{                                                                                                  \
		"one-file", 0, NULL, "the recording becomes one packed file at the end, not a folder",     \
			KWHY_OPTION_FLAG, offsetof(type, member.one_file)                                  \
	}

#define KWHY_OPTION_ROWS_RECORD(type, member)                                                                \
	{"gauges", 0, "S", "read clocks, temperatures and the like so often; default 1", KWHY_OPTION_NUMBER, \
		offsetof(type, member.gauges_s)},                                                            \
		{"max-size", 0, "BYTES", "no process writes more than that, like 500M", KWHY_OPTION_TEXT,    \
			offsetof(type, member.limit)},                                                       \
		{"work", 0, "UNIT[=WHAT]",                                                                   \
			"work: a number, REGEX in its output, or what it reports; may be given again",       \
			KWHY_OPTION_LIST, offsetof(type, member.work)},                                      \
		{"count", 0, "UNIT=NAME",                                                                    \
			"work: as many units as NVTX ranges of that name ended; may be given again",         \
			KWHY_OPTION_LIST, offsetof(type, member.counts)},                                    \
		{"device", 0, "LIST", "GPUs whose meters to read, like 0,2; default those CUDA shows",       \
			KWHY_OPTION_TEXT, offsetof(type, member.devices)},                                   \
		{"meter", 0, "FILE", "a wall meter's power CSV, followed while it grows", KWHY_OPTION_LIST,  \
			offsetof(type, member.meters)},                                                      \
		{"power-file", 0, "FILE", "play back a power CSV instead of this machine's meters",          \
			KWHY_OPTION_TEXT, offsetof(type, member.replay)},                                    \
		{"counters", 0, NULL, "performance counters of the GPUs, too; they tell what kernels draw",  \
			KWHY_OPTION_FLAG, offsetof(type, member.counters)},                                  \
		{"counter-share", 0, "P%", "share of the time in which counters are sampled; default 10",    \
			KWHY_OPTION_NUMBER, offsetof(type, member.counter_percent)},                         \
	{                                                                                                    \
		"quiet", 'q', NULL, "no report at the end", KWHY_OPTION_FLAG, offsetof(type, member.quiet)   \
	}

/* Sets the defaults of the options. */
void kwhy_record_options_init(struct kwhy_record_options *options);

/*
 * Checks the options. KWHY_E_USAGE: there is no command, or the options contradict each other or are out of
 * range.
 */
KWHY_MUST_USE enum kwhy_status kwhy_record_options_check(const struct kwhy_record_options *options,
	const struct kwhy_operands *operands, struct kwhy_error *error);

/*
 * Reads a number of bytes, at least 65536 and below 1e18; K, M or G at its end stands for a power of 1024. If
 * `text` is NULL, *out is 0. KWHY_E_USAGE: the text is no such number; the message begins with `option`.
 */
KWHY_MUST_USE enum kwhy_status kwhy_record_read_bytes(
	const char *option, const char *text, uint64_t *out, struct kwhy_error *error);

/*
 * Runs the command, records it, and writes the short form of its report unless `quiet` is set. *out_exit:
 * exit status for kwhy, which is mostly that of the command.
 */
KWHY_MUST_USE enum kwhy_status kwhy_record_job_run(const struct kwhy_record_options *options,
	const struct kwhy_operands *operands, enum kwhy_exit *out_exit, struct kwhy_error *error);

#endif

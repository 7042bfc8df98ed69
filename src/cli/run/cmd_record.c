/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/record_job.h"

#include <stddef.h>

static void set_defaults(void *options)
{
	kwhy_record_options_init(options);
}

static enum kwhy_status run(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	return kwhy_record_job_run(invocation->options, &invocation->operands, invocation->exit, error);
}

static const struct kwhy_option options_table[] = {
	{"output", 'o', "PATH", "the recording; default run.kwhy, one that is there becomes run.kwhy.old",
		KWHY_OPTION_TEXT, offsetof(struct kwhy_record_options, output)},
	{"one-file", 0, NULL, "the recording becomes one packed file at the end, not a folder",
		KWHY_OPTION_FLAG, offsetof(struct kwhy_record_options, one_file)},
	{"delay", 0, "S", "record from S seconds after the start on", KWHY_OPTION_NUMBER,
		offsetof(struct kwhy_record_options, delay_s)},
	{"duration", 0, "S", "record for S seconds; the command runs on", KWHY_OPTION_NUMBER,
		offsetof(struct kwhy_record_options, duration_s)},
	{"range", 0, "NAME", "what runs on the GPUs only inside NVTX ranges of that name, like 'step*'",
		KWHY_OPTION_TEXT, offsetof(struct kwhy_record_options, range)},
	{"duty", 0, "P%", "what runs on the GPUs only in random windows of P % of the time",
		KWHY_OPTION_NUMBER, offsetof(struct kwhy_record_options, duty_percent)},
	{"window", 0, "S", "mean length of these windows; default 0.3", KWHY_OPTION_NUMBER,
		offsetof(struct kwhy_record_options, window_s)},
	{"graphs", 0, "HOW", "CUDA graphs kernel by kernel (node, the default) or a row a launch (graph)",
		KWHY_OPTION_TEXT, offsetof(struct kwhy_record_options, graphs)},
	{"memory", 0, NULL, "memory taken and given back, too", KWHY_OPTION_FLAG,
		offsetof(struct kwhy_record_options, memory)},
	{"no-calls", 0, NULL, "leave calls of CUDA out: costs less, and does not tell what the host did",
		KWHY_OPTION_FLAG, offsetof(struct kwhy_record_options, no_calls)},
	{"gauges", 0, "S", "read clocks, temperatures and the like so often; default 1", KWHY_OPTION_NUMBER,
		offsetof(struct kwhy_record_options, gauges_s)},
	{"power-only", 0, NULL, "meters alone: load nothing into the command", KWHY_OPTION_FLAG,
		offsetof(struct kwhy_record_options, power_only)},
	{"max-size", 0, "BYTES", "no process writes more than that, like 500M", KWHY_OPTION_TEXT,
		offsetof(struct kwhy_record_options, limit)},
	{"work", 0, "UNIT[=WHAT]",
		"work: a number, REGEX in its output, or what it reports; may be given again",
		KWHY_OPTION_LIST, offsetof(struct kwhy_record_options, work)},
	{"count", 0, "UNIT=NAME", "work: as many units as NVTX ranges of that name ended; may be given again",
		KWHY_OPTION_LIST, offsetof(struct kwhy_record_options, counts)},
	{"device", 0, "LIST", "GPUs whose meters to read, like 0,2; default those CUDA shows",
		KWHY_OPTION_TEXT, offsetof(struct kwhy_record_options, devices)},
	{"meter", 0, "FILE", "a wall meter's power CSV, followed while it grows", KWHY_OPTION_LIST,
		offsetof(struct kwhy_record_options, meters)},
	{"replay", 0, "FILE", "play back a power CSV instead of this machine's meters", KWHY_OPTION_TEXT,
		offsetof(struct kwhy_record_options, replay)},
	{"progress", 0, NULL, "say meanwhile how long and how large it is, and what the GPUs draw",
		KWHY_OPTION_FLAG, offsetof(struct kwhy_record_options, progress)},
	{"quiet", 'q', NULL, "no report at the end", KWHY_OPTION_FLAG,
		offsetof(struct kwhy_record_options, quiet)},
	KWHY_OPTION_ROW_HELP,
	KWHY_OPTION_ROW_END,
};

const struct kwhy_command kwhy_command_record = {
	.name = "record",
	.operands = "[--] CMD [ARGS]",
	.summary = "Record what a command runs on its GPUs and what the meters see.",
	.details = "The command's input and output are its own; the first screen of the report goes to "
		   "standard error, and the exit status is the command's (127: not found, 126: cannot run).",
	.options = options_table,
	.options_bytes = sizeof(struct kwhy_record_options),
	.defaults = set_defaults,
	.run = run,
	.operand_is_command = true,
};

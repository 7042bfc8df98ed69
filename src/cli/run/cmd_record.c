/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/record_job.h"

#include <stddef.h>

struct record_options {
	struct kwhy_record_options record;
};

static void set_defaults(void *options)
{
	struct record_options *record = options;

	kwhy_record_options_init(&record->record);
}

static enum kwhy_status run(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	const struct record_options *options = invocation->options;

	return kwhy_record_job_run(&options->record, &invocation->operands, invocation->exit, error);
}

#define RECORD(member) offsetof(struct record_options, record.member)

static const struct kwhy_option options_table[] = {
	KWHY_OPTION_ROWS_RECORDING(struct record_options, record),
	{"digest", 0, "FOLDER",
		"write a digest of each rank there every minute and at the end; without -o keep nothing else",
		KWHY_OPTION_TEXT, RECORD(digest)},
	{"digest-every", 0, "S", "write digests every S seconds; default 60", KWHY_OPTION_NUMBER,
		RECORD(digest_every_s)},
	{"delay", 0, "S", "record from S seconds after the start on", KWHY_OPTION_NUMBER, RECORD(delay_s)},
	{"duration", 0, "S", "record for S seconds; the command runs on", KWHY_OPTION_NUMBER,
		RECORD(duration_s)},
	{"range", 0, "NAME", "what runs on the GPUs only inside NVTX ranges of that name, like 'step*'",
		KWHY_OPTION_TEXT, RECORD(range)},
	{"duty", 0, "P%", "what runs on the GPUs only in random windows of P % of the time",
		KWHY_OPTION_NUMBER, RECORD(duty_percent)},
	{"window", 0, "S", "mean length of these windows; default 0.3", KWHY_OPTION_NUMBER, RECORD(window_s)},
	{"graphs", 0, "HOW", "CUDA graphs kernel by kernel (node, the default) or a row a launch (graph)",
		KWHY_OPTION_TEXT, RECORD(graphs)},
	{"memory", 0, NULL, "memory taken and given back, too", KWHY_OPTION_FLAG, RECORD(memory)},
	{"no-calls", 0, NULL, "leave calls of CUDA out: costs less, and does not show what the host did",
		KWHY_OPTION_FLAG, RECORD(no_calls)},
	{"no-lines", 0, NULL, "leave out at which lines of the program its calls of CUDA are",
		KWHY_OPTION_FLAG, RECORD(no_lines)},
	{"power-only", 0, NULL, "meters alone: load nothing into the command", KWHY_OPTION_FLAG,
		RECORD(power_only)},
	{"progress", 0, NULL, "show progress: how long and how large it is, and what the GPUs draw",
		KWHY_OPTION_FLAG, RECORD(progress)},
	KWHY_OPTION_ROWS_RECORD(struct record_options, record),
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
	.options_bytes = sizeof(struct record_options),
	.defaults = set_defaults,
	.run = run,
	.operand_is_command = true,
};

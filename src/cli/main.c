/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

static const struct kwhy_command_group groups[] = {
	{"model", "Calculate from the figures of runs, sweeps and claims"},
	{"tune", "Find the setting of the GPU at which a command needs the least energy"},
	{"bench", "Measure the transfers and operations of this machine"},
	{NULL, NULL},
};

const struct kwhy_program kwhy_program = {
	.name = "kwhy",
	.purpose = "Where did the joules and the seconds of a GPU program go, and what would it save\n"
		   "to change that?\n",
	.notes = "\n'kwhy help COMMAND' shows its options, 'kwhy help bench' the commands of bench.\n"
		 "Exit status: 0 done, 1 failed, 2 wrong usage, 3 a condition of --fail-if holds\n"
		 "or kwhy doctor has advice.\n",
	.groups = groups,
};

const struct kwhy_command *const kwhy_commands[] = {
	&kwhy_command_record,
	&kwhy_command_probe,
	&kwhy_command_report,
	&kwhy_command_digest,
	&kwhy_command_compare,
	&kwhy_command_whatif,
	&kwhy_command_replay,
	&kwhy_command_doctor,
	&kwhy_command_export,
	&kwhy_command_stat,
	&kwhy_command_calibrate,
	&kwhy_command_verify,
	&kwhy_command_watch,
	&kwhy_command_serve,
	&kwhy_command_job,
	&kwhy_command_model_cost,
	&kwhy_command_model_carbon,
	&kwhy_command_model_tokens,
	&kwhy_command_model_power,
	&kwhy_command_model_cap,
	&kwhy_command_model_scale,
	&kwhy_command_model_roofline,
	&kwhy_command_model_audit,
	&kwhy_command_tune_cap,
	&kwhy_command_tune_clock,
	&kwhy_command_bench_transfer,
	&kwhy_command_bench_pairs,
	&kwhy_command_bench_ops,
	&kwhy_command_llm,
	&kwhy_command_mcp,
	&kwhy_command_study,
	&kwhy_command_help,
	&kwhy_command_version,
	NULL,
};

int main(int argc, char **argv)
{
	return kwhy_command_main(argc, argv);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/workload.h"

const struct kwhy_program kwhy_program = {
	.name = "kwhy-lab",
	.purpose = "Reference workloads in several variants: time and energy of each, on this machine.\n",
	.notes = "\n'kwhy-lab help COMMAND' shows its options.\n"
		 "Exit status: 0 done, 1 failed, 2 wrong usage.\n",
};

const struct kwhy_command *const kwhy_commands[] = {
	&lab_twin.command,
	&lab_flow.command,
	&lab_train.command,
	&lab_decode.command,
	&kwhy_command_help,
	&kwhy_command_version,
	NULL,
};

int main(int argc, char **argv)
{
	return kwhy_command_main(argc, argv);
}

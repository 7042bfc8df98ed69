/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/output.h"

static enum kwhy_status run(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	struct kwhy_text text = {0};
	enum kwhy_status status;

	(void)invocation;
	kwhy_text_addf(&text, "%s " KWHY_VERSION "\n", kwhy_program.name);
	status = kwhy_text_check(&text, error);
	if (!status)
		status = kwhy_output_write(NULL, &text, error);
	kwhy_text_done(&text);
	return status;
}

static const struct kwhy_option options[] = {
	KWHY_OPTION_ROW_HELP,
	KWHY_OPTION_ROW_END,
};

const struct kwhy_command kwhy_command_version = {
	.name = "version",
	.operands = "",
	.summary = "Print the version.",
	.options = options,
	.run = run,
};

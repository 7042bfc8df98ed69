/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/output.h"

#include <stddef.h>

struct help_options {
	bool all;
};

static void add_overview(struct kwhy_text *out)
{
	kwhy_text_addf(
		out, "usage: %s COMMAND [OPTIONS] ...\n\n%s\n", kwhy_program.name, kwhy_program.purpose);
	kwhy_command_overview_text(out);
	kwhy_text_add(out, kwhy_program.notes);
}

/*
 * Writes all commands and options for programs that read them: one line for each command and for each
 * option, with the fields COMMAND, --OPTION, -LETTER, ARGUMENT, HELP separated by tabs. "-" stands for a
 * missing field.
 */
static void add_listing(struct kwhy_text *out)
{
	for (size_t i = 0; kwhy_commands[i]; i++) {
		const struct kwhy_command *command = kwhy_commands[i];

		kwhy_text_addf(out, "%s\t-\t-\t%s\t%s\n", command->name,
			*command->operands ? command->operands : "-", command->summary);
		for (const struct kwhy_option *option = command->options; option->name; option++) {
			char letter[3] = {'-', option->letter, '\0'};

			kwhy_text_addf(out, "%s\t--%s\t%s\t%s\t%s\n", command->name, option->name, letter,
				option->argument ? option->argument : "-", option->help);
		}
	}
}

static enum kwhy_status run(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	const struct help_options *options = invocation->options;
	struct kwhy_text text = {0};
	enum kwhy_status status;

	if (invocation->operands.count)
		return kwhy_command_help_print(invocation->operands.items, invocation->operands.count, error);
	if (options->all)
		add_listing(&text);
	else
		add_overview(&text);
	status = kwhy_text_check(&text, error);
	if (!status)
		status = kwhy_output_write(NULL, &text, error);
	kwhy_text_done(&text);
	return status;
}

static const struct kwhy_option options_table[] = {
	{"all", 'a', NULL, "list every command and option, tab-separated", KWHY_OPTION_FLAG,
		offsetof(struct help_options, all)},
	KWHY_OPTION_ROW_HELP,
	KWHY_OPTION_ROW_END,
};

const struct kwhy_command kwhy_command_help = {
	.name = "help",
	.operands = "[COMMAND]",
	.summary = "List the commands, or show the options of one.",
	.options = options_table,
	.options_bytes = sizeof(struct help_options),
	.run = run,
};

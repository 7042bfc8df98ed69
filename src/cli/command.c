/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include "cli/output.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct kwhy_command *const kwhy_commands[] = {
	&kwhy_command_record,
	&kwhy_command_report,
	&kwhy_command_compare,
	&kwhy_command_doctor,
	&kwhy_command_export,
	&kwhy_command_stat,
	&kwhy_command_calibrate,
	&kwhy_command_verify,
	&kwhy_command_watch,
	&kwhy_command_serve,
	&kwhy_command_help,
	&kwhy_command_version,
	NULL,
};

const struct kwhy_command *kwhy_command_find(const char *name)
{
	for (size_t i = 0; kwhy_commands[i]; i++)
		if (strcmp(kwhy_commands[i]->name, name) == 0)
			return kwhy_commands[i];
	return NULL;
}

enum { WORD_LIMIT = 32 };

static size_t smallest(size_t a, size_t b, size_t c)
{
	size_t least = a < b ? a : b;

	return least < c ? least : c;
}

/* Letters to change, add or drop between two words of fewer than WORD_LIMIT letters. */
static size_t distance(const char *a, const char *b)
{
	size_t row[WORD_LIMIT + 1], length = strlen(b);

	for (size_t j = 0; j <= length; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		size_t diagonal = row[0];

		row[0] = i + 1;
		for (size_t j = 0; j < length; j++) {
			size_t above = row[j + 1];

			row[j + 1] = smallest(above + 1, row[j] + 1, diagonal + (a[i] != b[j]));
			diagonal = above;
		}
	}
	return row[length];
}

enum kwhy_status kwhy_command_unknown(const char *name, struct kwhy_error *error)
{
	const char *nearest = NULL;
	size_t best = 3;

	for (size_t i = 0; strlen(name) < WORD_LIMIT && kwhy_commands[i]; i++) {
		size_t away = distance(name, kwhy_commands[i]->name);

		if (away < best) {
			best = away;
			nearest = kwhy_commands[i]->name;
		}
	}
	if (nearest)
		return kwhy_fail(error, KWHY_E_USAGE, "'%.60s' is not a kwhy command; did you mean '%s'?",
			name, nearest);
	return kwhy_fail(error, KWHY_E_USAGE, "'%.60s' is not a kwhy command; 'kwhy help' lists them", name);
}

void kwhy_command_help_text(const struct kwhy_command *command, struct kwhy_text *out)
{
	kwhy_text_addf(out, "usage: kwhy %s%s%s%s\n\n%s\n", command->name,
		command->options[0].name ? " [OPTIONS]" : "", *command->operands ? " " : "",
		command->operands, command->summary);
	if (command->options[0].name)
		kwhy_text_add(out, "\n");
	kwhy_options_help(command->options, out);
	if (command->details)
		kwhy_text_addf(out, "\n%s\n", command->details);
}

static void add_quoted(struct kwhy_text *line, const char *word)
{
	bool plain = *word &&
		!word[strspn(word,
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
			"-_=+./:,%@")];

	if (plain) {
		kwhy_text_add(line, word);
		return;
	}
	kwhy_text_add(line, "'");
	for (; *word; word++)
		if (*word == '\'')
			kwhy_text_add(line, "'\\''");
		else
			kwhy_text_add_bytes(line, word, 1);
	kwhy_text_add(line, "'");
}

/* The command line as a shell would take it again, made valid UTF-8 without control characters. */
static char *command_line(int argc, char **argv)
{
	struct kwhy_text line = {0};
	char *clean;

	kwhy_text_add(&line, "kwhy");
	for (int i = 1; i < argc; i++) {
		kwhy_text_add(&line, " ");
		add_quoted(&line, argv[i]);
	}
	clean = line.failed ? NULL : malloc(3 * line.length + 1);
	if (clean)
		kwhy_text_sanitize(clean, line.data, line.length);
	kwhy_text_done(&line);
	return clean;
}

static enum kwhy_status print_help(const struct kwhy_command *command, struct kwhy_error *error)
{
	struct kwhy_text text = {0};
	enum kwhy_status status;

	kwhy_command_help_text(command, &text);
	status = kwhy_text_check(&text, error);
	if (!status)
		status = kwhy_output_write(NULL, &text, error);
	kwhy_text_done(&text);
	return status;
}

static enum kwhy_status run_parsed(const struct kwhy_command *command, struct kwhy_invocation *invocation,
	int argc, char **argv, struct kwhy_error *error)
{
	char *line;
	enum kwhy_status status;

	if (invocation->operands.help)
		return print_help(command, error);
	line = command_line(argc, argv);
	if (!line)
		return kwhy_fail_memory(error, "the command line");
	invocation->line = line;
	status = command->run(invocation, error);
	free(line);
	return status;
}

/* argv[0] is the program, argv[1] the command. */
static enum kwhy_status run(const struct kwhy_command *command, int argc, char **argv,
	enum kwhy_exit *out_exit, struct kwhy_error *error)
{
	struct kwhy_invocation invocation = {.exit = out_exit};
	void *options = calloc(1, command->options_bytes + 1);
	char **arguments = malloc(((size_t)argc + 1) * sizeof(*arguments));
	enum kwhy_status status;

	if (!options || !arguments) {
		status = kwhy_fail_memory(error, "the command line");
	} else {
		memcpy(arguments, argv, ((size_t)argc + 1) * sizeof(*arguments));
		invocation.options = options;
		if (command->defaults)
			command->defaults(options);
		status = kwhy_options_parse(command->options, command->operand_is_command, argc - 1,
			arguments + 1, options, &invocation.operands, error);
		if (!status)
			status = run_parsed(command, &invocation, argc, argv, error);
		kwhy_options_done(command->options, options);
	}
	free(arguments);
	free(options);
	return status;
}

/* "--help" and "--version" are commands too when they come first. */
static const char *first_word(int argc, char **argv)
{
	static const struct {
		const char *given, *command;
	} aliases[] = {{"--help", "help"}, {"-h", "help"}, {"--version", "version"}, {"-V", "version"}};

	for (size_t i = 0; argc > 1 && i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (strcmp(argv[1], aliases[i].given) == 0)
			return aliases[i].command;
	return argc > 1 ? argv[1] : "";
}

static int exit_status(enum kwhy_status status, enum kwhy_exit done)
{
	if (status == KWHY_E_USAGE)
		return KWHY_EXIT_USAGE;
	return status ? KWHY_EXIT_FAILED : (int)done;
}

int kwhy_command_main(int argc, char **argv)
{
	const char *name = first_word(argc, argv);
	const struct kwhy_command *command = kwhy_command_find(name);
	enum kwhy_exit done = KWHY_EXIT_DONE;
	struct kwhy_error error = {0};
	enum kwhy_status status;

	if (argc < 2)
		status = kwhy_fail(&error, KWHY_E_USAGE, "no command given; 'kwhy help' lists them");
	else if (!command && name[0] == '-')
		status = kwhy_fail(&error, KWHY_E_USAGE, "unknown option '%.60s'", name);
	else if (!command)
		status = kwhy_command_unknown(name, &error);
	else
		status = run(command, argc, argv, &done, &error);
	if (status) {
		kwhy_output_message(error.text);
		if (status == KWHY_E_USAGE && command)
			fprintf(stderr, "see 'kwhy help %s'\n", command->name);
	}
	return exit_status(status, done);
}

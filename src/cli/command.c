/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include "base/file.h"
#include "cli/output.h"
#include "cli/overwrite.h"
#include "cli/recordings/download.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Writes usage, options and details of one command. */
static void write_help(const struct kwhy_command *command, struct kwhy_text *out)
{
	kwhy_text_addf(out, "usage: %s %s%s%s%s\n\n", kwhy_program.name, command->name,
		command->options[0].name ? " [OPTIONS]" : "", *command->operands ? " " : "",
		command->operands);
	kwhy_help_wrap(out, command->summary, 0);
	if (command->options[0].name)
		kwhy_text_add(out, "\n");
	kwhy_options_help(command->options, out);
	if (command->details) {
		kwhy_text_add(out, "\n");
		kwhy_help_wrap(out, command->details, 0);
	}
}

void kwhy_command_add_word(struct kwhy_text *line, const char *word)
{
	bool plain = *word &&
		!word[strspn(
			word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+./:,%@")];

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

/*
 * The command line as a shell would read it, with words quoted where needed. It is valid UTF-8 without
 * control characters.
 */
static char *command_line(int argc, char **argv)
{
	struct kwhy_text line = {0};
	char *clean;

	kwhy_text_add(&line, kwhy_program.name);
	for (int i = 1; i < argc; i++) {
		kwhy_text_add(&line, " ");
		kwhy_command_add_word(&line, argv[i]);
	}
	clean = line.failed ? NULL : malloc(3 * line.length + 1);
	if (clean)
		kwhy_text_sanitize(clean, line.data, line.length);
	kwhy_text_done(&line);
	return clean;
}

/* Prints the help of `command` or, if it is NULL, the help of the group of commands that `group` names. */
static enum kwhy_status print_help(
	const struct kwhy_command *command, const char *group, struct kwhy_error *error)
{
	struct kwhy_text text = {0};
	enum kwhy_status status;

	if (command)
		write_help(command, &text);
	else
		kwhy_command_group_text(group, &text);
	status = kwhy_text_check(&text, error);
	if (!status)
		status = kwhy_output_write(NULL, &text, error);
	kwhy_text_done(&text);
	return status;
}

enum kwhy_status kwhy_command_help_print(char *const *words, size_t count, struct kwhy_error *error)
{
	const struct kwhy_command *command = kwhy_command_find(words, count);

	if (count > 2 || (count == 2 && command && kwhy_command_word_count(command) == 1))
		return kwhy_fail(error, KWHY_E_USAGE, "help takes one command at a time");
	if (!command && (count > 1 || !kwhy_command_group_find(words[0])))
		return kwhy_command_unknown(words, count, error);
	return print_help(command, words[0], error);
}

static enum kwhy_status run_parsed(const struct kwhy_command *command, struct kwhy_invocation *invocation,
	int argc, char **argv, struct kwhy_error *error)
{
	char *line;
	enum kwhy_status status;

	if (invocation->operands.help)
		return print_help(command, NULL, error);
	if (!*command->operands && invocation->operands.count)
		return kwhy_fail(error, KWHY_E_USAGE, "%s takes options alone, not '%.60s'", command->name,
			invocation->operands.items[0]);
	status = kwhy_overwrite_check(command->options, invocation->options, invocation->operands.items,
		command->operand_is_command ? 0 : invocation->operands.count, error);
	if (status)
		return status;
	line = command_line(argc, argv);
	if (!line)
		return kwhy_fail_memory(error, "the command line");
	invocation->line = line;
	status = command->run(invocation, error);
	free(line);
	return status;
}

/*
 * Adds "--backend host needs no GPU" to an error if the command has the option --backend and the user did not
 * choose the host back end.
 */
static void name_host_backend(
	const struct kwhy_command *command, const void *options, struct kwhy_error *error)
{
	const size_t length = strlen(error->text);

	for (const struct kwhy_option *option = command->options; option && option->name; option++) {
		const char *backend;

		if (strcmp(option->name, "backend") != 0)
			continue;
		memcpy(&backend, (const char *)options + option->offset, sizeof(backend));
		if (strcmp(backend, "host") != 0)
			snprintf(error->text + length, sizeof(error->text) - length,
				"; --backend host needs no GPU");
	}
}

/* Runs a command. argv[0] is the program's name, and the words of the command follow. */
static enum kwhy_status run(const struct kwhy_command *command, int argc, char **argv,
	enum kwhy_exit *out_exit, struct kwhy_error *error)
{
	struct kwhy_invocation invocation = {.exit = out_exit};
	void *options = calloc(1, command->options_bytes + 1);
	char **arguments = malloc(((size_t)argc + 1) * sizeof(*arguments));
	int words = (int)kwhy_command_word_count(command);
	enum kwhy_status status;

	if (!options || !arguments) {
		status = kwhy_fail_memory(error, "the command line");
	} else {
		memcpy(arguments, argv, ((size_t)argc + 1) * sizeof(*arguments));
		invocation.options = options;
		if (command->defaults)
			command->defaults(options);
		status = kwhy_options_parse(command->options, command->operand_is_command, argc - words,
			arguments + words, options, &invocation.operands, error);
		if (!status)
			status = run_parsed(command, &invocation, argc, argv, error);
		if (status == KWHY_E_UNSUPPORTED)
			name_host_backend(command, options, error);
		kwhy_options_done(command->options, options);
	}
	free(arguments);
	free(options);
	return status;
}

/*
 * Finds the command whose name is the first word, or the first two words, after the program's name; NULL:
 * there is none. "--help" and "-h" as first word stand for the command help, "--version" and "-V" for the
 * command version.
 */
static const struct kwhy_command *command_of(int argc, char **argv)
{
	static const struct {
		const char *given;
		const struct kwhy_command *command;
	} aliases[] = {{"--help", &kwhy_command_help}, {"-h", &kwhy_command_help},
		{"--version", &kwhy_command_version}, {"-V", &kwhy_command_version}};

	for (size_t i = 0; argc > 1 && i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (strcmp(argv[1], aliases[i].given) == 0)
			return aliases[i].command;
	return argc > 1 ? kwhy_command_find(argv + 1, (size_t)argc - 1) : NULL;
}

/*
 * Handles a command line that names no command. If it is that of a group with --help or -h, prints the
 * group's commands; otherwise fails with KWHY_E_USAGE.
 */
static enum kwhy_status run_unknown(int argc, char **argv, struct kwhy_error *error)
{
	char *const *words = argv + 1;

	if (argc < 2)
		return kwhy_fail(
			error, KWHY_E_USAGE, "no command given; '%s help' lists them", kwhy_program.name);
	if (words[0][0] == '-')
		return kwhy_fail(error, KWHY_E_USAGE, "unknown option '%.60s'", words[0]);
	if (kwhy_command_group_find(words[0]) && argc > 2 &&
		(strcmp(words[1], "--help") == 0 || strcmp(words[1], "-h") == 0))
		return print_help(NULL, words[0], error);
	return kwhy_command_unknown(words, (size_t)argc - 1, error);
}

/*
 * After a wrong command line, prints on standard error: if the command line names a command, how to get its
 * help; if it names only a group of commands, the commands of that group.
 */
static void show_usage(const struct kwhy_command *command, int argc, char **argv)
{
	struct kwhy_text text = {0};

	if (command)
		kwhy_text_addf(&text, "see '%s help %s'\n", kwhy_program.name, command->name);
	else if (argc == 2 && kwhy_command_group_find(argv[1]))
		kwhy_command_group_text(argv[1], &text);
	if (!text.failed && text.length)
		fputs(text.data, stderr);
	kwhy_text_done(&text);
}

static int exit_status(enum kwhy_status status, enum kwhy_exit done)
{
	if (status == KWHY_E_USAGE)
		return KWHY_EXIT_USAGE;
	return status ? KWHY_EXIT_FAILED : (int)done;
}

/*
 * Opens /dev/null for those of the file descriptors 0, 1 and 2 that are closed. Otherwise a file that is
 * opened later could get one of these numbers, and messages would go into that file. Descriptor 0 is opened
 * for writing only, and 1 and 2 for reading only, so that using them fails as on closed descriptors, also in
 * commands that kwhy starts.
 */
static void hold_standard_files(void)
{
	for (int file = STDIN_FILENO; file <= STDERR_FILENO; file++)
		if (fcntl(file, F_GETFD) < 0)
			(void)open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

static void end_by(int number)
{
	kwhy_file_remove_unfinished();
	kwhy_download_remove_unfinished();
	raise(number); /* SA_RESETHAND has restored the signal's default action, which ends the program when
			  this handler returns */
}

/*
 * Installs a handler that removes temporary files before SIGINT, SIGTERM or SIGHUP ends the program, unless
 * the signal is ignored. Commands that handle these signals themselves replace it.
 */
static void watch_ends(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	const struct sigaction action = {.sa_handler = end_by, .sa_flags = (int)SA_RESETHAND};
	struct sigaction before;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (!sigaction(numbers[i], NULL, &before) && before.sa_handler == SIG_DFL)
			sigaction(numbers[i], &action, NULL);
}

int kwhy_command_main(int argc, char **argv)
{
	const struct kwhy_command *command = command_of(argc, argv);
	enum kwhy_exit done = KWHY_EXIT_DONE;
	struct kwhy_error error = {0};
	enum kwhy_status status;

	hold_standard_files();
	/*
	 * the parent process may have set SIGCHLD to be ignored; exit statuses of children would then be lost
	 */
	signal(SIGCHLD, SIG_DFL);
	watch_ends();
	signal(SIGXFSZ, SIG_IGN); /* a write beyond the limit of file sizes then fails as on a full disk,
				     instead of ending the program */
	if (command)
		status = run(command, argc, argv, &done, &error);
	else
		status = run_unknown(argc, argv, &error);
	if (status)
		kwhy_output_message(error.text);
	if (status == KWHY_E_USAGE)
		show_usage(command, argc, argv);
	return exit_status(status, done);
}

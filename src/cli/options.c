/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"

#include "cli/output.h"
#include "cli/spelling.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPTION_LIMIT = 64, LONG_BASE = 256, HELP_COLUMN = 27, HELP_WIDTH = 80 };

/*
 * Former names of options, with their present names. A former name is accepted with a warning by commands
 * that have the option of the present name, and is not shown in the help.
 */
static const struct former {
	const char *former, *name;
} formers[] = {{"replay", "power-file"}, {"profile", "machine-profile"}, {"profile", "update-profile"},
	{"clock", "timing"}, {"collectives", "collective-names"}};

enum { FORMERS = sizeof(formers) / sizeof(formers[0]) };

/* The options in the form of getopt_long(). */
struct getopt_table {
	struct option longs[OPTION_LIMIT + FORMERS + 1];
	char letters[2 * OPTION_LIMIT + 4];
	size_t count;
};

/*
 * Whether the argument of an option is optional. An optional argument must be written as --OPTION=ARGUMENT,
 * because the next word could be an operand.
 */
static bool may_be_left_out(const struct kwhy_option *option)
{
	return option->argument && option->argument[0] == '[';
}

static int has_argument(const struct kwhy_option *option)
{
	if (may_be_left_out(option))
		return optional_argument;
	return option->argument ? required_argument : no_argument;
}

static size_t find_name(const struct kwhy_option *options, const char *name)
{
	size_t i = 0;

	while (options[i].name && strcmp(options[i].name, name) != 0)
		i++;
	return i;
}

/*
 * Appends the former names of the command's options to the names for getopt_long(), unless the command now
 * has another option of that name.
 */
static void add_formers(struct getopt_table *table, const struct kwhy_option *options)
{
	size_t at = table->count;

	for (size_t i = 0; i < FORMERS; i++) {
		size_t now = find_name(options, formers[i].name);

		if (now >= table->count || options[find_name(options, formers[i].former)].name)
			continue;
		table->longs[at] = table->longs[now];
		table->longs[at++].name = formers[i].former;
	}
}

static void table_make(struct getopt_table *table, const struct kwhy_option *options, bool first_operand_ends)
{
	char *letter = table->letters;

	*table = (struct getopt_table){0};
	if (first_operand_ends)
		*letter++ = '+';
	*letter++ = ':';
	for (; options[table->count].name && table->count < OPTION_LIMIT; table->count++) {
		const struct kwhy_option *option = &options[table->count];

		table->longs[table->count] = (struct option){.name = option->name,
			.has_arg = has_argument(option),
			.val = LONG_BASE + (int)table->count};
		if (!option->letter)
			continue;
		*letter++ = option->letter;
		if (option->argument)
			*letter++ = ':';
	}
	add_formers(table, options);
}

/*
 * The option that getopt_long() found. `found` is what getopt_long() returned: the option's letter, or
 * LONG_BASE plus the option's index in `options`.
 */
static const struct kwhy_option *option_of(const struct kwhy_option *options, int found)
{
	if (found >= LONG_BASE)
		return &options[found - LONG_BASE];
	for (; options->name; options++)
		if (options->letter == found)
			return options;
	return NULL;
}

static enum kwhy_status add_string(struct kwhy_strings *list, const char *value, struct kwhy_error *error)
{
	const char **items = realloc(list->items, (list->count + 1) * sizeof(*items));

	if (!items)
		return kwhy_fail_memory(error, "the command line");
	items[list->count++] = value;
	list->items = items;
	return KWHY_OK;
}

static enum kwhy_status set_number(
	const struct kwhy_option *option, const char *value, double *out, struct kwhy_error *error)
{
	char *end;
	double number = strtod(value, &end);

	if (end == value || (strcmp(end, "") != 0 && strcmp(end, "%") != 0) || !isfinite(number))
		return kwhy_fail(
			error, KWHY_E_USAGE, "--%s takes a number, not '%.100s'", option->name, value);
	*out = number;
	return KWHY_OK;
}

static enum kwhy_status set_count(
	const struct kwhy_option *option, const char *value, uint64_t *out, struct kwhy_error *error)
{
	char *end;
	unsigned long long number;

	errno = 0;
	number = strtoull(value, &end, 10);
	if (*value < '0' || *value > '9' || *end || errno || number == KWHY_COUNT_NOT_GIVEN)
		return kwhy_fail(
			error, KWHY_E_USAGE, "--%s takes a whole number, not '%.100s'", option->name, value);
	*out = number;
	return KWHY_OK;
}

/* Refuses "--" as the value of an option, because users write "--" to end the options. */
static enum kwhy_status check_text(
	const struct kwhy_option *option, const char *value, struct kwhy_error *error)
{
	if (!value || strcmp(value, "--") != 0)
		return KWHY_OK;
	return kwhy_fail(
		error, KWHY_E_USAGE, "option --%s needs its %s before '--'", option->name, option->argument);
}

static enum kwhy_status set_option(
	const struct kwhy_option *option, const char *value, void *target, struct kwhy_error *error)
{
	void *field = (char *)target + option->offset;

	switch (option->kind) {
	case KWHY_OPTION_FLAG:
		*(bool *)field = true;
		return KWHY_OK;
	case KWHY_OPTION_TEXT:
		*(const char **)field = value;
		return check_text(option, value, error);
	case KWHY_OPTION_LIST:
		return check_text(option, value, error) ? KWHY_E_USAGE : add_string(field, value, error);
	case KWHY_OPTION_NUMBER:
		return set_number(option, value, field, error);
	case KWHY_OPTION_COUNT:
		return set_count(option, value ? value : "0", field, error);
	default:
		return KWHY_OK;
	}
}

/*
 * Fails for an unknown option "--name" or "--name=value". The error names the option whose name is most
 * similar.
 */
static enum kwhy_status fail_unknown(
	const struct kwhy_option *options, const char *given, struct kwhy_error *error)
{
	const char *nearest = NULL;
	size_t best = KWHY_SPELLING_FAR;
	char name[KWHY_SPELLING_LETTERS + 2];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(given + 2, "="), given + 2);
	for (; options->name; options++) {
		size_t away = kwhy_spelling_distance(name, options->name, strlen(options->name));

		if (away >= best)
			continue;
		best = away;
		nearest = options->name;
	}
	if (nearest)
		return kwhy_fail(
			error, KWHY_E_USAGE, "unknown option '%.100s'; did you mean --%s?", given, nearest);
	return kwhy_fail(error, KWHY_E_USAGE, "unknown option '%.100s'", given);
}

static enum kwhy_status fail_option(
	int found, const struct kwhy_option *options, char *const *argv, int at, struct kwhy_error *error)
{
	const struct kwhy_option *option = optopt ? option_of(options, optopt) : NULL;

	if (found == ':' && option)
		return kwhy_fail(
			error, KWHY_E_USAGE, "option --%s needs its %s", option->name, option->argument);
	if (option)
		return kwhy_fail(error, KWHY_E_USAGE, "option --%s takes no argument", option->name);
	if (optopt)
		return kwhy_fail(error, KWHY_E_USAGE, "unknown option -%c", optopt);
	return fail_unknown(options, argv[at], error);
}

/*
 * Refuses a number after an option whose argument is optional: users mean it as the argument, but it would
 * count as an operand. A number that is the name of a file is accepted.
 */
static enum kwhy_status check_next(
	const struct kwhy_option *option, const char *next, struct kwhy_error *error)
{
	if (!may_be_left_out(option) || optarg || !next || !*next || next[strspn(next, "0123456789")] ||
		access(next, F_OK) == 0)
		return KWHY_OK;
	return kwhy_fail(error, KWHY_E_USAGE, "the number of --%s follows an equals sign: --%s=%.20s",
		option->name, option->name, next);
}

/*
 * Warns if an option was given by a former name. `at` is the index in table->longs of the name that was
 * given; -1: the option was given by its letter.
 */
static void warn_of_former(const struct getopt_table *table, const struct kwhy_option *options, int at)
{
	char text[160];

	if (at < (int)table->count)
		return;
	snprintf(text, sizeof(text), "option --%s is now called --%s", table->longs[at].name,
		options[table->longs[at].val - LONG_BASE].name);
	kwhy_output_message(text);
}

/*
 * Number of words after the first "--"; 0: there is none. "--" always ends the options, because no option
 * takes it as its value.
 */
static size_t count_after_dashes(int argc, char *const *argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--") == 0)
			return (size_t)(argc - i - 1);
	return 0;
}

enum kwhy_status kwhy_options_parse(const struct kwhy_option *options, bool first_operand_ends, int argc,
	char **argv, void *target, struct kwhy_operands *out, struct kwhy_error *error)
{
	struct getopt_table table;
	enum kwhy_status status = KWHY_OK;
	bool help = false;
	const size_t after_dashes = count_after_dashes(
		argc, argv); /* must be counted before getopt_long() reorders the words */
	int found, at = -1;

	table_make(&table, options, first_operand_ends);
	optind = 0; /* 0 makes glibc's getopt_long() start anew, although an earlier call may have read
		       another command line */
	opterr = 0;
	while (!status && (found = getopt_long(argc, argv, table.letters, table.longs, &at)) != -1) {
		if (found == '?' || found == ':')
			return fail_option(found, options, argv, optind - 1, error);
		warn_of_former(&table, options, at);
		at = -1;
		help |= option_of(options, found)->kind == KWHY_OPTION_HELP;
		status = check_next(option_of(options, found), argv[optind], error);
		if (!status)
			status = set_option(option_of(options, found), optarg, target, error);
	}
	if (!status)
		*out = (struct kwhy_operands){argv + optind, (size_t)(argc - optind), after_dashes, help};
	return status;
}

void kwhy_options_done(const struct kwhy_option *options, void *target)
{
	for (; options->name; options++) {
		struct kwhy_strings *list = (struct kwhy_strings *)((char *)target + options->offset);

		if (options->kind != KWHY_OPTION_LIST)
			continue;
		free(list->items);
		*list = (struct kwhy_strings){0};
	}
}

void kwhy_help_wrap(struct kwhy_text *out, const char *text, size_t indent)
{
	size_t column = indent;

	while (*text) {
		size_t gap = strspn(text, " "), word = strcspn(text + gap, " \n");

		if (column > indent && column + gap + word > HELP_WIDTH) {
			kwhy_text_add(out, "\n");
			kwhy_text_repeat(out, ' ', indent);
			column = indent;
		} else {
			kwhy_text_repeat(out, ' ', gap);
			column += gap;
		}
		kwhy_text_add_bytes(out, text + gap, word);
		column += word;
		text += gap + word;
		if (*text == '\n') {
			kwhy_text_add(out, "\n");
			kwhy_text_repeat(out, ' ', indent);
			column = indent;
			text++;
		}
	}
	kwhy_text_add(out, "\n");
}

void kwhy_options_help(const struct kwhy_option *options, struct kwhy_text *out)
{
	for (; options->name; options++) {
		size_t start = out->length, used;

		if (options->letter)
			kwhy_text_addf(out, "  -%c, ", options->letter);
		else
			kwhy_text_add(out, "      ");
		if (may_be_left_out(options))
			kwhy_text_addf(out, "--%s[=%s", options->name, options->argument + 1);
		else
			kwhy_text_addf(out, "--%s%s%s", options->name, options->argument ? " " : "",
				options->argument ? options->argument : "");
		used = out->length - start;
		if (used >= HELP_COLUMN) {
			kwhy_text_add(out, "\n");
			used = 0;
		}
		kwhy_text_repeat(out, ' ', HELP_COLUMN - used);
		kwhy_help_wrap(out, options->help, HELP_COLUMN);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/spelling.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 2 * KWHY_SPELLING_LETTERS + 2 };

/* Number of bytes in the first word of a command's name. */
static size_t first_letters(const struct kwhy_command *command)
{
	return strcspn(command->name, " ");
}

static bool is_of_group(const struct kwhy_command *command, const char *group)
{
	size_t letters = first_letters(command);

	return command->name[letters] && strlen(group) == letters &&
		memcmp(command->name, group, letters) == 0;
}

bool kwhy_command_group_find(const char *word)
{
	for (size_t i = 0; kwhy_commands[i]; i++)
		if (is_of_group(kwhy_commands[i], word))
			return true;
	return false;
}

size_t kwhy_command_word_count(const struct kwhy_command *command)
{
	return command->name[first_letters(command)] ? 2 : 1;
}

static const struct kwhy_command *find_name(const char *name)
{
	for (size_t i = 0; kwhy_commands[i]; i++)
		if (strcmp(kwhy_commands[i]->name, name) == 0)
			return kwhy_commands[i];
	return NULL;
}

const struct kwhy_command *kwhy_command_find(char *const *words, size_t count)
{
	char name[NAME_BYTES];
	const struct kwhy_command *found = NULL;

	if (count > 1 && snprintf(name, sizeof(name), "%s %s", words[0], words[1]) < (int)sizeof(name))
		found = find_name(name);
	return found || !count ? found : find_name(words[0]);
}

/*
 * The command whose first word is most similar to `word` or, if `group` is not NULL, the command of this
 * group whose second word is most similar to `word`. NULL: no word is similar enough.
 */
static const struct kwhy_command *nearest_of(const char *word, const char *group)
{
	const struct kwhy_command *nearest = NULL;
	size_t best = KWHY_SPELLING_FAR;

	for (size_t i = 0; kwhy_commands[i]; i++) {
		const struct kwhy_command *command = kwhy_commands[i];
		size_t letters = first_letters(command), away;

		if (group && !is_of_group(command, group))
			continue;
		away = group ? kwhy_spelling_distance(
				       word, command->name + letters + 1, strlen(command->name) - letters - 1)
			     : kwhy_spelling_distance(word, command->name, letters);
		if (away < best) {
			best = away;
			nearest = command;
		}
	}
	return nearest;
}

enum kwhy_status kwhy_command_unknown(char *const *words, size_t count, struct kwhy_error *error)
{
	bool in_group = kwhy_command_group_find(words[0]);
	const char *group = in_group ? words[0] : "", *second = in_group && count > 1 ? words[1] : "";
	const struct kwhy_command *nearest;

	if (in_group && (!*second || *second == '-'))
		return kwhy_fail(error, KWHY_E_USAGE,
			"'%.60s' needs a second word; 'kwhy help %.60s' lists them", group, group);
	nearest = in_group ? nearest_of(second, group) : nearest_of(words[0], NULL);
	if (nearest)
		return kwhy_fail(error, KWHY_E_USAGE,
			"'%.60s%s%.60s' is not a kwhy command; did you mean '%.*s'?", words[0],
			in_group ? " " : "", second,
			(int)(in_group ? strlen(nearest->name) : first_letters(nearest)), nearest->name);
	return kwhy_fail(error, KWHY_E_USAGE,
		"'%.60s%s%.60s' is not a kwhy command; 'kwhy help%s%.60s' lists them", words[0],
		in_group ? " " : "", second, in_group ? " " : "", group);
}

void kwhy_command_group_text(const char *group, struct kwhy_text *out)
{
	kwhy_text_addf(out, "usage: kwhy %s COMMAND [OPTIONS] ...\n\n", group);
	for (size_t i = 0; kwhy_commands[i]; i++)
		if (is_of_group(kwhy_commands[i], group)) {
			kwhy_text_addf(out, "  %-16s ", kwhy_commands[i]->name);
			kwhy_help_wrap(out, kwhy_commands[i]->summary, 19);
		}
	kwhy_text_addf(out, "\n'kwhy help %s COMMAND' shows its options.\n", group);
}

/* Whether the command at an index of the table is the first of its group. */
static bool opens_group(size_t at)
{
	char group[KWHY_SPELLING_LETTERS];

	snprintf(
		group, sizeof(group), "%.*s", (int)first_letters(kwhy_commands[at]), kwhy_commands[at]->name);
	for (size_t i = 0; i < at; i++)
		if (is_of_group(kwhy_commands[i], group))
			return false;
	return true;
}

/* The summary of a group; NULL: the program has no summary of this group. */
static const char *summary_of(const char *group)
{
	for (const struct kwhy_command_group *row = kwhy_program.groups; row && row->name; row++)
		if (strcmp(row->name, group) == 0)
			return row->summary;
	return NULL;
}

/*
 * Writes the line of the group that the command at index `at` belongs to: the group's name, its summary, and
 * the second words of its commands.
 */
static void add_group(size_t at, struct kwhy_text *out)
{
	size_t letters = first_letters(kwhy_commands[at]);
	char group[KWHY_SPELLING_LETTERS];
	struct kwhy_text line = {0};
	const char *summary, *before;

	snprintf(group, sizeof(group), "%.*s", (int)letters, kwhy_commands[at]->name);
	summary = summary_of(group);
	kwhy_text_add(&line, summary ? summary : "");
	before = summary ? ": " : "";
	for (size_t i = at; kwhy_commands[i]; i++)
		if (is_of_group(kwhy_commands[i], group)) {
			kwhy_text_addf(&line, "%s%s", before, kwhy_commands[i]->name + letters + 1);
			before = ", ";
		}
	kwhy_text_addf(out, "  %-10s ", group);
	if (!line.failed)
		kwhy_help_wrap(out, line.data, 13);
	out->failed |= line.failed;
	kwhy_text_done(&line);
}

void kwhy_command_overview_text(struct kwhy_text *out)
{
	for (size_t i = 0; kwhy_commands[i]; i++)
		if (kwhy_command_word_count(kwhy_commands[i]) == 1) {
			kwhy_text_addf(out, "  %-10s ", kwhy_commands[i]->name);
			kwhy_help_wrap(out, kwhy_commands[i]->summary, 13);
		} else if (opens_group(i)) {
			add_group(i, out);
		}
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "import/collectives.h"

#include "base/collective_name.h"
#include "base/column.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE_MAX_BYTES = 1 << 20 };

struct kwhy_collectives {
	char *text; /* the user's table, split into lines by NULs; NULL: there is none */
	const char **patterns;
	size_t count, capacity;
};

static enum kwhy_status add_pattern(
	struct kwhy_collectives *table, const char *pattern, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_column_reserve((void **)&table->patterns, &table->capacity,
		table->count + 1, sizeof(*table->patterns), "patterns of collectives", error);

	if (!status)
		table->patterns[table->count++] = pattern;
	return status;
}

/* The line without the white space around it, changed in place. A comment line ('#') becomes empty. */
static char *trimmed(char *line)
{
	size_t length;

	line += strspn(line, " \t\r");
	length = *line == '#' ? 0 : strlen(line);
	while (length > 0 && strchr(" \t\r", line[length - 1]))
		length--;
	line[length] = '\0';
	return line;
}

static enum kwhy_status add_lines(struct kwhy_collectives *table, const char *path, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	char *rest = table->text, *line;

	for (size_t number = 1; !status && (line = strsep(&rest, "\n")) != NULL; number++) {
		const char *pattern = trimmed(line);

		if (!strcmp(pattern, "!"))
			return kwhy_fail(error, KWHY_E_INPUT,
				"%s, line %zu: nothing follows the '!'; write the pattern after it", path,
				number);
		if (*pattern)
			status = add_pattern(table, pattern, error);
	}
	return status;
}

static enum kwhy_status read_text(
	struct kwhy_collectives *table, FILE *file, const char *path, struct kwhy_error *error)
{
	size_t size;

	table->text = malloc(TABLE_MAX_BYTES + 1);
	if (!table->text)
		return kwhy_fail_memory(error, "the table of collectives");
	size = fread(table->text, 1, TABLE_MAX_BYTES + 1, file);
	if (ferror(file))
		return kwhy_fail(
			error, KWHY_E_IO, "%s cannot be read: %s; name a text file", path, strerror(errno));
	if (size > TABLE_MAX_BYTES || memchr(table->text, '\0', size))
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s is not a table of collectives; write one pattern of kernel names a line, at most "
			"1 MiB",
			path);
	table->text[size] = '\0';
	return KWHY_OK;
}

static enum kwhy_status add_file(struct kwhy_collectives *table, const char *path, struct kwhy_error *error)
{
	FILE *file = fopen(path, "re");
	enum kwhy_status status;

	if (!file)
		return kwhy_fail(error, KWHY_E_IO,
			"%s (table of collectives) cannot be opened: %s; check the path and its permissions",
			path, strerror(errno));
	status = read_text(table, file, path, error);
	fclose(file);
	return status ? status : add_lines(table, path, error);
}

enum kwhy_status kwhy_collectives_new(
	const char *path, struct kwhy_collectives **out, struct kwhy_error *error)
{
	struct kwhy_collectives *table = calloc(1, sizeof(*table));
	enum kwhy_status status = KWHY_OK;

	if (!table)
		return kwhy_fail_memory(error, "the table of collectives");
	for (size_t i = 0; !status && i < kwhy_collective_pattern_count; i++)
		status = add_pattern(table, kwhy_collective_patterns[i], error);
	if (!status && path)
		status = add_file(table, path, error);
	if (status) {
		kwhy_collectives_free(table);
		return status;
	}
	*out = table;
	return KWHY_OK;
}

void kwhy_collectives_free(struct kwhy_collectives *table)
{
	if (!table)
		return;
	free(table->patterns);
	free(table->text);
	free(table);
}

bool kwhy_collectives_match(const struct kwhy_collectives *table, const char *kernel_name)
{
	return kwhy_collective_name_judge(table->patterns, table->count, kernel_name) == 1;
}

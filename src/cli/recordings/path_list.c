/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/recordings/path_list.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum kwhy_status kwhy_path_list_add_one(
	struct kwhy_path_list *list, const char *path, struct kwhy_error *error)
{
	const char **items = kwhy_arena_grow(&list->arena, list->items, list->count, sizeof(*list->items));

	if (!items)
		return kwhy_fail_memory(error, "a list of files");
	list->items = items;
	items[list->count] = kwhy_arena_copy(&list->arena, path);
	return items[list->count++] ? KWHY_OK : kwhy_fail_memory(error, "a list of files");
}

static enum kwhy_status add_lines(struct kwhy_path_list *list, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	char *line = NULL;
	size_t capacity = 0;
	ssize_t length;

	while (!status && (length = getline(&line, &capacity, stdin)) > 0) {
		if (line[length - 1] == '\n')
			line[--length] = '\0';
		if (length)
			status = kwhy_path_list_add_one(list, line, error);
	}
	if (!status && ferror(stdin))
		status = kwhy_fail(error, KWHY_E_IO, "cannot read the list of files from standard input");
	free(line);
	return status;
}

static enum kwhy_status add_pattern(
	struct kwhy_path_list *list, const char *pattern, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	glob_t found = {0};

	if (glob(pattern, GLOB_NOCHECK, NULL, &found))
		return kwhy_fail(error, KWHY_E_IO, "%.300s: cannot list the files of this pattern", pattern);
	for (size_t i = 0; !status && i < found.gl_pathc; i++)
		status = kwhy_path_list_add_one(list, found.gl_pathv[i], error);
	globfree(&found);
	return status;
}

enum kwhy_status kwhy_path_list_add(
	struct kwhy_path_list *list, const struct kwhy_operands *operands, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < operands->count; i++) {
		const char *operand = operands->items[i];

		if (strcmp(operand, "-") == 0)
			status = add_lines(list, error);
		else if (strpbrk(operand, "*?[") && access(operand, F_OK) != 0)
			status = add_pattern(list, operand, error);
		else
			status = kwhy_path_list_add_one(list, operand, error);
	}
	return status;
}

void kwhy_path_list_done(struct kwhy_path_list *list)
{
	kwhy_arena_done(&list->arena);
	*list = (struct kwhy_path_list){0};
}

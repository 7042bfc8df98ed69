/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/overwrite.h"

#include "base/file.h"
#include "import/import.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* An option, and the path of the file that it writes. */
struct output {
	const char *option, *path;
};

/* Whether the option's argument is the path of a file, by the name that the help gives the argument. */
static bool takes_file(const struct kwhy_option *option)
{
	return option->argument &&
		(strncmp(option->argument, "FILE", 4) == 0 || strcmp(option->argument, "PATH") == 0);
}

/*
 * Whether the option names a file that the command writes and never reads. Files of all other options count
 * as inputs, even those that are read and then written.
 */
static bool is_output(const struct kwhy_option *option)
{
	static const char *const names[] = {"output", "summary", "csv", "header", "save-power"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(option->name, names[i]) == 0)
			return takes_file(option);
	return false;
}

static const char *text_of(const struct kwhy_option *option, const void *target)
{
	const char *text;

	memcpy(&text, (const char *)target + option->offset, sizeof(text));
	return text;
}

/*
 * Whether the path is a regular file. Other files, such as /dev/null or a pipe, have no data that writing
 * could destroy.
 */
static bool is_regular(const char *path)
{
	struct stat info;

	return path && stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* Whether a path, with links resolved, lies in a folder or in one of its subfolders. */
static bool lies_in(const char *path, const char *folder)
{
	char inner[PATH_MAX], outer[PATH_MAX];
	size_t length;

	if (!realpath(path, inner) || !realpath(folder, outer))
		return false;
	length = strlen(outer);
	return strncmp(inner, outer, length) == 0 && inner[length] == '/';
}

/* Whether the output is the input or, if the input is a folder of traces, one of the traces. */
static bool is_input(const struct output *output, const char *path)
{
	struct stat info;

	if (!path || stat(path, &info))
		return false;
	if (S_ISDIR(info.st_mode))
		return lies_in(output->path, path) && kwhy_import_is_trace(output->path);
	return kwhy_file_is_same(output->path, path);
}

static enum kwhy_status check_input(const struct output *output, const char *path, struct kwhy_error *error)
{
	if (!is_input(output, path))
		return KWHY_OK;
	return kwhy_fail(error, KWHY_E_USAGE,
		"--%s '%.300s' would replace the input '%.300s'; give another name for the output",
		output->option, output->path, path);
}

static enum kwhy_status check_option(const struct output *output, const struct kwhy_option *option,
	const void *target, struct kwhy_error *error)
{
	const struct kwhy_strings *list = (const void *)((const char *)target + option->offset);
	enum kwhy_status status = KWHY_OK;

	if (!takes_file(option) || is_output(option))
		return KWHY_OK;
	if (option->kind == KWHY_OPTION_TEXT)
		return check_input(output, text_of(option, target), error);
	for (size_t i = 0; !status && option->kind == KWHY_OPTION_LIST && i < list->count; i++)
		status = check_input(output, list->items[i], error);
	return status;
}

static enum kwhy_status check_output(const struct output *output, const struct kwhy_option *options,
	const void *target, char *const *operands, size_t operand_count, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < operand_count; i++)
		status = check_input(output, operands[i], error);
	for (; !status && options->name; options++)
		status = check_option(output, options, target, error);
	return status;
}

enum kwhy_status kwhy_overwrite_check(const struct kwhy_option *options, const void *target,
	char *const *operands, size_t operand_count, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (const struct kwhy_option *option = options; !status && option->name; option++) {
		struct output output = {.option = option->name};

		if (!is_output(option))
			continue;
		output.path = text_of(option, target);
		/* "-" is standard output, even if a file has that name */
		if (output.path && strcmp(output.path, "-") != 0 && is_regular(output.path))
			status = check_output(&output, options, target, operands, operand_count, error);
	}
	return status;
}

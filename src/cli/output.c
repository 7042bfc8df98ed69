/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output.h"

#include "base/file.h"
#include "cli/command.h"
#include "cli/pager.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const extensions[KWHY_OUTPUT_FORM_COUNT] = {
	[KWHY_OUTPUT_TEXT] = ".txt",
	[KWHY_OUTPUT_JSON] = ".json",
	[KWHY_OUTPUT_CSV] = ".csv",
	[KWHY_OUTPUT_HTML] = ".html",
};

static bool is_folder(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/*
 * The extension of a path: the part of its last component from the last dot on; NULL: there is no dot, or the
 * last dot is the first character of the component.
 */
static const char *extension_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *dot = strrchr(slash ? slash + 1 : path, '.');

	return dot && dot != (slash ? slash + 1 : path) ? dot : NULL;
}

enum kwhy_status kwhy_output_check(const char *option, const char *path, struct kwhy_error *error)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	char *folder;
	bool is_there;

	if (!slash || slash == path)
		return KWHY_OK;
	folder = strndup(path, (size_t)(slash - path));
	if (!folder)
		return kwhy_fail_memory(error, "a folder's name");
	is_there = is_folder(folder);
	free(folder);
	if (is_there)
		return KWHY_OK;
	return kwhy_fail(error, KWHY_E_IO,
		"%s: cannot write '%.300s', whose folder is not there; make it first", option, path);
}

/*
 * The form of output that an extension (with its dot) stands for; KWHY_OUTPUT_FORM_COUNT: `extension` is
 * NULL, or no form has it.
 */
static enum kwhy_output_form form_of_extension(const char *extension)
{
	size_t i = 0;

	while (i < KWHY_OUTPUT_FORM_COUNT && !(extension && strcmp(extension, extensions[i]) == 0))
		i++;
	return (enum kwhy_output_form)i;
}

/*
 * Checks that the extension of `path` is not that of another form than `asked`, for which the user gave
 * --json or --csv, and not that of a compressed file.
 */
static enum kwhy_status check_asked(
	const char *path, const char *extension, enum kwhy_output_form asked, struct kwhy_error *error)
{
	const enum kwhy_output_form form = form_of_extension(extension);
	const char *option = asked == KWHY_OUTPUT_JSON ? "--json" : "--csv";

	if (form != KWHY_OUTPUT_FORM_COUNT && form != asked)
		return kwhy_fail(error, KWHY_E_USAGE,
			"%s and -o '%.200s' say different forms; leave out %s, or let the name end in %s",
			option, path, option, extensions[asked]);
	if (extension && (strcmp(extension, ".gz") == 0 || strcmp(extension, ".zst") == 0))
		return kwhy_fail(error, KWHY_E_USAGE,
			"-o '%.200s': what %s writes is not compressed; leave %s out of the name", path,
			option, extension);
	return KWHY_OK;
}

enum kwhy_status kwhy_output_form_of(
	const char *path, enum kwhy_output_form asked, enum kwhy_output_form *out, struct kwhy_error *error)
{
	const char *extension = path && strcmp(path, "-") != 0 && !is_folder(path) ? extension_of(path)
										   : NULL;
	const enum kwhy_output_form form = form_of_extension(extension);
	enum kwhy_status status = KWHY_OK;

	if (asked != KWHY_OUTPUT_TEXT)
		status = check_asked(path, extension, asked, error);
	else if (extension && form == KWHY_OUTPUT_FORM_COUNT)
		status = kwhy_fail(error, KWHY_E_USAGE,
			"-o '%.200s': no form is known for '%.20s'; use .txt, .json, .csv or .html", path,
			extension);
	if (status)
		return status;
	*out = asked != KWHY_OUTPUT_TEXT || !extension ? asked : form;
	return kwhy_output_check("-o", path, error);
}

enum kwhy_status kwhy_output_path(
	const char *path, const char *stem, enum kwhy_output_form form, char **out, struct kwhy_error *error)
{
	bool folder = path && is_folder(path);
	char *place = NULL;

	if (folder && asprintf(&place, "%s/%s%s", path, stem, extensions[form]) < 0)
		return kwhy_fail_memory(error, "a file name");
	if (path && !folder && !(place = strdup(path)))
		return kwhy_fail_memory(error, "a file name");
	*out = place;
	return KWHY_OK;
}

enum kwhy_status kwhy_output_write(const char *path, const struct kwhy_text *text, struct kwhy_error *error)
{
	if (path && strcmp(path, "-") != 0)
		return kwhy_file_write(path, text->data, text->length, error);
	errno = 0;
	if (fwrite(text->data, 1, text->length, stdout) != text->length || fflush(stdout))
		return kwhy_fail(error, KWHY_E_IO, "cannot write to standard output: %s", strerror(errno));
	return KWHY_OK;
}

enum kwhy_status kwhy_output_result(const char *path, const char *stem, enum kwhy_output_form form,
	struct kwhy_text *text, struct kwhy_error *error)
{
	char *place = NULL;
	enum kwhy_status status = kwhy_text_check(text, error);

	if (!status)
		status = kwhy_output_path(path, stem, form, &place, error);
	if (!status)
		status = place || form != KWHY_OUTPUT_TEXT ? kwhy_output_write(place, text, error)
							   : kwhy_pager_write(text, error);
	free(place);
	kwhy_text_done(text);
	return status;
}

void kwhy_output_message(const char *message)
{
	size_t length = strlen(message);
	char *clean = malloc(3 * length + 1);

	fprintf(stderr, "%s: ", kwhy_program.name);
	if (clean) {
		kwhy_text_sanitize(clean, message, length);
		fputs(clean, stderr);
	} else { /* no memory for a clean copy: bytes that are not printable ASCII become "?" */
		for (; *message; message++)
			fputc(*message >= ' ' && *message <= '~' ? *message : '?', stderr);
	}
	fputc('\n', stderr);
	free(clean);
}

enum kwhy_status kwhy_output_later(
	enum kwhy_status status, const struct kwhy_error *later, struct kwhy_error *error)
{
	if (!later->status)
		return status;
	if (status)
		kwhy_output_message(error->text);
	*error = *later;
	return later->status;
}

bool kwhy_output_color(bool refused)
{
	const char *no_color = secure_getenv("NO_COLOR"), *terminal = secure_getenv("TERM");

	if (refused || (no_color && *no_color) || !isatty(STDOUT_FILENO))
		return false;
	return !terminal || strcmp(terminal, "dumb") != 0;
}

size_t kwhy_output_columns(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_col < 80)
		return 80;
	return size.ws_col > 160 ? 160 : size.ws_col;
}

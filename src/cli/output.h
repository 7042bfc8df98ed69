/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_OUTPUT_H
#define KWHY_CLI_OUTPUT_H

#include "base/status.h"
#include "base/text.h"

/* The forms in which a result can be written. */
enum kwhy_output_form {
	KWHY_OUTPUT_TEXT,
	KWHY_OUTPUT_JSON,
	KWHY_OUTPUT_CSV,
	KWHY_OUTPUT_HTML,
	KWHY_OUTPUT_FORM_COUNT
};

/*
 * Finds the form of an output from an option like --json and from the extension of the path that -o gives.
 * `asked` is the form of the option; KWHY_OUTPUT_TEXT: none was given. Then the form is that of the
 * extension, and text if there is no path or no extension, or if the path is a folder. KWHY_E_USAGE: the
 * extension says another form than the option, or is not .txt, .json, .csv or .html where no option was
 * given. KWHY_E_IO: the folder of the path does not exist.
 */
KWHY_MUST_USE enum kwhy_status kwhy_output_form_of(
	const char *path, enum kwhy_output_form asked, enum kwhy_output_form *out, struct kwhy_error *error);

/*
 * Checks that the folder of an option's path exists, so that the user need not wait minutes of measuring for
 * the error. KWHY_E_IO: it does not exist.
 */
KWHY_MUST_USE enum kwhy_status kwhy_output_check(
	const char *option, const char *path, struct kwhy_error *error);

/*
 * The path of the output file: PATH itself, or PATH/STEM.EXTENSION if PATH is a folder. The caller frees
 * *out. *out is NULL if PATH is NULL.
 */
KWHY_MUST_USE enum kwhy_status kwhy_output_path(
	const char *path, const char *stem, enum kwhy_output_form form, char **out, struct kwhy_error *error);

/* Writes a result to a file, or to standard output if the path is NULL or "-". */
KWHY_MUST_USE enum kwhy_status kwhy_output_write(
	const char *path, const struct kwhy_text *text, struct kwhy_error *error);

/*
 * Writes a result to PATH, to PATH/STEM.EXTENSION if PATH is a folder, or to standard output, and frees it.
 * Text goes through the pager on a terminal. If making the text failed, that failure is returned instead.
 */
KWHY_MUST_USE enum kwhy_status kwhy_output_result(const char *path, const char *stem,
	enum kwhy_output_form form, struct kwhy_text *text, struct kwhy_error *error);

/*
 * Writes "kwhy: MESSAGE" to standard error. The message is made safe for a terminal, since it may quote names
 * from files.
 */
void kwhy_output_message(const char *message);

/*
 * Combines the statuses of two steps. If both failed, the later failure is returned as the error, and the
 * message of the earlier one, `status`, is printed here.
 */
enum kwhy_status kwhy_output_later(
	enum kwhy_status status, const struct kwhy_error *later, struct kwhy_error *error);

/*
 * Whether standard output is a terminal that supports colour, and the user refused it neither by --no-color
 * (`refused`) nor by NO_COLOR.
 */
bool kwhy_output_color(bool refused);

/*
 * Width of the terminal at standard output in columns, but at least 80 and at most 160; 80 if standard output
 * is no terminal.
 */
size_t kwhy_output_columns(void);

#endif

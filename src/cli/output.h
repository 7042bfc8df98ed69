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
 * Finds the form of an output from an option like --json and from the path that -o gives (NULL: none). If an
 * option asks for a form, it is `asked`. If `asked` is KWHY_OUTPUT_TEXT, no option does, and the form is that
 * of the path's extension, or text if the path is NULL, "-" or a folder or has no extension. KWHY_E_USAGE:
 * the extension is that of another form than `asked`, or no option asks for a form and the extension is not
 * .txt, .json, .csv or .html. KWHY_E_IO: the folder of the path does not exist.
 */
KWHY_MUST_USE enum kwhy_status kwhy_output_form_of(
	const char *path, enum kwhy_output_form asked, enum kwhy_output_form *out, struct kwhy_error *error);

/*
 * Checks, before measuring, that the folder of the path of an output file exists. `option` names the option
 * in messages, such as "--csv"; `path` may be NULL. KWHY_E_IO: the folder does not exist.
 */
KWHY_MUST_USE enum kwhy_status kwhy_output_check(
	const char *option, const char *path, struct kwhy_error *error);

/*
 * Sets *out to the path of the output file: a copy of `path`, or PATH/STEM.EXTENSION if `path` is a folder,
 * with the extension of `form`. The caller frees *out. *out is NULL if `path` is NULL.
 */
KWHY_MUST_USE enum kwhy_status kwhy_output_path(
	const char *path, const char *stem, enum kwhy_output_form form, char **out, struct kwhy_error *error);

/* Writes a result to a file, or to standard output if the path is NULL or "-". */
KWHY_MUST_USE enum kwhy_status kwhy_output_write(
	const char *path, const struct kwhy_text *text, struct kwhy_error *error);

/*
 * Writes a result to `path`, to PATH/STEM.EXTENSION if `path` is a folder, or to standard output if it is
 * NULL or "-", and frees the result. A result of form KWHY_OUTPUT_TEXT whose path is NULL goes through the
 * pager if standard output is a terminal. If memory was exhausted while the result was made, KWHY_E_MEMORY is
 * returned, and nothing is written.
 */
KWHY_MUST_USE enum kwhy_status kwhy_output_result(const char *path, const char *stem,
	enum kwhy_output_form form, struct kwhy_text *text, struct kwhy_error *error);

/*
 * Writes "kwhy: MESSAGE" to standard error. The message is made safe for a terminal, since it may quote names
 * from files.
 */
void kwhy_output_message(const char *message);

/*
 * Combines the statuses of two steps: `status`, whose message is in `error`, and later->status. If the later
 * step failed, its failure is returned, with its message in *error, and the message of an earlier failure is
 * printed on standard error. Otherwise `status` is returned.
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

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_OUTPUT_H
#define KWHY_CLI_OUTPUT_H

#include "base/status.h"
#include "base/text.h"

/* The forms a result can take. */
enum kwhy_output_form {
	KWHY_OUTPUT_TEXT,
	KWHY_OUTPUT_JSON,
	KWHY_OUTPUT_CSV,
	KWHY_OUTPUT_HTML,
	KWHY_OUTPUT_FORM_COUNT
};

/*
 * Gives the form that the extension of -o PATH selects; `otherwise` where there is no path, no extension, or
 * PATH is a folder. KWHY_E_USAGE for an extension other than .txt, .json, .csv, .html; KWHY_E_IO where the
 * folder of PATH does not exist.
 */
KWHY_MUST_USE enum kwhy_status kwhy_output_form_of(const char *path, enum kwhy_output_form otherwise,
	enum kwhy_output_form *out, struct kwhy_error *error);

/* KWHY_E_IO where the folder of the path of `option` does not exist. Called before minutes of measuring. */
KWHY_MUST_USE enum kwhy_status kwhy_output_check(
	const char *option, const char *path, struct kwhy_error *error);

/* Gives PATH itself, or PATH/STEM.EXTENSION where PATH is a folder; the caller frees it. NULL path: NULL. */
KWHY_MUST_USE enum kwhy_status kwhy_output_path(
	const char *path, const char *stem, enum kwhy_output_form form, char **out, struct kwhy_error *error);

/* Writes a whole result to a file, or to stdout when path is NULL or "-". */
KWHY_MUST_USE enum kwhy_status kwhy_output_write(
	const char *path, const struct kwhy_text *text, struct kwhy_error *error);

/*
 * Writes a result to PATH, to PATH/STEM.EXTENSION where PATH is a folder, or to stdout. A failure while the
 * text was made is reported first. Frees the text.
 */
KWHY_MUST_USE enum kwhy_status kwhy_output_result(const char *path, const char *stem,
	enum kwhy_output_form form, struct kwhy_text *text, struct kwhy_error *error);

/* Writes "kwhy: MESSAGE" to stderr, made safe for a terminal because it may quote names from files. */
void kwhy_output_message(const char *message);

/*
 * Combines two failures: the later one becomes the error, and the earlier one, `status`, is printed here.
 * KWHY_OK in either: it did not fail.
 */
enum kwhy_status kwhy_output_later(
	enum kwhy_status status, const struct kwhy_error *later, struct kwhy_error *error);

/* Whether stdout is a terminal that wants colour. `refused`: --no-color. */
bool kwhy_output_color(bool refused);

/* Columns of the terminal on stdout, 80 to 160; 80 where there is none. */
size_t kwhy_output_columns(void);

#endif

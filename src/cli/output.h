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
 * The form that -o PATH asks for by its extension; `otherwise` where there is no path, no extension, or PATH
 * is a folder. KWHY_E_USAGE for an extension that is none of .txt, .json, .csv, .html; KWHY_E_IO where the
 * folder that it is to lie in is not there.
 */
KWHY_MUST_USE enum kwhy_status kwhy_output_form_of(const char *path, enum kwhy_output_form otherwise,
	enum kwhy_output_form *out, struct kwhy_error *error);

/* Before minutes of measuring: KWHY_E_IO where the folder of what `option` names is not there. */
KWHY_MUST_USE enum kwhy_status kwhy_output_check(
	const char *option, const char *path, struct kwhy_error *error);

/* PATH itself, or PATH/STEM.EXTENSION where PATH is a folder; the caller frees it. NULL path: NULL. */
KWHY_MUST_USE enum kwhy_status kwhy_output_path(
	const char *path, const char *stem, enum kwhy_output_form form, char **out, struct kwhy_error *error);

/* Writes a whole result to a file, or to stdout when path is NULL or "-". */
KWHY_MUST_USE enum kwhy_status kwhy_output_write(
	const char *path, const struct kwhy_text *text, struct kwhy_error *error);

/*
 * Writes a result where -o PATH says: there, in PATH/STEM.EXTENSION where it is a folder, or to stdout. What
 * went wrong while the text was made is reported first. Frees the text.
 */
KWHY_MUST_USE enum kwhy_status kwhy_output_result(const char *path, const char *stem,
	enum kwhy_output_form form, struct kwhy_text *text, struct kwhy_error *error);

/* "kwhy: MESSAGE" on stderr, harmless to a terminal whatever names it quotes. */
void kwhy_output_message(const char *message);

/* What went wrong later becomes the error; what had gone wrong before, `status`, is said here. KWHY_OK in
 * either: it did not. */
enum kwhy_status kwhy_output_later(
	enum kwhy_status status, const struct kwhy_error *later, struct kwhy_error *error);

/* Is stdout a terminal that wants colour? `refused`: --no-color. */
bool kwhy_output_color(bool refused);

/* Columns of the terminal on stdout, 80 to 160; 80 where there is none. */
size_t kwhy_output_columns(void);

#endif

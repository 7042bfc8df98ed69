/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_CLI_SPAWNED_CHECKS_H
#define KWHY_TESTS_CLI_SPAWNED_CHECKS_H

#include "base/file.h"
#include "cmocka_all.h"
#include "spawn.h"
#include "text_file.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Checks of a run of a command and of what it wrote. */

/*
 * Checks that the run failed with this status, wrote nothing to stdout, and wrote at most three lines to
 * stderr, which contain `says`. Frees the run's output.
 */
static inline void assert_fails(struct spawned spawned, int status, const char *says)
{
	size_t lines = 0;

	for (const char *c = spawned.err.data; *c; c++)
		lines += *c == '\n';
	if (spawned.exit != status || spawned.out.length || !strstr(spawned.err.data, says) || lines > 3)
		fail_msg("exit %d, stdout '%s', stderr '%s' without '%s'", spawned.exit, spawned.out.data,
			spawned.err.data, says);
	spawned_done(&spawned);
}

/* Returns the JSON that the run wrote to stdout, whatever its exit status. The caller owns it. */
static inline json_t *json_in(const struct spawned *spawned)
{
	json_t *root = json_loads(spawned->out.data, 0, NULL);

	if (!root)
		fail_msg("exit %d, stderr '%s', stdout '%s'", spawned->exit, spawned->err.data,
			spawned->out.data);
	return root;
}

/*
 * Checks that the run ended with this status and wrote nothing to stderr. Frees it and returns the JSON of
 * its stdout, which the caller owns.
 */
static inline json_t *json_with(struct spawned spawned, int status)
{
	json_t *root = json_in(&spawned);

	if (spawned.exit != status || spawned.err.length)
		fail_msg("exit %d, stderr '%s', stdout '%s'", spawned.exit, spawned.err.data,
			spawned.out.data);
	spawned_done(&spawned);
	return root;
}

/*
 * Replaces each sequence of spaces and line breaks in `text` by one space, in place. Where kwhy breaks lines
 * depends on the length of paths, so tests compare text without breaks.
 */
static inline void unwrap(char *text)
{
	char *out = text;

	for (const char *c = text; *c; c++) {
		bool space = *c == ' ' || *c == '\n';

		if (!space)
			*out++ = *c;
		else if (out > text && out[-1] != ' ')
			*out++ = ' ';
	}
	*out = '\0';
}

/*
 * Checks that the run succeeded, wrote nothing to stderr, and has `says` in its stdout, even if a line
 * break divides it there. Frees the run's output.
 */
static inline void assert_says(struct spawned spawned, const char *says)
{
	bool found = strstr(spawned.out.data, says) != NULL;

	if (!found)
		unwrap(spawned.out.data);
	if (spawned.exit || spawned.err.length || !(found || strstr(spawned.out.data, says)))
		fail_msg("exit %d, stderr '%s', stdout '%s' without '%s'", spawned.exit, spawned.err.data,
			spawned.out.data, says);
	spawned_done(&spawned);
}

/* Returns the path of a file in a test's folder. It is valid for the next seven calls. */
static inline const char *place_in(const char *folder, const char *name)
{
	static char path[8][1024];
	static size_t next;
	char *out = path[next++ % 8];

	snprintf(out, sizeof(path[0]), "%s/%s", folder, name);
	return out;
}

/* Writes a file in the folder. Returns its path, which is valid as long as a path from place_in() is. */
static inline const char *text_file_in(const char *folder, const char *name, const char *text)
{
	const char *path = place_in(folder, name);

	text_file_write(path, text);
	return path;
}

/* Returns the JSON document in a file of the folder. The caller owns it. */
static inline json_t *json_file_in(const char *folder, const char *name)
{
	json_t *document = json_load_file(place_in(folder, name), JSON_REJECT_DUPLICATES, NULL);

	assert_non_null(document);
	return document;
}

/* Checks that `value` differs from `wanted` by at most a millionth of `wanted`. */
static inline void assert_near(double value, double wanted)
{
	if (!(fabs(value - wanted) <= 1e-6 * fabs(wanted)))
		fail_msg("%.9g instead of %.9g", value, wanted);
}

/*
 * Checks that the run ended with status 0 and wrote nothing to stderr. Frees it and returns the JSON of its
 * stdout, which the caller owns.
 */
static inline json_t *json_of(struct spawned spawned)
{
	return json_with(spawned, 0);
}

/*
 * Returns the number `key` of the object `part` in `row`, or of `row` itself if `part` is NULL; 0 if there
 * is none.
 */
static inline double number_in(const json_t *row, const char *part, const char *key)
{
	return json_number_value(json_object_get(part ? json_object_get(row, part) : row, key));
}

static inline void assert_fits_80_columns(const char *text)
{
	char line[1024];

	for (size_t length; *text; text += length + (text[length] == '\n')) {
		length = strcspn(text, "\n");
		assert_true(length < sizeof(line));
		memcpy(line, text, length);
		line[length] = '\0';
		if (kwhy_text_columns(line) > 80)
			fail_msg("%zu columns: %s", kwhy_text_columns(line), line);
	}
}

/* Returns the number of lines of a file. */
static inline size_t lines_of(const char *file)
{
	struct kwhy_text text = {0};
	struct kwhy_error error;
	size_t lines = 0;

	if (kwhy_file_read(file, 64 << 20, &text, &error))
		fail_msg("%s", error.text);
	for (size_t i = 0; i < text.length; i++)
		lines += text.data[i] == '\n';
	kwhy_text_done(&text);
	return lines;
}

/* Returns the number at a path of keys and array indices such as "runs.0.energy_j.value". */
static inline double number_at(const json_t *node, const char *path)
{
	char part[64];

	while (node && *path) {
		size_t length = strcspn(path, ".");

		snprintf(part, sizeof(part), "%.*s", (int)length, path);
		node = json_is_array(node) ? json_array_get(node, (size_t)atoi(part))
					   : json_object_get(node, part);
		path += length + (path[length] == '.');
	}
	return json_is_number(node) ? json_number_value(node) : NAN;
}

#endif

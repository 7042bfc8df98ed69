/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_CSV_FILE_H
#define KWHY_TESTS_CSV_FILE_H

#include "cmocka_all.h"
#include "import/reader.h"
#include "ok.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Helpers that write a text to a temporary file, have an importer read it and remove it. */

static struct kwhy_error error;

#define HEADER "kind,name,device,stream,start_ns,end_ns,bytes,blocks,threads_per_block\n"
#define POWER "time_ns,device,source,value\n"
#define T0 "1795245124"

static inline void write_file(char path[32], const void *bytes, size_t length)
{
	FILE *file;

	strcpy(path, "/tmp/kwhy-test-XXXXXX");
	file = fdopen(mkstemp(path), "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, length, file), length);
	fclose(file);
}

static inline enum kwhy_status import_bytes(
	struct kwhy_recording *recording, const void *bytes, size_t length, bool partial)
{
	struct kwhy_import_options options = {.partial = partial};
	enum kwhy_status status;
	char path[32];

	write_file(path, bytes, length);
	status = kwhy_reader_csv.read(recording, path, &options, &error);
	unlink(path);
	return status;
}

static inline enum kwhy_status import_power(struct kwhy_recording *recording, const char *text, bool partial)
{
	struct kwhy_import_options options = {.partial = partial};
	enum kwhy_status status;
	char path[32];

	write_file(path, text, strlen(text));
	status = kwhy_import_power(recording, path, &options, &error);
	unlink(path);
	return status;
}

static inline struct kwhy_recording *empty_recording(void)
{
	struct kwhy_recording *recording;

	OK(kwhy_recording_new(&recording, &error));
	return recording;
}

/* Reads the text as a CSV trace. The recording is not finished. */
static inline struct kwhy_recording *recording_of(const char *text)
{
	struct kwhy_recording *recording = empty_recording();

	OK(import_bytes(recording, text, strlen(text), false));
	return recording;
}

/* Checks that an import ended with KWHY_E_INPUT, and that its message names the file and contains `words`. */
static inline void refused(enum kwhy_status status, const char *words)
{
	assert_int_equal(status, KWHY_E_INPUT);
	assert_int_equal(error.status, KWHY_E_INPUT);
	if (!strstr(error.text, words) || !strstr(error.text, "/tmp/kwhy-test-"))
		fail_msg("\"%s\" does not say \"%s\"", error.text, words);
}

static inline const struct kwhy_note *note_of(const struct kwhy_recording *recording, const char *id)
{
	for (size_t i = 0; i < recording->note_count; i++)
		if (!strcmp(recording->notes[i].id, id))
			return &recording->notes[i];
	return NULL;
}

#endif

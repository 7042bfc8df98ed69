/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_KINETO_FIXTURE_H
#define KWHY_TESTS_KINETO_FIXTURE_H

#include "cmocka_all.h"
#include "import/reader.h"
#include "ok.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Helpers for tests of the Kineto reader, which write a trace to a temporary file and read it. */

static struct kwhy_error error;

#define KERNEL(ts, dur, more)                                                                       \
	"{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k\", \"pid\": 0, \"tid\": 7, \"ts\": " ts \
	", \"dur\": " dur ", \"args\": {\"device\": 0, \"context\": 1, \"stream\": 7" more "}}"
#define CALL(name, correlation)                                                                         \
	"{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"" name "\", \"pid\": 42, \"tid\": 43, " \
	"\"ts\": 1.5, \"dur\": 2.25, \"args\": {\"cbid\": 211, \"correlation\": " correlation "}}"
#define TRACE(events) "{\"baseTimeNanoseconds\": 1700000000000000000, \"traceEvents\": [" events "]}"

static char kineto_path[64];

static inline void write_bytes(const void *bytes, size_t length)
{
	int file;

	strcpy(kineto_path, P_tmpdir "/kwhy-kineto-XXXXXX");
	file = mkstemp(kineto_path);
	assert_true(file >= 0);
	assert_int_equal(write(file, bytes, length), (ssize_t)length);
	close(file);
}

/* Reads the file written last, adds it to the recording and removes the file. */
static inline enum kwhy_status read_into(struct kwhy_recording *recording, bool partial)
{
	struct kwhy_import_options options = {.partial = partial};
	enum kwhy_status status = kwhy_reader_kineto.read(recording, kineto_path, &options, &error);

	unlink(kineto_path);
	return status;
}

static inline struct kwhy_recording *read_bytes(const void *bytes, size_t length, bool partial)
{
	struct kwhy_recording *recording;

	write_bytes(bytes, length);
	OK(kwhy_recording_new(&recording, &error));
	OK(read_into(recording, partial));
	return recording;
}

static inline struct kwhy_recording *read_text(const char *text)
{
	return read_bytes(text, strlen(text), false);
}

static inline struct kwhy_recording *read_partial(const char *text)
{
	return read_bytes(text, strlen(text), true);
}

/* Returns the message with which the reader refuses the bytes. It must name the file. */
static inline const char *refusal_of_bytes(const void *bytes, size_t length)
{
	struct kwhy_recording *recording;

	write_bytes(bytes, length);
	OK(kwhy_recording_new(&recording, &error));
	assert_int_equal(read_into(recording, false), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, kineto_path));
	kwhy_recording_free(recording);
	return error.text;
}

static inline const char *refusal_of(const char *text)
{
	return refusal_of_bytes(text, strlen(text));
}

static inline bool has_note(const struct kwhy_recording *recording, const char *id)
{
	for (size_t i = 0; i < recording->note_count; i++)
		if (!strcmp(recording->notes[i].id, id))
			return true;
	return false;
}

static inline const char *name_of(const struct kwhy_recording *recording, uint32_t name)
{
	return kwhy_names_get(&recording->names, name);
}

#endif

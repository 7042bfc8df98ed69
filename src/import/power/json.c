/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "import/input.h"
#include "import/power/readers.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * This file reads JSON of amd-smi and rocm-smi and responses of Prometheus. A file may have any number of
 * JSON documents with lines of other text between them. An object with a reading is a record; it inherits
 * times and GPUs from the objects around it.
 */
enum {
	BYTES_MAX = 64 << 20,
	READ_BYTES = 1 << 20,
	DEPTH_MAX = 16,
	VALUES_MAX = 8,
	NUMBER_BYTES = 64,
	BAD_MAX = 64,
	WORDS_BYTES = 160
};

struct bytes {
	char *data;
	size_t length, capacity;
};

struct walk {
	struct kwhy_power_log *log;
	uint64_t records;
	bool empty_answer; /* Prometheus's answer has no series */
	char failure[3 * WORDS_BYTES +
		1]; /* text of the error that Prometheus gave as its answer; "": it gave none */
	struct kwhy_error *error;
};

static enum kwhy_status read_all(const char *path, struct bytes *out, struct kwhy_error *error)
{
	struct kwhy_input *input;
	size_t got = 1;
	enum kwhy_status status = kwhy_input_open(path, &input, error);

	if (status)
		return status;
	while (!status && got > 0) {
		char *grown = out->length + READ_BYTES <= out->capacity
			? out->data
			: realloc(out->data, out->capacity = out->length * 2 + READ_BYTES);

		if (!grown) {
			status = kwhy_fail_memory(error, "reading a power log");
			break;
		}
		out->data = grown;
		status = kwhy_input_read(input, out->data + out->length, READ_BYTES, &got, error);
		out->length += status ? 0 : got;
		if (!status && out->length > BYTES_MAX)
			status = kwhy_fail(error, KWHY_E_INPUT,
				"%s is JSON of more than 64 MiB; give a shorter range of it", path);
	}
	kwhy_input_close(input);
	return status;
}

static struct kwhy_span span_of(const char *text)
{
	return (struct kwhy_span){text, strlen(text)};
}

/* The text of a string, or of a number, for which `buffer` is used; empty for a value of another type. */
static struct kwhy_span scalar(const json_t *value, char buffer[NUMBER_BYTES])
{
	size_t length;

	if (json_is_string(value))
		return span_of(json_string_value(value));
	if (!json_is_number(value))
		return span_of("");
	length = json_dumpb(value, buffer, NUMBER_BYTES, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
	return (struct kwhy_span){buffer, length <= NUMBER_BYTES ? length : 0};
}

/*
 * Time, host and GPU of an object: what the object states itself or, for what it does not state, the objects
 * around it. `numbers` holds the texts of values that are JSON numbers; `row` points to them.
 */
struct scope {
	struct kwhy_power_row_text row;
	char numbers[KWHY_POWER_ROLE_DRAW][NUMBER_BYTES];
};

/* The readings of one object, at most VALUES_MAX, with their texts. */
struct readings {
	struct kwhy_power_value values[VALUES_MAX];
	char texts[VALUES_MAX][NUMBER_BYTES];
	size_t count;
};

/*
 * Adds a reading from a value such as 410.5, "410.5 W" or {"value": 410.5, "unit": "W"}. False: the value is
 * of another type.
 */
static bool take_reading(
	struct readings *readings, const json_t *value, const struct kwhy_power_meaning *meaning)
{
	const json_t *bare = json_is_object(value) ? json_object_get(value, "value") : value;
	const char *unit = json_is_object(value) ? json_string_value(json_object_get(value, "unit")) : NULL;
	char *text = readings->texts[readings->count];
	char number[NUMBER_BYTES];
	struct kwhy_span span;

	if (!bare || json_is_object(bare) || json_is_array(bare))
		return false;
	span = scalar(bare, number);
	if (unit && json_is_number(bare))
		snprintf(text, NUMBER_BYTES, "%.*s %.8s", (int)span.length, span.bytes, unit);
	else
		snprintf(text, NUMBER_BYTES, "%.*s", (int)span.length, span.bytes);
	readings->values[readings->count++] = (struct kwhy_power_value){*meaning, span_of(text)};
	return true;
}

static void take_part(struct scope *scope, enum kwhy_power_role role, const json_t *value)
{
	const struct kwhy_span span = scalar(value, scope->numbers[role]);

	if (span.length > 0)
		scope->row.parts[role] = span;
}

static enum kwhy_status add_record(
	struct walk *walk, const struct scope *scope, const struct readings *readings)
{
	walk->records++;
	walk->log->dialect = readings->values[0].meaning.dialect;
	return kwhy_power_log_add(
		walk->log, walk->records, &scope->row, readings->values, readings->count, walk->error);
}

/* Adds a point [TIME, VALUE] of a series, such as [1789194365.29, "401.5"]. */
static enum kwhy_status add_point(
	struct walk *walk, struct scope *scope, const struct kwhy_power_meaning *meaning, const json_t *point)
{
	struct readings readings = {.count = 0};

	scope->row.parts[KWHY_POWER_ROLE_TIME] = scalar(
		json_array_get(point, 0), scope->numbers[KWHY_POWER_ROLE_TIME]);
	take_reading(&readings, json_array_get(point, 1), meaning);
	if (readings.count > 0)
		return add_record(walk, scope, &readings);
	kwhy_power_log_skip(walk->log, ++walk->records, span_of(""), "a point has no value");
	return KWHY_OK;
}

static void take_labels(struct scope *scope, const json_t *labels)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)labels, name, value)
	{
		const enum kwhy_power_role role = kwhy_power_name_read(NULL, span_of(name)).role;

		if (role == KWHY_POWER_ROLE_HOST || role == KWHY_POWER_ROLE_UUID ||
			role == KWHY_POWER_ROLE_PCI ||
			(role == KWHY_POWER_ROLE_GPU && strcmp(name, "device") != 0))
			take_part(scope, role, value);
	}
}

/*
 * Reads one series of a Prometheus response: {"metric": {labels}, "values": [points]}, or {"metric":
 * {labels}, "value": point}.
 */
static enum kwhy_status read_series(struct walk *walk, const json_t *series, const json_t *labels)
{
	const json_t *points = json_object_get(series, "values"), *name = json_object_get(labels, "__name__");
	struct scope scope = {.row = {.gpu = -1}};
	struct kwhy_power_meaning meaning;
	enum kwhy_status status = KWHY_OK;

	if (!json_is_string(name)) {
		kwhy_power_log_skip(walk->log, ++walk->records, span_of(""),
			"a series has no name: ask for the bare metric, without a function around it");
		return KWHY_OK;
	}
	meaning = kwhy_power_name_read(NULL, span_of(json_string_value(name)));
	if (!meaning.dialect)
		return KWHY_OK;
	take_labels(&scope, labels);
	if (!points)
		return add_point(walk, &scope, &meaning, json_object_get(series, "value"));
	for (size_t i = 0; !status && i < json_array_size(points); i++)
		status = add_point(walk, &scope, &meaning, json_array_get(points, i));
	return status;
}

static enum kwhy_status walk_value(
	struct walk *walk, const json_t *value, const char *name, const struct scope *outer, int depth);

static enum kwhy_status walk_members(
	struct walk *walk, const json_t *object, const struct scope *scope, int depth)
{
	enum kwhy_status status = KWHY_OK;
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)object, name, value) if (!status)
		status = walk_value(walk, value, name, scope, depth);
	return status;
}

/*
 * If an object is a Prometheus response without a series, stores that nothing matched the query, or the error
 * with which Prometheus refused it.
 */
static void note_answer(struct walk *walk, const json_t *object)
{
	const char *status = json_string_value(json_object_get(object, "status"));
	const char *words = json_string_value(json_object_get(object, "error"));
	const json_t *series = json_object_get(json_object_get(object, "data"), "result");
	size_t length = words ? strlen(words) : 0;

	if (status && !strcmp(status, "error") && length > 0)
		kwhy_text_sanitize(walk->failure, words, length < WORDS_BYTES ? length : WORDS_BYTES);
	if (status && !strcmp(status, "success") && json_is_array(series) && json_array_size(series) == 0)
		walk->empty_answer = true;
}

static enum kwhy_status walk_object(
	struct walk *walk, const json_t *object, const char *name, const struct scope *outer, int depth)
{
	const json_t *labels = json_object_get(object, "metric");
	struct readings readings = {.count = 0};
	struct scope scope = *outer;
	enum kwhy_status status = KWHY_OK;
	const char *key;
	json_t *value;

	if (json_is_object(labels))
		return read_series(walk, object, labels);
	note_answer(walk, object);
	if (name && !strncmp(name, "card", 4))
		scope.row.parts[KWHY_POWER_ROLE_GPU] = span_of(name);
	json_object_foreach((json_t *)object, key, value)
	{
		const struct kwhy_power_meaning meaning = kwhy_power_name_read(NULL, span_of(key));

		if (meaning.role >= KWHY_POWER_ROLE_DRAW && readings.count < VALUES_MAX)
			take_reading(&readings, value, &meaning);
		else if (meaning.role)
			take_part(&scope, meaning.role, value);
	}
	if (readings.count > 0)
		status = add_record(walk, &scope, &readings);
	return status ? status : walk_members(walk, object, &scope, depth);
}

static enum kwhy_status walk_value(
	struct walk *walk, const json_t *value, const char *name, const struct scope *outer, int depth)
{
	enum kwhy_status status = KWHY_OK;

	if (depth == DEPTH_MAX)
		return KWHY_OK;
	if (json_is_object(value))
		return walk_object(walk, value, name, outer, depth + 1);
	for (size_t i = 0; !status && json_is_array(value) && i < json_array_size(value); i++)
		status = walk_value(walk, json_array_get(value, i), NULL, outer, depth + 1);
	return status;
}

/* Offset of the next '{' or '[' at or after `at`, which begins a document; the text before it is skipped. */
static size_t find_document(const struct bytes *bytes, size_t at)
{
	while (at < bytes->length && bytes->data[at] != '{' && bytes->data[at] != '[')
		at++;
	return at;
}

static size_t next_line(const struct bytes *bytes, size_t at)
{
	const char *newline = memchr(bytes->data + at, '\n', bytes->length - at);

	return newline ? (size_t)(newline - bytes->data) + 1 : bytes->length;
}

/*
 * Reads all documents of the file. A document that is not valid JSON, such as the last one of a tool that was
 * stopped, is counted and skipped; after BAD_MAX such documents, reading ends.
 */
static enum kwhy_status walk_documents(struct walk *walk, const struct bytes *bytes)
{
	const struct scope nothing = {.row = {.gpu = -1}};
	enum kwhy_status status = KWHY_OK;
	size_t at = find_document(bytes, 0), bad = 0;

	while (!status && at < bytes->length && bad < BAD_MAX) {
		json_error_t place;
		json_t *document = json_loadb(
			bytes->data + at, bytes->length - at, JSON_DISABLE_EOF_CHECK, &place);

		if (document) {
			status = walk_value(walk, document, NULL, &nothing, 0);
			at += place.position > 0 ? (size_t)place.position : 1;
		} else {
			kwhy_power_log_skip(walk->log, walk->records + 1,
				(struct kwhy_span){bytes->data + at, bytes->length - at},
				"begins no whole JSON");
			bad++;
			at = next_line(bytes, at);
		}
		json_decref(document);
		at = find_document(bytes, at);
	}
	return status;
}

static enum kwhy_status check_answer(const struct walk *walk)
{
	const char *path = walk->log->path;

	if (walk->records > 0 || walk->log->unread > 0)
		return KWHY_OK;
	if (walk->failure[0])
		return kwhy_fail(walk->error, KWHY_E_INPUT,
			"%s is an error that Prometheus answered (%s); correct the query and ask again", path,
			walk->failure);
	if (walk->empty_answer)
		return kwhy_fail(walk->error, KWHY_E_INPUT,
			"%s is an answer of Prometheus without a series: nothing matched the query between "
			"its start and its end; check the name of the metric and both times",
			path);
	return KWHY_OK;
}

enum kwhy_status kwhy_power_json_read(struct kwhy_power_log *log, struct kwhy_error *error)
{
	struct walk walk = {.log = log, .error = error};
	struct bytes bytes = {NULL, 0, 0};
	enum kwhy_status status = read_all(log->path, &bytes, error);

	log->is_lines = false;
	if (!status)
		status = walk_documents(&walk, &bytes);
	if (!status)
		status = check_answer(&walk);
	free(bytes.data);
	return status;
}

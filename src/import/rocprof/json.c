/* SPDX-License-Identifier: Apache-2.0 */
#include "import/rocprof/json.h"

#include "import/reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/*
 * The file is one object {"rocprofiler-sdk-tool": [PROCESS...]}. The objects and arrays in this table, the
 * levels, are entered, and their elements are read one at a time. Everything else is skipped token by token,
 * so that values of any size can be skipped.
 */
static const struct {
	enum kwhy_rocprof_level in;
	const char *key; /* key of the level in `in`; NULL: the level is an element of the array `in` */
	enum kwhy_rocprof_level level;
	char opening; /* character with which the value begins */
} levels[] = {
	{KWHY_ROCPROF_FILE, "rocprofiler-sdk-tool", KWHY_ROCPROF_TOOL, '['},
	{KWHY_ROCPROF_TOOL, NULL, KWHY_ROCPROF_PROCESS, '{'},
	{KWHY_ROCPROF_PROCESS, "agents", KWHY_ROCPROF_AGENTS, '['},
	{KWHY_ROCPROF_PROCESS, "strings", KWHY_ROCPROF_STRINGS, '{'},
	{KWHY_ROCPROF_STRINGS, "marker_api", KWHY_ROCPROF_MARKERS, '['},
	{KWHY_ROCPROF_STRINGS, "buffer_records", KWHY_ROCPROF_KINDS, '['},
	{KWHY_ROCPROF_PROCESS, "kernel_symbols", KWHY_ROCPROF_SYMBOLS, '['},
	{KWHY_ROCPROF_PROCESS, "buffer_records", KWHY_ROCPROF_RECORDS, '{'},
	{KWHY_ROCPROF_RECORDS, "kernel_dispatch", KWHY_ROCPROF_KERNELS, '['},
	{KWHY_ROCPROF_RECORDS, "memory_copy", KWHY_ROCPROF_COPIES, '['},
	{KWHY_ROCPROF_RECORDS, "hip_api", KWHY_ROCPROF_CALLS, '['},
	{KWHY_ROCPROF_RECORDS, "hsa_api", KWHY_ROCPROF_OTHER_CALLS, '['},
	{KWHY_ROCPROF_RECORDS, "rccl_api", KWHY_ROCPROF_OTHER_CALLS, '['},
	{KWHY_ROCPROF_RECORDS, "marker_api", KWHY_ROCPROF_RANGES, '['},
};

enum { RULE_COUNT = sizeof(levels) / sizeof(levels[0]) };

/* Names of levels, for messages. */
static const char *const places[KWHY_ROCPROF_LEVEL_COUNT] = {
	"the file",
	"its list of processes",
	"a process",
	"list agents",
	"strings",
	"list strings.marker_api",
	"list strings.buffer_records",
	"list kernel_symbols",
	"buffer_records",
	"list buffer_records.kernel_dispatch",
	"list buffer_records.memory_copy",
	"list buffer_records.hip_api",
	"a list of calls",
	"list buffer_records.marker_api",
};

static bool is_object(enum kwhy_rocprof_level level)
{
	return level == KWHY_ROCPROF_FILE || level == KWHY_ROCPROF_PROCESS || level == KWHY_ROCPROF_STRINGS ||
		level == KWHY_ROCPROF_RECORDS;
}

static void enter(struct kwhy_rocprof_json *json, enum kwhy_rocprof_level level)
{
	json->levels[json->depth] = level;
	json->numbers[json->depth++] = 0;
	json->walk.token++;
	if (level == KWHY_ROCPROF_PROCESS)
		json->has_process = false;
}

/* Skips one token of a value that is not read; `skipped` counts the brackets that are still open. */
static void skip(struct kwhy_rocprof_json *json)
{
	char token = kwhy_kineto_walk_peek(&json->walk);

	json->skipped += token == '{' || token == '[';
	json->skipped -= token == '}' || token == ']';
	json->walk.token++;
}

static enum kwhy_status broken(struct kwhy_rocprof_json *json, const char *words, struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_INPUT, "%s is not valid JSON at byte %" PRIu64 ": %s; record again",
		json->rocprof.tracks.path, json->window.offset + *json->walk.token, words);
}

/*
 * Handles a value that is not one of the levels, whose elements are read one at a time: calls `read` for the
 * value or, if `read` is NULL, begins to skip it. *out_cut: the window ends inside the value.
 */
static enum kwhy_status take_value(struct kwhy_rocprof_json *json, enum kwhy_rocprof_level level,
	kwhy_rocprof_json_read *read, bool *out_cut, struct kwhy_error *error)
{
	struct kwhy_kineto_walk value = json->walk;

	if (!read) {
		char token = kwhy_kineto_walk_peek(&json->walk);

		json->skipped = token == '{' || token == '[';
		json->walk.token++;
		return KWHY_OK;
	}
	*out_cut = !kwhy_kineto_walk_skip(&json->walk);
	if (*out_cut)
		return KWHY_OK;
	json->rocprof.place = places[level];
	json->rocprof.number = ++json->numbers[json->depth - 1];
	return read(json, &value, error);
}

static enum kwhy_status read_member(struct kwhy_rocprof_json *json, bool *out_cut, struct kwhy_error *error)
{
	enum kwhy_rocprof_level level = json->levels[json->depth - 1];
	struct kwhy_kineto_span span;
	struct kwhy_span key;

	*out_cut = !kwhy_kineto_walk_key(&json->walk, &span);
	if (*out_cut)
		return KWHY_OK;
	key = (struct kwhy_span){json->walk.text + span.at, span.length};
	for (size_t i = 0; i < RULE_COUNT; i++)
		if (levels[i].in == level && levels[i].key && kwhy_span_is(key, levels[i].key) &&
			kwhy_kineto_walk_peek(&json->walk) == levels[i].opening) {
			enter(json, levels[i].level);
			return KWHY_OK;
		}
	return take_value(json, level,
		level == KWHY_ROCPROF_PROCESS && kwhy_span_is(key, "metadata") ? kwhy_rocprof_json_metadata
									       : NULL,
		out_cut, error);
}

static enum kwhy_status read_element(struct kwhy_rocprof_json *json, bool *out_cut, struct kwhy_error *error)
{
	enum kwhy_rocprof_level level = json->levels[json->depth - 1];

	if (level != KWHY_ROCPROF_TOOL)
		return take_value(json, level, kwhy_rocprof_json_readers[level], out_cut, error);
	if (kwhy_kineto_walk_peek(&json->walk) != '{')
		return broken(json, "a process in {} was expected", error);
	enter(json, KWHY_ROCPROF_PROCESS);
	return KWHY_OK;
}

/*
 * Reads the next value or bracket. *out_cut: the window (the part of the file that is in memory) ends inside
 * this value.
 */
static enum kwhy_status read_unit(struct kwhy_rocprof_json *json, bool *out_cut, struct kwhy_error *error)
{
	char token = kwhy_kineto_walk_peek(&json->walk);

	if (json->skipped > 0) {
		skip(json);
		return KWHY_OK;
	}
	if (json->depth == 0) {
		if (json->done || token != '{')
			return broken(json, "text after the end of the trace", error);
		enter(json, KWHY_ROCPROF_FILE);
		return KWHY_OK;
	}
	if (token == '}' || token == ']') {
		json->depth--;
		json->done = json->depth == 0;
	}
	if (token == '}' || token == ']' || token == ',') {
		json->walk.token++;
		return KWHY_OK;
	}
	return is_object(json->levels[json->depth - 1]) ? read_member(json, out_cut, error)
							: read_element(json, out_cut, error);
}

static enum kwhy_status walk_window(
	struct kwhy_rocprof_json *json, size_t *out_used, struct kwhy_error *error)
{
	const uint32_t *end = json->window.tokens + json->window.token_count, *unit = json->window.tokens;
	enum kwhy_status status = KWHY_OK;
	bool cut = false;

	json->walk = (struct kwhy_kineto_walk){
		.text = kwhy_kineto_window_text(&json->window), .token = json->window.tokens};
	while (!status && !cut && json->walk.token < end) {
		unit = json->walk.token;
		status = read_unit(json, &cut, error);
	}
	cut |= json->walk.token > end;
	*out_used = cut ? *unit : json->window.cut;
	if (!status && cut && json->walk.token < end)
		return broken(json, json->walk.fault ? json->walk.fault : "a value was expected", error);
	return status;
}

static enum kwhy_status end_early(struct kwhy_rocprof_json *json, struct kwhy_error *error)
{
	if (json->rocprof.options->partial) {
		json->rocprof.recording->lost.truncated = true;
		return KWHY_OK;
	}
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s ends early, at byte %" PRIu64
		" of its text: the copy was cut, or the program was; copy or record again, or read what is "
		"whole with --partial",
		json->rocprof.tracks.path, json->window.offset + json->window.cut);
}

static enum kwhy_status read_document(struct kwhy_rocprof_json *json, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	size_t used = 0;
	bool whole = false;

	while (!status && !whole) {
		status = kwhy_kineto_window_next(&json->window, used, error);
		if (!status)
			status = walk_window(json, &used, error);
		whole = kwhy_kineto_window_whole(&json->window);
	}
	if (!status && (!json->done || json->window.failed || used < json->window.cut))
		status = end_early(json, error);
	return status;
}

static enum kwhy_status read_json(struct kwhy_recording *recording, const char *path,
	const struct kwhy_import_options *options, struct kwhy_error *error)
{
	const struct kwhy_source source = {.path = path, .format = KWHY_FORMAT_ROCPROF_JSON};
	struct kwhy_rocprof_json json = {0};
	struct kwhy_input *input;
	enum kwhy_status status = kwhy_rocprof_begin(&json.rocprof, recording, &source, options, error);

	if (!status)
		status = kwhy_input_open(path, &input, error);
	if (!status)
		status = kwhy_kineto_window_open(
			&json.window, input, json.rocprof.tracks.path, options->partial, error);
	if (!status)
		status = read_document(&json, error);
	if (!status)
		status = kwhy_rocprof_finish(&json.rocprof, error);
	kwhy_kineto_window_close(&json.window);
	kwhy_rocprof_json_forget(&json);
	kwhy_rocprof_release(&json.rocprof);
	return status;
}

static bool probe_json(const char *path, const unsigned char *head, size_t length)
{
	static const char key[] = "\"rocprofiler-sdk-tool\"";

	(void)path;
	return memmem(head, length, key, sizeof(key) - 1) != NULL;
}

const struct kwhy_trace_reader kwhy_reader_rocprof_json = {.probe = probe_json, .read = read_json};

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/study/state.h"

#include "base/file.h"
#include "cli/command.h"
#include "report/json/writer.h"
#include "sensor/sensor.h"

#include <dirent.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STATE_MAX_BYTES = 1 << 20, DEPTH_MAX = 4, LINE_BYTES = PATH_MAX + 64 };

#define SCHEMA "kwhy.study/1"

/* --- Stamps --- */

static void add_file(struct kwhy_sha256 *sum, const char *path, const struct stat *facts)
{
	char line[LINE_BYTES];
	const int length = snprintf(line, sizeof(line), "%s %lld %lld.%09ld\n", path,
		(long long)facts->st_size, (long long)facts->st_mtim.tv_sec, facts->st_mtim.tv_nsec);

	kwhy_sha256_add(sum, line, length < LINE_BYTES ? (size_t)length : LINE_BYTES - 1);
}

/*
 * Adds path, size and time of modification of a file to a digest or, for a folder, those of the files in it
 * and its subfolders, down to a depth of DEPTH_MAX; hidden files are left out. A missing path counts as a
 * file of size and time 0.
 */
static void add_path(struct kwhy_sha256 *sum, const char *path, unsigned depth)
{
	struct stat facts = {0};
	struct dirent **entries;
	int count;

	if (stat(path, &facts) || !S_ISDIR(facts.st_mode) || depth == DEPTH_MAX) {
		add_file(sum, path, &facts);
		return;
	}
	count = scandir(path, &entries, kwhy_file_is_shown, alphasort);
	for (int i = 0; i < count; i++) {
		char inner[PATH_MAX];

		if (snprintf(inner, sizeof(inner), "%s/%s", path, entries[i]->d_name) < PATH_MAX)
			add_path(sum, inner, depth + 1);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

enum kwhy_status kwhy_study_machine(struct kwhy_arena *arena, const char **out, struct kwhy_error *error)
{
	struct kwhy_sensor_request request = {.without_host = true};
	struct kwhy_text text = {0};
	struct kwhy_sensors *sensors;
	enum kwhy_status status;

	kwhy_sensor_request_see(&request);
	status = kwhy_sensors_open(&request, &sensors, error);
	if (status)
		return status;
	kwhy_text_add(&text, "kwhy " KWHY_VERSION " " KWHY_COMMIT "\n");
	for (size_t i = 0; i < sensors->device_count; i++) {
		const struct kwhy_sensor_device *device = &sensors->devices[i];

		kwhy_text_addf(&text, "%s %s %s\n", device->driver ? device->driver : "",
			device->name ? device->name : "", device->uuid ? device->uuid : "");
	}
	kwhy_sensors_close(sensors);
	*out = text.failed ? NULL : kwhy_arena_copy(arena, text.data);
	kwhy_text_done(&text);
	return *out ? KWHY_OK : kwhy_fail_memory(error, "the state of the study");
}

void kwhy_study_stamp(
	const char *machine, const struct kwhy_study_command *command, char out[KWHY_STUDY_STAMP_BYTES])
{
	unsigned char digest[KWHY_SHA256_BYTES];
	struct kwhy_sha256 sum;

	kwhy_sha256_init(&sum);
	kwhy_sha256_add(&sum, machine, strlen(machine) + 1);
	for (size_t i = 0; i < command->word_count; i++)
		kwhy_sha256_add(&sum, command->words[i], strlen(command->words[i]) + 1);
	for (size_t i = 0; i < command->input_count; i++)
		add_path(&sum, command->inputs[i], 0);
	kwhy_sha256_end(&sum, digest);
	for (size_t i = 0; i < KWHY_SHA256_BYTES; i++)
		snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

bool kwhy_study_is_current(
	const struct kwhy_study_command *command, const struct kwhy_study_result *result, const char *stamp)
{
	if (!result->is_done || strcmp(result->stamp, stamp) != 0)
		return false;
	for (size_t i = 0; i < command->output_count; i++)
		if (access(command->outputs[i], F_OK))
			return false;
	return true;
}

/* --- The file --- */

static void add_given(struct kwhy_text *out, const char *option, const char *value)
{
	if (!value)
		return;
	kwhy_text_addf(out, *option ? " %s " : " ", option);
	kwhy_command_add_word(out, value);
}

/* What the user gave to `kwhy study`, as the words of a command line; NULL: out of memory. */
static const char *given_text(const struct kwhy_study_request *request, struct kwhy_arena *arena)
{
	struct kwhy_text text = {0};
	const char *given;

	kwhy_text_add(&text, request->study->name);
	for (size_t i = 0; i < request->recording_count; i++)
		add_given(&text, "", request->recordings[i]);
	add_given(&text, "--backend", request->backend);
	add_given(&text, "--url", request->url);
	for (size_t i = 0; i < request->work_count; i++)
		add_given(&text, "--work", request->works[i]);
	kwhy_text_add(&text, request->quick ? " --quick" : "");
	for (size_t i = 0; i < request->program_count; i++)
		add_given(&text, i ? "" : "--", request->program[i]);
	given = text.failed ? NULL : kwhy_arena_copy(arena, text.data);
	kwhy_text_done(&text);
	return given;
}

static bool state_path(const struct kwhy_study_request *request, char out[PATH_MAX])
{
	return snprintf(out, PATH_MAX, "%s/study.json", request->folder) < PATH_MAX;
}

static const struct json_t *row_of(const json_t *rows, const char *id)
{
	for (size_t i = 0; i < json_array_size(rows); i++) {
		const char *name = json_string_value(json_object_get(json_array_get(rows, i), "id"));

		if (name && strcmp(name, id) == 0)
			return json_array_get(rows, i);
	}
	return NULL;
}

static void read_row(const json_t *row, struct kwhy_study_result *out)
{
	const char *stamp = json_string_value(json_object_get(row, "stamp")),
		   *begun = json_string_value(json_object_get(row, "begun"));

	if (!stamp && begun && strlen(begun) < sizeof(out->stamp))
		memcpy(out->stamp, begun, strlen(begun) + 1);
	if (!stamp || strlen(stamp) >= sizeof(out->stamp) ||
		!json_is_number(json_object_get(row, "seconds")) ||
		!json_is_integer(json_object_get(row, "ended_unix_s")))
		return;
	memcpy(out->stamp, stamp, strlen(stamp) + 1);
	out->is_done = true;
	out->seconds = json_number_value(json_object_get(row, "seconds"));
	out->ended_unix_s = json_integer_value(json_object_get(row, "ended_unix_s"));
}

static enum kwhy_status read_document(const struct kwhy_study_request *request, const char *path,
	const json_t *document, struct kwhy_study_state *out, struct kwhy_error *error)
{
	const char *schema = json_string_value(json_object_get(document, "schema")),
		   *given = json_string_value(json_object_get(document, "given"));

	if (!schema || strcmp(schema, SCHEMA) != 0 || !given)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s is no state of a study (" SCHEMA "); remove it, or name another folder by -o",
			path);
	if (strcmp(given, out->given) != 0)
		return kwhy_fail(error, KWHY_E_USAGE,
			"%s holds the study '%.200s', not '%.200s'; name another folder by -o",
			request->folder, given, out->given);
	for (size_t i = 0; i < request->study->step_count; i++)
		read_row(row_of(json_object_get(document, "steps"), request->study->steps[i].id),
			&out->results[i]);
	return KWHY_OK;
}

enum kwhy_status kwhy_study_state_read(const struct kwhy_study_request *request, struct kwhy_arena *arena,
	struct kwhy_study_state *out, struct kwhy_error *error)
{
	char path[PATH_MAX];
	struct kwhy_text text = {0};
	json_t *document;
	enum kwhy_status status;

	*out = (struct kwhy_study_state){.given = given_text(request, arena)};
	if (!out->given)
		return kwhy_fail_memory(error, "the state of the study");
	if (!state_path(request, path))
		return kwhy_fail(error, KWHY_E_USAGE, "the folder's name is too long; name another one");
	if (access(path, F_OK))
		return KWHY_OK;
	status = kwhy_file_read(path, STATE_MAX_BYTES, &text, error);
	if (status)
		return status;
	document = json_loadb(text.data ? text.data : "", text.length, 0, NULL);
	status = read_document(request, path, document, out, error);
	json_decref(document);
	kwhy_text_done(&text);
	return status;
}

static void write_row(
	struct kwhy_json *json, const struct kwhy_study_step *step, const struct kwhy_study_result *result)
{
	kwhy_json_row(json, NULL);
	kwhy_json_string(json, "id", step->id);
	kwhy_json_string(json, "stamp", result->is_done ? result->stamp : NULL);
	if (!result->is_done && *result->stamp)
		kwhy_json_string(json, "begun", result->stamp);
	if (result->is_done) {
		kwhy_json_real(json, "seconds", result->seconds);
		kwhy_json_int(json, "ended_unix_s", result->ended_unix_s);
	}
	kwhy_json_string(json, "not_measured", result->missing);
	kwhy_json_object_end(json);
}

enum kwhy_status kwhy_study_state_write(const struct kwhy_study_request *request,
	const struct kwhy_study_state *state, struct kwhy_error *error)
{
	char path[PATH_MAX];
	struct kwhy_text text = {0};
	struct kwhy_json json;
	enum kwhy_status status;

	if (!state_path(request, path))
		return kwhy_fail(error, KWHY_E_USAGE, "the folder's name is too long; name another one");
	kwhy_json_init(&json, &text);
	kwhy_json_object(&json, NULL);
	kwhy_json_string(&json, "schema", SCHEMA);
	kwhy_json_string(&json, "given", state->given);
	kwhy_json_array(&json, "steps");
	for (size_t i = 0; i < request->study->step_count; i++)
		write_row(&json, &request->study->steps[i], &state->results[i]);
	kwhy_json_array_end(&json);
	kwhy_json_object_end(&json);
	kwhy_text_add(&text, "\n");
	status = kwhy_text_check(&text, error);
	if (!status)
		status = kwhy_file_write(path, text.data, text.length, error);
	kwhy_text_done(&text);
	return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "import/import.h"
#include "import/json_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX_MIB = 64, NAME_MAX_BYTES = 65536, POWERS_MAX = 65536 };

#define POWER_MIN_W 1e-3
#define POWER_MAX_W 1e6

struct reader {
	struct kwhy_learnt_powers *powers;
	const char *path;
	struct kwhy_error *error;
};

/*
 * Fails with KWHY_E_INPUT and the message `words`. `number` is the index of the wrong item in the file's list
 * "powers"; SIZE_MAX: the error is about the whole file.
 */
static enum kwhy_status wrong(const struct reader *reader, size_t number, const char *words)
{
	char place[32] = "";

	if (number != SIZE_MAX)
		snprintf(place, sizeof(place), "powers[%zu]: ", number);
	return kwhy_fail(reader->error, KWHY_E_INPUT, "%s: %s%s; docs/formats/powers.md says what it holds",
		reader->path, place, words);
}

static bool is_number_within(const json_t *value, double low, double high, double *out)
{
	double number = json_is_number(value) ? json_number_value(value) : NAN;

	if (!(number >= low && number <= high))
		return false;
	*out = number;
	return true;
}

static enum kwhy_status read_text(
	const struct reader *reader, const json_t *value, const char **out, const char *words)
{
	size_t length = json_string_length(value);
	char *clean;

	if (!json_is_string(value) || length == 0 || length > NAME_MAX_BYTES)
		return kwhy_fail(reader->error, KWHY_E_INPUT,
			"%s: %s; docs/formats/powers.md says what it holds", reader->path, words);
	clean = kwhy_arena_alloc(&reader->powers->arena, 3 * length + 1, 1);
	if (!clean)
		return kwhy_fail_memory(reader->error, "learnt powers");
	kwhy_text_sanitize(clean, json_string_value(value), length);
	*out = clean;
	return KWHY_OK;
}

/*
 * Reads a power above the idle level and its standard deviation from {"value": 802.1, "spread": 9.2, "unit":
 * "W"}.
 */
static enum kwhy_status read_watts(
	const struct reader *reader, size_t number, const json_t *object, struct kwhy_learnt_power *out)
{
	const json_t *unit = json_object_get(object, "unit");

	if (!json_is_string(unit) || strcmp(json_string_value(unit), "W") != 0)
		return wrong(reader, number, "above_idle_w has not the unit \"W\"");
	if (!is_number_within(json_object_get(object, "value"), POWER_MIN_W, POWER_MAX_W, &out->above_idle_w))
		return wrong(reader, number, "above_idle_w has no value between 0.001 and 1000000 W");
	if (!is_number_within(json_object_get(object, "spread"), 0, POWER_MAX_W, &out->sd_w))
		return wrong(reader, number, "above_idle_w has no spread from 0 W");
	return KWHY_OK;
}

/*
 * Reads a whole number from 1. If `value` is missing or null, *out is unchanged. KWHY_E_INPUT: anything else;
 * `words` says so.
 */
static enum kwhy_status read_count(
	const struct reader *reader, size_t number, const json_t *value, uint32_t *out, const char *words)
{
	double count;

	if (!value || json_is_null(value))
		return KWHY_OK;
	if (!json_is_integer(value) || !is_number_within(value, 1, UINT32_MAX - 1, &count))
		return wrong(reader, number, words);
	*out = (uint32_t)count;
	return KWHY_OK;
}

static enum kwhy_status read_power(
	const struct reader *reader, size_t number, const json_t *item, struct kwhy_learnt_power *out)
{
	const json_t *launches = json_object_get(item, "launches"), *time = json_object_get(item, "time_ns");
	enum kwhy_status status;

	*out = (struct kwhy_learnt_power){.grid = {KWHY_UNKNOWN_BLOCKS, KWHY_NONE}};
	if (!json_is_object(item))
		return wrong(reader, number, "is not an object");
	status = read_text(reader, json_object_get(item, "name"), &out->name,
		"the name of a power is not a text of 1 to 65,536 bytes");
	if (!status)
		status = read_count(reader, number, json_object_get(item, "blocks"), &out->grid.blocks,
			"blocks is not a whole number from 1");
	if (!status)
		status = read_count(reader, number, json_object_get(item, "threads_per_block"),
			&out->grid.threads, "threads_per_block is not a whole number from 1");
	if (!status)
		status = read_watts(reader, number, json_object_get(item, "above_idle_w"), out);
	out->count = json_is_integer(launches) ? (uint64_t)json_integer_value(launches) : 0;
	out->time_ns = json_is_integer(time) ? json_integer_value(time) : 0;
	return status;
}

static enum kwhy_status read_powers(const struct reader *reader, const json_t *list)
{
	struct kwhy_learnt_powers *powers = reader->powers;
	const size_t count = json_array_size(list);
	enum kwhy_status status = KWHY_OK;

	if (!json_is_array(list) || count == 0 || count > POWERS_MAX)
		return wrong(reader, SIZE_MAX, "powers is not a list of 1 to 65,536 powers");
	powers->items = kwhy_arena_alloc(&powers->arena, count, sizeof(*powers->items));
	if (!powers->items)
		return kwhy_fail_memory(reader->error, "learnt powers");
	for (size_t i = 0; !status && i < count; i++)
		status = read_power(reader, i, json_array_get(list, i), &powers->items[i]);
	powers->count = count;
	return status;
}

static enum kwhy_status read_idle(const struct reader *reader, const json_t *object)
{
	const json_t *unit = json_object_get(object, "unit");

	reader->powers->context_idle_w = NAN;
	if (!object)
		return KWHY_OK;
	if (!json_is_string(unit) || strcmp(json_string_value(unit), "W") != 0 ||
		!is_number_within(json_object_get(object, "value"), POWER_MIN_W, POWER_MAX_W,
			&reader->powers->context_idle_w))
		return wrong(reader, SIZE_MAX,
			"context_idle_w has no value between 0.001 and 1000000 with the unit \"W\"");
	return KWHY_OK;
}

static enum kwhy_status read_root(const struct reader *reader, const json_t *root)
{
	const json_t *schema = json_object_get(root, "schema");
	enum kwhy_status status;

	if (!json_is_string(schema) || strcmp(json_string_value(schema), KWHY_POWERS_SCHEMA) != 0)
		return kwhy_fail(reader->error, KWHY_E_INPUT,
			"%s holds no learnt powers: its \"schema\" is not \"%s\"; write one with kwhy export "
			"--to powers",
			reader->path, KWHY_POWERS_SCHEMA);
	reader->powers->path = kwhy_arena_copy(&reader->powers->arena, reader->path);
	if (!reader->powers->path)
		return kwhy_fail_memory(reader->error, "learnt powers");
	status = read_text(reader, json_object_get(root, "device"), &reader->powers->device_name,
		"device is missing: powers are of one kind of device");
	if (!status)
		status = read_idle(reader, json_object_get(root, "context_idle_w"));
	return status ? status : read_powers(reader, json_object_get(root, "powers"));
}

enum kwhy_status kwhy_import_powers(
	const char *path, struct kwhy_learnt_powers **out, struct kwhy_error *error)
{
	struct reader reader = {.path = path, .error = error};
	enum kwhy_status status;
	json_t *root;

	status = kwhy_json_file_load(path, "file of powers", FILE_MAX_MIB, &root, error);
	if (status)
		return status;
	reader.powers = calloc(1, sizeof(*reader.powers));
	if (reader.powers)
		status = read_root(&reader, root);
	else
		status = kwhy_fail_memory(error, "learnt powers");
	json_decref(root);
	if (status)
		kwhy_learnt_powers_free(reader.powers);
	else
		*out = reader.powers;
	return status;
}

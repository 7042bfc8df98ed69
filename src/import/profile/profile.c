/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "import/import.h"
#include "import/json_file.h"
#include "import/own_result.h"
#include "import/profile/counters.h"
#include "import/profile/kinds.h"
#include "import/profile/operations.h"
#include "import/profile/transfers.h"
#include "import/results/values.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX_MIB = 4, TEXT_MAX_BYTES = 1024, KNOWN_POWERS_MAX = 4096 };

struct reader {
	struct kwhy_profile *profile;
	const char *path;
	struct kwhy_error *error;
};

#define PLACE(member) offsetof(struct kwhy_profile, member)

static const struct {
	const char *key;
	size_t offset;
} counts[] = {
	{"multiprocessors", PLACE(sm_count)},
	{"threads_per_multiprocessor", PLACE(threads_per_sm)},
	{"registers_per_multiprocessor", PLACE(registers_per_sm)},
	{"shared_bytes_per_multiprocessor", PLACE(shared_bytes_per_sm)},
};

static const struct {
	const char *part, *key;
	size_t offset;
} texts[] = {
	{"device", "name", PLACE(device_name)},
	{"conditions", "driver", PLACE(driver)},
	{"conditions", "measured_on", PLACE(measured_on)},
	{"conditions", "cuda", PLACE(cuda)},
};

static enum kwhy_status wrong(
	const struct reader *reader, const char *part, const char *key, const char *words)
{
	return kwhy_fail(reader->error, KWHY_E_INPUT,
		"%s: %s%s%s %s; docs/formats/profile.md says what a machine profile holds", reader->path,
		part, *key ? "." : "", key, words);
}

static enum kwhy_status set_text(
	const struct reader *reader, const json_t *value, const char *part, const char *key, const char **out)
{
	char clean[3 * TEXT_MAX_BYTES + 1];

	if (!json_is_string(value) || json_string_length(value) == 0 ||
		json_string_length(value) > TEXT_MAX_BYTES)
		return wrong(reader, part, key, "is not a text of 1 to 1,024 bytes");
	kwhy_text_sanitize(clean, json_string_value(value), json_string_length(value));
	*out = kwhy_arena_copy(&reader->profile->arena, clean);
	return *out ? KWHY_OK : kwhy_fail_memory(reader->error, "a machine profile");
}

static bool number_within(const json_t *value, double low, double high, double *out)
{
	double number = json_is_number(value) ? json_number_value(value) : NAN;

	if (!(number >= low && number <= high))
		return false;
	*out = number;
	return true;
}

/*
 * Reads a measured figure from {"value": 0.0145, "spread": 0.0015, "unit": "s", ...}. "spread" is its
 * standard deviation; if it is missing, out->sd is NAN.
 */
static enum kwhy_status read_measured(const struct reader *reader, const struct kwhy_profile_figure *figure,
	const json_t *object, struct kwhy_measured *out)
{
	const json_t *unit = json_object_get(object, "unit"), *sd = json_object_get(object, "spread");
	char words[128];

	if (!json_is_object(object))
		return wrong(
			reader, figure->part, figure->key, "is not an object with \"value\" and \"unit\"");
	if (!json_is_string(unit) || strcmp(json_string_value(unit), figure->unit) != 0) {
		snprintf(words, sizeof(words), "has not the unit \"%s\"", figure->unit);
		return wrong(reader, figure->part, figure->key, words);
	}
	*out = (struct kwhy_measured){NAN, NAN};
	if (!number_within(json_object_get(object, "value"), figure->low, figure->high, &out->value)) {
		snprintf(words, sizeof(words), "has no value between %g and %g %s", figure->low, figure->high,
			figure->unit);
		return wrong(reader, figure->part, figure->key, words);
	}
	if (sd && !number_within(sd, 0, figure->high, &out->sd))
		return wrong(reader, figure->part, figure->key, "has a spread that is not a number from 0");
	return KWHY_OK;
}

static enum kwhy_status read_figure(
	const struct reader *reader, const struct kwhy_profile_figure *figure, const json_t *root)
{
	const json_t *object = json_object_get(json_object_get(root, figure->part), figure->key);
	char *place = (char *)reader->profile + figure->offset;
	struct kwhy_measured measured = {NAN, NAN};
	enum kwhy_status status = object ? read_measured(reader, figure, object, &measured) : KWHY_OK;

	if (figure->has_spread)
		memcpy(place, &measured, sizeof(measured));
	else
		memcpy(place, &measured.value, sizeof(measured.value));
	return status;
}

static enum kwhy_status read_count(const struct reader *reader, size_t which, const json_t *device)
{
	const json_t *value = json_object_get(device, counts[which].key);
	double number;

	if (!value)
		return KWHY_OK;
	if (!json_is_integer(value) || !number_within(value, 1, UINT32_MAX, &number))
		return wrong(reader, "device", counts[which].key, "is not a whole number from 1");
	*(uint32_t *)(void *)((char *)reader->profile + counts[which].offset) = (uint32_t)number;
	return KWHY_OK;
}

static enum kwhy_status read_device(const struct reader *reader, const json_t *root)
{
	const json_t *device = json_object_get(root, "device");
	enum kwhy_status status = KWHY_OK;

	if (!json_is_string(json_object_get(device, "name")))
		return wrong(reader, "device", "name", "is missing: a profile is of one kind of device");
	for (size_t i = 0; !status && i < sizeof(counts) / sizeof(counts[0]); i++)
		status = read_count(reader, i, device);
	for (size_t i = 0; !status && i < sizeof(texts) / sizeof(texts[0]); i++) {
		const json_t *value = json_object_get(json_object_get(root, texts[i].part), texts[i].key);
		const char **place = (const char **)(void *)((char *)reader->profile + texts[i].offset);

		if (value)
			status = set_text(reader, value, texts[i].part, texts[i].key, place);
	}
	return status;
}

static enum kwhy_status read_known_power(
	const struct reader *reader, const json_t *item, struct kwhy_known_power *out)
{
	static const struct kwhy_profile_figure power = {"known_powers", "power_w", "W", 1e-3, 1e6, 0, true};
	const json_t *pattern = json_object_get(item, "pattern");
	enum kwhy_status status;

	if (!pattern)
		return wrong(reader, "known_powers", "pattern", "is missing");
	status = set_text(reader, pattern, "known_powers", "pattern", &out->pattern);
	return status ? status
		      : read_measured(reader, &power, json_object_get(item, "power_w"), &out->power_w);
}

static enum kwhy_status read_known_powers(const struct reader *reader, const json_t *root)
{
	const json_t *list = json_object_get(root, "known_powers");
	struct kwhy_profile *profile = reader->profile;
	size_t count = json_array_size(list);
	enum kwhy_status status = KWHY_OK;

	if (list && (!json_is_array(list) || count > KNOWN_POWERS_MAX))
		return wrong(reader, "known_powers", "", "is not a list of at most 4,096 powers");
	if (count == 0)
		return KWHY_OK;
	profile->known_powers = kwhy_arena_alloc(&profile->arena, count, sizeof(*profile->known_powers));
	if (!profile->known_powers)
		return kwhy_fail_memory(reader->error, "a machine profile");
	for (size_t i = 0; !status && i < count; i++)
		status = read_known_power(reader, json_array_get(list, i), &profile->known_powers[i]);
	profile->known_power_count = count;
	return status;
}

static enum kwhy_status read_transfers(const struct reader *reader, const json_t *root)
{
	const json_t *part = json_object_get(root, "transfers");

	if (!part)
		return KWHY_OK;
	return kwhy_import_profile_transfers(
		reader->path, part, &reader->profile->arena, &reader->profile->transfers, reader->error);
}

static enum kwhy_status read_operations(const struct reader *reader, const json_t *root)
{
	const json_t *part = json_object_get(root, "operations");

	return part ? kwhy_import_profile_operations(reader->path, part, reader->profile, reader->error)
		    : KWHY_OK;
}

static enum kwhy_status read_kinds(const struct reader *reader, const json_t *root)
{
	const json_t *part = json_object_get(root, "kernel_kinds");

	return part ? kwhy_import_profile_kinds(reader->path, part, reader->profile, reader->error) : KWHY_OK;
}

static enum kwhy_status read_counters(const struct reader *reader, const json_t *root)
{
	const json_t *part = json_object_get(root, "counter_model");

	return part ? kwhy_import_profile_counters(reader->path, part, reader->profile, reader->error)
		    : KWHY_OK;
}

static enum kwhy_status read_root(const struct reader *reader, const json_t *root)
{
	const char *schema = kwhy_json_text_of(root, "schema");
	bool is_profile = strcmp(schema, KWHY_PROFILE_SCHEMA) == 0;
	enum kwhy_status status = is_profile
		? KWHY_OK
		: kwhy_own_result_refuse(reader->path, schema, "a machine profile", reader->error);

	if (status)
		return status;
	if (!is_profile)
		return kwhy_fail(reader->error, KWHY_E_INPUT,
			"%s is not a machine profile: it has no member \"schema\": \"%s\"; write one as "
			"docs/formats/profile.md says",
			reader->path, KWHY_PROFILE_SCHEMA);
	status = read_device(reader, root);
	for (size_t i = 0; !status && i < kwhy_profile_figure_count; i++)
		status = read_figure(reader, &kwhy_profile_figures[i], root);
	if (!status)
		status = read_known_powers(reader, root);
	if (!status)
		status = read_kinds(reader, root);
	if (!status)
		status = read_counters(reader, root);
	if (!status)
		status = read_operations(reader, root);
	return status ? status : read_transfers(reader, root);
}

enum kwhy_status kwhy_import_profile(const char *path, struct kwhy_profile **out, struct kwhy_error *error)
{
	struct reader reader = {.path = path, .error = error};
	enum kwhy_status status;
	json_t *root;

	status = kwhy_json_file_load(path, "machine profile", FILE_MAX_MIB, &root, error);
	if (status)
		return status;
	reader.profile = malloc(sizeof(*reader.profile));
	if (reader.profile)
		kwhy_profile_init(reader.profile);
	if (reader.profile)
		status = read_root(&reader, root);
	else
		status = kwhy_fail_memory(error, "a machine profile");
	json_decref(root);
	if (!status) {
		reader.profile->path = kwhy_arena_copy(&reader.profile->arena, path);
		if (!reader.profile->path)
			status = kwhy_fail_memory(error, "a machine profile");
	}
	if (status) {
		kwhy_profile_free(reader.profile);
		return status;
	}
	*out = reader.profile;
	return KWHY_OK;
}

void kwhy_profile_free(struct kwhy_profile *profile)
{
	if (!profile)
		return;
	kwhy_arena_done(&profile->arena);
	free(profile);
}

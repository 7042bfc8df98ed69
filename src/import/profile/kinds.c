/* SPDX-License-Identifier: Apache-2.0 */
#include "import/profile/kinds.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { KINDS_MAX = 256, NAMES_MAX = 64, NAME_MAX_BYTES = 256 };

#define POWER_MAX_W 1e6

struct reader {
	const char *path;
	struct kwhy_arena *arena;
	struct kwhy_error *error;
};

static enum kwhy_status wrong(const struct reader *reader, const char *key, const char *words)
{
	return kwhy_fail(reader->error, KWHY_E_INPUT,
		"%s: kernel_kinds.%s %s; docs/formats/profile.md says what a machine profile holds",
		reader->path, key, words);
}

static enum kwhy_status read_number(const struct reader *reader, const json_t *object, const char *key,
	double low, double high, double *out)
{
	const json_t *value = json_object_get(object, key);
	char words[96];

	*out = json_is_number(value) ? json_number_value(value) : NAN;
	if (*out >= low && *out <= high)
		return KWHY_OK;
	snprintf(words, sizeof(words), "is not a number between %g and %g", low, high);
	return wrong(reader, key, words);
}

static enum kwhy_status copy_text(
	const struct reader *reader, const json_t *value, const char *key, const char **out)
{
	const size_t bytes = json_string_length(value);

	if (bytes == 0 || bytes > NAME_MAX_BYTES)
		return wrong(reader, key, "is not a text of 1 to 256 bytes");
	*out = kwhy_arena_copy(reader->arena, json_string_value(value));
	return *out ? KWHY_OK : kwhy_fail_memory(reader->error, "a machine profile");
}

static enum kwhy_status read_names(
	const struct reader *reader, const json_t *list, struct kwhy_kind_power *kind)
{
	const size_t count = json_array_size(list);
	enum kwhy_status status = KWHY_OK;
	const char **names;

	if (count == 0 || count > NAMES_MAX)
		return wrong(reader, "kinds.names", "is not a list of 1 to 64 patterns");
	names = kwhy_arena_alloc(reader->arena, count, sizeof(*names));
	if (!names)
		return kwhy_fail_memory(reader->error, "a machine profile");
	for (size_t i = 0; !status && i < count; i++)
		status = copy_text(reader, json_array_get(list, i), "kinds.names", &names[i]);
	kind->names = names;
	kind->name_count = count;
	return status;
}

static enum kwhy_status read_kind(
	const struct reader *reader, const json_t *item, struct kwhy_kind_power *kind)
{
	const json_t *power = json_object_get(item, "above_idle_w");
	const char *unit = json_string_value(json_object_get(power, "unit"));
	enum kwhy_status status = copy_text(reader, json_object_get(item, "kind"), "kinds.kind", &kind->kind);

	if (!status)
		status = read_names(reader, json_object_get(item, "names"), kind);
	if (!status && (!unit || strcmp(unit, "W") != 0))
		return wrong(reader, "kinds.above_idle_w", "has not the unit \"W\"");
	if (!status)
		status = read_number(reader, power, "value", 1e-3, POWER_MAX_W, &kind->above_idle_w.value);
	return status ? status
		      : read_number(reader, power, "spread", 1e-3 * kind->above_idle_w.value, POWER_MAX_W,
				&kind->above_idle_w.sd);
}

enum kwhy_status kwhy_import_profile_kinds(
	const char *path, const json_t *part, struct kwhy_profile *profile, struct kwhy_error *error)
{
	const struct reader reader = {path, &profile->arena, error};
	struct kwhy_kernel_kinds *kinds = &profile->kernel_kinds;
	const json_t *list = json_object_get(part, "kinds");
	const size_t count = json_array_size(list);
	enum kwhy_status status = read_number(&reader, part, "ramp_s", 1e-9, 1, &kinds->ramp_s);

	if (!status)
		status = read_number(&reader, part, "ramp_exponent", 0, 2, &kinds->ramp_exponent);
	if (!status)
		status = read_number(&reader, part, "fill_exponent", 0, 2, &kinds->fill_exponent);
	if (!status && (count == 0 || count > KINDS_MAX))
		return wrong(&reader, "kinds", "is not a list of 1 to 256 kinds");
	if (status)
		return status;
	kinds->items = kwhy_arena_alloc(&profile->arena, count, sizeof(*kinds->items));
	if (!kinds->items)
		return kwhy_fail_memory(error, "a machine profile");
	for (size_t i = 0; !status && i < count; i++)
		status = read_kind(&reader, json_array_get(list, i), &kinds->items[i]);
	kinds->count = count;
	return status;
}

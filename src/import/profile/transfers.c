/* SPDX-License-Identifier: Apache-2.0 */
#include "import/profile/transfers.h"

#include "base/text.h"

#include <math.h>
#include <string.h>

enum { ITEMS_MAX = 16384, NAME_MAX_BYTES = 64 };

struct reader {
	const char *path;
	struct kwhy_arena *arena;
	struct kwhy_error *error;
};

static enum kwhy_status wrong(const struct reader *reader, const char *list, size_t which, const char *words)
{
	return kwhy_fail(reader->error, KWHY_E_INPUT,
		"%s: transfers.%s[%zu] %s; docs/formats/profile.md says what a machine profile holds",
		reader->path, list, which, words);
}

static double number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

/*
 * Copies a short name without control characters to the arena. NULL: the name is missing or malformed, or
 * memory is exhausted.
 */
static const char *name_of(const struct reader *reader, const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	if (!text || !*text || strlen(text) > NAME_MAX_BYTES || !kwhy_text_is_clean(text, strlen(text)))
		return NULL;
	return kwhy_arena_copy(reader->arena, text);
}

static bool find_direction(const json_t *object, enum kwhy_transfer_direction *out)
{
	const char *text = json_string_value(json_object_get(object, "direction"));

	for (int i = 0; text && i < KWHY_TRANSFER_DIRECTION_COUNT; i++)
		if (strcmp(text, kwhy_transfer_direction_name((enum kwhy_transfer_direction)i)) == 0) {
			*out = (enum kwhy_transfer_direction)i;
			return true;
		}
	return false;
}

/*
 * Reads by which clock the times of a curve were measured. "energy" instead of a clock marks a curve of
 * joules. False: neither.
 */
static bool find_clock(const json_t *object, struct kwhy_transfer_curve *out)
{
	const char *text = json_string_value(json_object_get(object, "clock"));

	out->is_energy = text && strcmp(text, "energy") == 0;
	for (int i = 0; text && i < KWHY_TRANSFER_CLOCK_COUNT; i++)
		if (strcmp(text, kwhy_transfer_clock_name((enum kwhy_transfer_clock)i)) == 0) {
			out->clock = (enum kwhy_transfer_clock)i;
			return true;
		}
	return out->is_energy;
}

/*
 * Reads a segment of a curve, alpha + beta * bytes for sizes from from_bytes to to_bytes. False: it is
 * malformed, or begins below `after`, the size at which the previous segment ends.
 */
static bool read_segment(const json_t *item, bool is_energy, double after, struct kwhy_transfer_segment *out)
{
	out->from_bytes = number(item, "from_bytes");
	out->to_bytes = number(item, "to_bytes");
	out->alpha_s = number(item, is_energy ? "alpha_j" : "alpha_s");
	out->beta_s_per_byte = number(item, is_energy ? "beta_j_per_byte" : "beta_s_per_byte");
	return out->from_bytes >= after && out->to_bytes >= out->from_bytes && fabs(out->alpha_s) < 1e9 &&
		out->beta_s_per_byte >= 0 && out->beta_s_per_byte < 1e9 && out->to_bytes < 1e18;
}

static enum kwhy_status read_curve(
	const struct reader *reader, const json_t *item, size_t which, struct kwhy_transfer_curve *out)
{
	const json_t *segments = json_object_get(item, "segments");

	out->strategy = name_of(reader, item, "strategy");
	if (!out->strategy || !find_direction(item, &out->direction) || !find_clock(item, out))
		return wrong(reader, "curves", which, "has no strategy, direction and clock that there are");
	out->segment_count = json_array_size(segments);
	if (out->segment_count == 0 || out->segment_count > KWHY_TRANSFER_SEGMENTS_MAX)
		return wrong(reader, "curves", which, "has not one to six segments");
	for (size_t i = 0; i < out->segment_count; i++)
		if (!read_segment(json_array_get(segments, i), out->is_energy,
			    i ? out->segments[i - 1].to_bytes : 0, &out->segments[i]))
			return wrong(
				reader, "curves", which, "has a segment without numbers, or out of order");
	out->residual_ratio = number(item, "residual_ratio");
	out->held_out_ratio = number(item, "held_out_ratio");
	out->held_out_worst_ratio = number(item, "held_out_worst_ratio");
	out->point_count = (size_t)json_integer_value(json_object_get(item, "points"));
	return KWHY_OK;
}

static enum kwhy_status read_choice(
	const struct reader *reader, const json_t *item, size_t which, struct kwhy_transfer_choice *out)
{
	json_int_t bytes = json_integer_value(json_object_get(item, "piece_bytes")),
		   pieces = json_integer_value(json_object_get(item, "pieces"));

	out->strategy = name_of(reader, item, "strategy");
	out->median_s = number(item, "median_s");
	if (!out->strategy || !find_direction(item, &out->direction) || bytes < 1 || pieces < 1 ||
		pieces > UINT32_MAX || !(out->median_s > 0))
		return wrong(reader, "choices", which,
			"has no strategy, direction, piece_bytes, pieces and median_s that can be");
	out->piece_bytes = (uint64_t)bytes;
	out->pieces = (uint32_t)pieces;
	out->second = name_of(reader, item, "second");
	out->second_s = number(item, "second_s");
	out->is_sure = json_is_true(json_object_get(item, "sure"));
	return KWHY_OK;
}

/*
 * Allocates *out_count items for the JSON list `list`; a missing list gives 0 items. `name` names the list in
 * messages. KWHY_E_INPUT: the value is no list, or has more than ITEMS_MAX items.
 */
static enum kwhy_status make_list(const struct reader *reader, const json_t *list, const char *name,
	size_t item_bytes, void **out, size_t *out_count)
{
	size_t count = json_array_size(list);

	*out = NULL;
	*out_count = 0;
	if (list && (!json_is_array(list) || count > ITEMS_MAX))
		return wrong(reader, name, 0, "is in no list of at most 16,384");
	if (count == 0)
		return KWHY_OK;
	*out = kwhy_arena_alloc(reader->arena, count, item_bytes);
	if (!*out)
		return kwhy_fail_memory(reader->error, "a machine profile");
	*out_count = count;
	return KWHY_OK;
}

static enum kwhy_status read_curves(
	const struct reader *reader, const json_t *part, struct kwhy_transfers *out)
{
	const json_t *list = json_object_get(part, "curves");
	void *items;
	enum kwhy_status status = make_list(
		reader, list, "curves", sizeof(*out->curves), &items, &out->curve_count);

	out->curves = items;
	for (size_t i = 0; !status && i < out->curve_count; i++)
		status = read_curve(reader, json_array_get(list, i), i, &out->curves[i]);
	return status;
}

static enum kwhy_status read_choices(
	const struct reader *reader, const json_t *part, struct kwhy_transfers *out)
{
	const json_t *list = json_object_get(part, "choices");
	void *items;
	enum kwhy_status status = make_list(
		reader, list, "choices", sizeof(*out->choices), &items, &out->choice_count);

	out->choices = items;
	for (size_t i = 0; !status && i < out->choice_count; i++)
		status = read_choice(reader, json_array_get(list, i), i, &out->choices[i]);
	return status;
}

static uint64_t limit_of(const json_t *limits, const char *key)
{
	json_int_t bytes = json_integer_value(json_object_get(limits, key));

	return bytes > 0 ? (uint64_t)bytes : 0;
}

enum kwhy_status kwhy_import_profile_transfers(const char *path, const json_t *part, struct kwhy_arena *arena,
	const struct kwhy_transfers **out, struct kwhy_error *error)
{
	const struct reader reader = {path, arena, error};
	const json_t *limits = json_object_get(part, "overtaking");
	struct kwhy_transfers *transfers;
	enum kwhy_status status;

	if (!json_is_object(part))
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s: transfers is not an object; docs/formats/profile.md says what a machine profile "
			"holds",
			path);
	transfers = kwhy_arena_alloc(arena, 1, sizeof(*transfers));
	if (!transfers)
		return kwhy_fail_memory(error, "a machine profile");
	status = read_curves(&reader, part, transfers);
	if (!status)
		status = read_choices(&reader, part, transfers);
	if (status)
		return status;
	transfers->crossover = (struct kwhy_transfer_crossover){limit_of(limits, "put_packed_bytes"),
		limit_of(limits, "get_packed_bytes"), limit_of(limits, "batch_bytes")};
	*out = transfers;
	return KWHY_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "import/csv/comments.h"

#include "base/column.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COVERAGE_MAX = 65536, SELECTION_MAX = 64, KEY_BYTES = 32, LARGEST_W = 100000 };

/* Form of the value of a KEY=VALUE pair. */
enum value_form { FORM_TEXT, FORM_COUNT, FORM_BYTES, FORM_WATTS, FORM_RANK };

static const struct device_key {
	const char *key;
	enum value_form form;
	size_t offset; /* offset of the member in struct kwhy_device, bytes */
} device_keys[] = {
	{"name", FORM_TEXT, offsetof(struct kwhy_device, name)},
	{"uuid", FORM_TEXT, offsetof(struct kwhy_device, uuid)},
	{"pci", FORM_TEXT, offsetof(struct kwhy_device, pci)},
	{"sms", FORM_COUNT, offsetof(struct kwhy_device, sm_count)},
	{"threads_per_sm", FORM_COUNT, offsetof(struct kwhy_device, threads_per_sm)},
	{"registers_per_sm", FORM_COUNT, offsetof(struct kwhy_device, registers_per_sm)},
	{"shared_bytes_per_sm", FORM_COUNT, offsetof(struct kwhy_device, shared_bytes_per_sm)},
	{"memory_bytes", FORM_BYTES, offsetof(struct kwhy_device, memory_bytes)},
	{"limit_w", FORM_WATTS, offsetof(struct kwhy_device, limit_mw)},
	{"context_idle_w", FORM_WATTS, offsetof(struct kwhy_device, context_idle_mw)},
	{"clean_idle_w", FORM_WATTS, offsetof(struct kwhy_device, clean_idle_mw)},
	{"rank", FORM_RANK, offsetof(struct kwhy_device, rank)},
};

enum kwhy_status kwhy_csv_comments_init(struct kwhy_csv_comments *comments, struct kwhy_csv_clock *clock,
	struct kwhy_tracks *tracks, struct kwhy_error *error)
{
	*comments = (struct kwhy_csv_comments){.clock = clock, .tracks = tracks};
	comments->ranks = malloc(KWHY_CSV_DEVICES_MAX * sizeof(*comments->ranks));
	if (!comments->ranks)
		return kwhy_fail_memory(error, "the devices of a trace");
	for (size_t i = 0; i < KWHY_CSV_DEVICES_MAX; i++)
		comments->ranks[i] = KWHY_NONE;
	return KWHY_OK;
}

void kwhy_csv_comments_done(struct kwhy_csv_comments *comments)
{
	free(comments->coverage);
	free(comments->ranks);
}

enum kwhy_status kwhy_csv_comments_device(
	struct kwhy_csv_comments *comments, int32_t index, uint32_t *out_device, struct kwhy_error *error)
{
	const struct kwhy_track_device device = {index, comments->ranks[index], KWHY_NONE};

	comments->last_index = index;
	return kwhy_tracks_device(comments->tracks, &device, out_device, error);
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t';
}

static void skip_space(struct kwhy_span *rest)
{
	while (rest->length > 0 && is_space(*rest->bytes)) {
		rest->bytes++;
		rest->length--;
	}
}

/*
 * Takes the next word from the front of a text; the result is empty at the end of the text. White space
 * inside double quotes is part of the word.
 */
static struct kwhy_span take_word(struct kwhy_span *rest)
{
	struct kwhy_span word;
	bool quoted = false;

	skip_space(rest);
	word = (struct kwhy_span){rest->bytes, 0};
	while (rest->length > 0 && (quoted || !is_space(*rest->bytes))) {
		quoted ^= *rest->bytes == '"';
		word.length++;
		rest->bytes++;
		rest->length--;
	}
	return word;
}

static bool word_is(struct kwhy_span word, const char *text)
{
	return word.length == strlen(text) && !memcmp(word.bytes, text, word.length);
}

static struct kwhy_span unquoted(struct kwhy_span word)
{
	if (word.length >= 2 && word.bytes[0] == '"' && word.bytes[word.length - 1] == '"') {
		word.bytes++;
		word.length -= 2;
	}
	return word;
}

static enum kwhy_status line_wrong(const struct kwhy_csv *csv, const char *words, struct kwhy_error *error)
{
	return kwhy_csv_fail(csv, KWHY_CSV_COLUMNS_MAX, error, words);
}

/*
 * Converts a text in watts to milliwatts. False: the text is not a decimal number from 0.001 to LARGEST_W
 * with at most three decimals.
 */
static bool parse_watts(struct kwhy_span text, int64_t *out_mw)
{
	int64_t value = 0;
	int decimals = -1;

	for (size_t i = 0; i < text.length; i++) {
		char c = text.bytes[i];

		if (c == '.' && decimals < 0) {
			decimals = 0;
			continue;
		}
		if (c < '0' || c > '9' || value > LARGEST_W * INT64_C(1000) || decimals == 3)
			return false;
		value = value * 10 + (c - '0');
		decimals += decimals >= 0;
	}
	for (decimals = decimals < 0 ? 0 : decimals; decimals < 3; decimals++)
		value *= 10;
	*out_mw = value;
	return value > 0 && value <= LARGEST_W * INT64_C(1000);
}

static enum kwhy_status set_text(
	struct kwhy_csv_comments *comments, struct kwhy_span value, void *slot, struct kwhy_error *error)
{
	const char *copy = kwhy_tracks_text(comments->tracks, value.bytes, value.length);

	if (!copy)
		return kwhy_fail_memory(error, "the names of devices");
	memcpy(slot, &copy, sizeof(copy));
	return KWHY_OK;
}

/* Sets the member of a device that `key` describes. An empty value leaves the member unchanged. */
static enum kwhy_status set_value(struct kwhy_csv_comments *comments, const struct kwhy_csv *csv,
	const struct device_key *key, struct kwhy_span value, struct kwhy_device *device,
	struct kwhy_error *error)
{
	static const struct kwhy_csv_range ranges[] = {[FORM_COUNT] = {1, UINT32_MAX},
		[FORM_BYTES] = {1, INT64_MAX},
		[FORM_RANK] = {0, UINT32_MAX - 1}};
	void *slot = (char *)device + key->offset;
	enum kwhy_status status;
	int64_t number;

	if (value.length == 0)
		return KWHY_OK;
	if (key->form == FORM_TEXT)
		return set_text(comments, value, slot, error);
	if (key->form == FORM_WATTS) {
		if (!parse_watts(value, &number))
			return line_wrong(csv,
				"a power in watts has digits, at most three decimals, and is above 0", error);
		memcpy(slot, &number, sizeof(number));
		return KWHY_OK;
	}
	status = kwhy_csv_parse_integer(csv, key->key, value, ranges[key->form], &number, error);
	if (status)
		return status;
	if (key->form == FORM_BYTES)
		*(uint64_t *)slot = (uint64_t)number;
	else
		*(uint32_t *)slot = (uint32_t)number;
	return KWHY_OK;
}

static const struct device_key *find_key(struct kwhy_span word)
{
	for (size_t i = 0; i < sizeof(device_keys) / sizeof(device_keys[0]); i++)
		if (word_is(word, device_keys[i].key))
			return &device_keys[i];
	return NULL;
}

static enum kwhy_status note_key(
	struct kwhy_csv_comments *comments, struct kwhy_span name, struct kwhy_error *error)
{
	const char *shown;

	if (comments->key_noted)
		return KWHY_OK;
	comments->key_noted = true;
	shown = kwhy_tracks_text(
		comments->tracks, name.bytes, name.length < KEY_BYTES ? name.length : KEY_BYTES);
	if (!shown)
		return kwhy_fail_memory(error, "notes");
	return kwhy_recording_add_note(comments->tracks->recording, KWHY_NOTE_WARNING, "csv-device-key",
		error, "%s states \"%s\" of a device; that is not known here and was left out.",
		comments->tracks->path, shown);
}

/* Splits KEY=VALUE. False: the word has no '='. */
static bool cut_pair(struct kwhy_span word, struct kwhy_span *out_key, struct kwhy_span *out_value)
{
	const char *equals = memchr(word.bytes, '=', word.length);

	if (!equals)
		return false;
	*out_key = (struct kwhy_span){word.bytes, (size_t)(equals - word.bytes)};
	*out_value = unquoted((struct kwhy_span){equals + 1, word.length - out_key->length - 1});
	return true;
}

/*
 * Reads only the pair rank=N of a line "# device INDEX KEY=VALUE ...". It is read before the other pairs,
 * because index and rank together identify the device that the line describes.
 */
static enum kwhy_status read_rank(struct kwhy_csv_comments *comments, const struct kwhy_csv *csv,
	struct kwhy_span rest, int32_t index, struct kwhy_error *error)
{
	struct kwhy_device device = {.rank = comments->ranks[index]};
	struct kwhy_track_key track = {.a = index, .b = device.rank};
	struct kwhy_span word, name, value;
	enum kwhy_status status = KWHY_OK;
	uint32_t known;

	for (word = take_word(&rest); !status && word.length > 0; word = take_word(&rest)) {
		const struct device_key *key = cut_pair(word, &name, &value) ? find_key(name) : NULL;

		if (key && key->form == FORM_RANK)
			status = set_value(comments, csv, key, value, &device, error);
	}
	if (status || device.rank == comments->ranks[index])
		return status;
	comments->ranks[index] = device.rank;
	if (!kwhy_track_map_find(&comments->tracks->devices, track, &known))
		return KWHY_OK;
	/* earlier rows used the device with this index before its rank was known; the device gets the rank */
	comments->tracks->recording->devices[known].rank = device.rank;
	track.b = device.rank;
	return kwhy_track_map_put(&comments->tracks->devices, track, known, error);
}

static enum kwhy_status read_pairs(struct kwhy_csv_comments *comments, const struct kwhy_csv *csv,
	struct kwhy_span rest, struct kwhy_device *device, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	struct kwhy_span word, name, value;

	for (word = take_word(&rest); !status && word.length > 0; word = take_word(&rest)) {
		const struct device_key *key;

		if (!cut_pair(word, &name, &value))
			return line_wrong(
				csv, "after \"# device NUMBER\" comes KEY=VALUE, with no space in it", error);
		key = find_key(name);
		status = key ? set_value(comments, csv, key, value, device, error)
			     : note_key(comments, name, error);
	}
	return status;
}

static enum kwhy_status read_device(struct kwhy_csv_comments *comments, const struct kwhy_csv *csv,
	struct kwhy_span rest, struct kwhy_error *error)
{
	static const struct kwhy_csv_range indexes = {0, KWHY_CSV_DEVICES_MAX - 1};
	enum kwhy_status status;
	int64_t index;
	uint32_t device;

	status = kwhy_csv_parse_integer(csv, "# device", take_word(&rest), indexes, &index, error);
	if (!status)
		status = read_rank(comments, csv, rest, (int32_t)index, error);
	if (!status)
		status = kwhy_csv_comments_device(comments, (int32_t)index, &device, error);
	if (status)
		return status;
	comments->device_stated = true;
	return read_pairs(comments, csv, rest, &comments->tracks->recording->devices[device], error);
}

/*
 * Reads the start and the end of a window, the next two words of *rest. `form` shows the line's syntax in
 * messages.
 */
static enum kwhy_status read_window(struct kwhy_csv_comments *comments, const struct kwhy_csv *csv,
	const char *form, struct kwhy_span *rest, struct kwhy_coverage *out, struct kwhy_error *error)
{
	static const struct kwhy_csv_range any = {INT64_MIN + 2000000000, INT64_MAX};
	int64_t *const ends[] = {&out->start_ns, &out->end_ns};
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < 2; i++) {
		int64_t time;

		status = kwhy_csv_parse_integer(csv, form, take_word(rest), any, &time, error);
		if (!status)
			status = kwhy_csv_clock_apply(
				comments->clock, csv, KWHY_CSV_COLUMNS_MAX, time, ends[i], error);
	}
	if (!status && out->end_ns <= out->start_ns)
		return line_wrong(csv, "it ends before it begins; swap its times", error);
	return status;
}

static enum kwhy_status read_coverage(struct kwhy_csv_comments *comments, const struct kwhy_csv *csv,
	struct kwhy_span rest, struct kwhy_error *error)
{
	struct kwhy_coverage coverage = {.device = KWHY_NONE};
	enum kwhy_status status;

	if (comments->coverage_count == COVERAGE_MAX)
		return line_wrong(csv, "more than 65,536 lines state coverage; join them", error);
	status = read_window(comments, csv, "# coverage START_NS END_NS", &rest, &coverage, error);
	if (!status)
		status = kwhy_column_reserve((void **)&comments->coverage, &comments->coverage_capacity,
			comments->coverage_count + 1, sizeof(*comments->coverage), "coverage", error);
	if (!status)
		comments->coverage[comments->coverage_count++] = coverage;
	return status;
}

/*
 * Reads "# selection START_NS END_NS CHOICE": between these times only parts of the run were recorded. CHOICE
 * says what the parts were chosen by: "time", "range" (only inside ranges of a name) or "duty" (random
 * windows); see enum kwhy_choice. The selection applies to all devices.
 */
static enum kwhy_status read_selection(struct kwhy_csv_comments *comments, const struct kwhy_csv *csv,
	struct kwhy_span rest, struct kwhy_error *error)
{
	struct kwhy_selection selection = {.device = KWHY_NONE, .share_ratio = NAN};
	struct kwhy_coverage window;
	enum kwhy_status status = read_window(
		comments, csv, "# selection START_NS END_NS CHOICE", &rest, &window, error);
	struct kwhy_span word = take_word(&rest);

	if (comments->tracks->recording->selection_count >= SELECTION_MAX)
		return line_wrong(csv, "more than 64 lines state a selection; a run has one", error);
	for (uint32_t i = KWHY_CHOICE_TIME; i < KWHY_CHOICE_COUNT; i++)
		if (word_is(word, kwhy_choice_name((enum kwhy_choice)i)))
			selection.choice = i;
	if (!status && selection.choice == KWHY_CHOICE_ALL)
		return line_wrong(csv, "a selection is by time, range or duty; say which", error);
	selection.start_ns = window.start_ns;
	selection.end_ns = window.end_ns;
	return status ? status : kwhy_recording_add_selection(comments->tracks->recording, &selection, error);
}

enum kwhy_status kwhy_csv_comments_read(
	struct kwhy_csv_comments *comments, const struct kwhy_csv *csv, struct kwhy_error *error)
{
	struct kwhy_span rest = kwhy_csv_comment(csv);
	struct kwhy_span word = take_word(&rest);

	if (word_is(word, "device"))
		return read_device(comments, csv, rest, error);
	if (word_is(word, "coverage"))
		return read_coverage(comments, csv, rest, error);
	if (word_is(word, "selection"))
		return read_selection(comments, csv, rest, error);
	if (!word_is(word, "clock"))
		return KWHY_OK;
	skip_space(&rest);
	return kwhy_csv_clock_state(comments->clock, csv, rest, error);
}

static bool holds_device(const struct kwhy_csv_comments *comments, const struct kwhy_device *device)
{
	return device->index >= 0 && device->index < KWHY_CSV_DEVICES_MAX &&
		comments->ranks[device->index] == device->rank;
}

enum kwhy_status kwhy_csv_comments_add_coverage(struct kwhy_csv_comments *comments, struct kwhy_error *error)
{
	struct kwhy_recording *recording = comments->tracks->recording;
	enum kwhy_status status = KWHY_OK;

	for (uint32_t device = 0; device < recording->device_count; device++) {
		struct kwhy_track_key key = {
			.a = recording->devices[device].index, .b = recording->devices[device].rank};
		uint32_t ours;

		if (!holds_device(comments, &recording->devices[device]) ||
			!kwhy_track_map_find(&comments->tracks->devices, key, &ours))
			continue;
		for (size_t i = 0; !status && i < comments->coverage_count; i++) {
			struct kwhy_coverage coverage = comments->coverage[i];

			coverage.device = device;
			status = kwhy_recording_add_coverage(recording, &coverage, error);
		}
	}
	return status;
}

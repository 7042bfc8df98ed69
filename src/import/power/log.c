/* SPDX-License-Identifier: Apache-2.0 */
#include "import/power/log.h"

#include "base/column.h"
#include "base/decimal.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_BYTES = 32 };

enum kwhy_status kwhy_power_log_init(struct kwhy_power_log *log, const char *path, struct kwhy_error *error)
{
	*log = (struct kwhy_power_log){.path = path, .is_lines = true};
	return kwhy_names_init(&log->names, error);
}

void kwhy_power_log_done(struct kwhy_power_log *log)
{
	kwhy_names_done(&log->names);
	free(log->keys);
	free(log->entries);
}

void kwhy_power_log_skip(struct kwhy_power_log *log, uint64_t place, struct kwhy_span text, const char *words)
{
	char shown[3 * SHOWN_BYTES + 1];

	log->rows++;
	if (log->unread++ > 0)
		return;
	kwhy_text_sanitize(shown, text.bytes, text.length > SHOWN_BYTES ? SHOWN_BYTES : text.length);
	snprintf(log->unread_words, sizeof(log->unread_words), "%s%s%s%s", text.length > 0 ? "\"" : "", shown,
		text.length > 0 ? "\" " : "", words);
	log->first_unread = place;
}

/* Whether a text looks like a GPU's UUID: at least 36 characters, four of them dashes. */
static bool is_uuid(struct kwhy_span text)
{
	size_t dashes = 0;

	for (size_t i = 0; i < text.length; i++)
		dashes += text.bytes[i] == '-';
	return text.length >= 36 && dashes >= 4;
}

static bool is_pci(struct kwhy_span text)
{
	size_t colons = 0;

	for (size_t i = 0; i < text.length; i++)
		colons += text.bytes[i] == ':';
	return text.length >= 7 && colons >= 1;
}

/*
 * The number at the end of a text such as "0", "card0", "GPU 0" or "nvidia0"; -1: the text does not end in a
 * number of at most 10 digits below 2^31.
 */
static int32_t number_at_end(struct kwhy_span text)
{
	size_t at = text.length;
	int64_t number;

	while (at > 0 && text.bytes[at - 1] >= '0' && text.bytes[at - 1] <= '9')
		at--;
	return at + 10 > text.length &&
			kwhy_decimal_within(
				(struct kwhy_span){text.bytes + at, text.length - at}, 0, INT32_MAX, &number)
		? (int32_t)number
		: -1;
}

static struct kwhy_span part(const struct kwhy_power_row_text *row, enum kwhy_power_role role)
{
	return row->parts[role].bytes ? row->parts[role] : (struct kwhy_span){"", 0};
}

struct key_text {
	struct kwhy_span host, uuid, pci;
	int32_t gpu;
};

static struct key_text read_key(const struct kwhy_power_row_text *row)
{
	const struct kwhy_span gpu = part(row, KWHY_POWER_ROLE_GPU);
	struct key_text key = {.host = part(row, KWHY_POWER_ROLE_HOST),
		.uuid = part(row, KWHY_POWER_ROLE_UUID),
		.pci = part(row, KWHY_POWER_ROLE_PCI),
		.gpu = row->gpu};

	if (is_uuid(gpu))
		key.uuid = gpu;
	else if (is_pci(gpu))
		key.pci = gpu;
	else if (gpu.length > 0)
		key.gpu = number_at_end(gpu);
	return key;
}

static enum kwhy_status keep_text(
	struct kwhy_power_log *log, struct kwhy_span text, const char **out, struct kwhy_error *error)
{
	uint32_t name;
	enum kwhy_status status;

	if (text.length == 0)
		return KWHY_OK;
	status = kwhy_names_intern(&log->names, text.bytes, text.length, &name, error);
	if (!status)
		*out = kwhy_names_get(&log->names, name);
	return status;
}

static enum kwhy_status add_key(
	struct kwhy_power_log *log, const struct key_text *text, struct kwhy_error *error)
{
	struct kwhy_power_key key = {.gpu = text->gpu};
	enum kwhy_status status;

	if (log->key_count == KWHY_POWER_LOG_KEYS_MAX)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s names more than %d GPUs; is its column of them one?", log->path,
			KWHY_POWER_LOG_KEYS_MAX);
	status = kwhy_column_reserve((void **)&log->keys, &log->key_capacity, log->key_count + 1, sizeof(key),
		"the GPUs of a power log", error);
	if (!status)
		status = keep_text(log, text->host, &key.host, error);
	if (!status)
		status = keep_text(log, text->uuid, &key.uuid, error);
	if (!status)
		status = keep_text(log, text->pci, &key.pci, error);
	if (!status)
		log->keys[log->key_count++] = key;
	return status;
}

static bool same(const char *kept, struct kwhy_span text)
{
	return kept ? kwhy_span_is(text, kept) : text.length == 0;
}

/*
 * Finds the key of a row's GPU, or adds it. Rows of several GPUs mostly alternate in a fixed order, so the
 * search begins at the key of the last entry.
 */
static enum kwhy_status find_key(struct kwhy_power_log *log, const struct kwhy_power_row_text *row,
	uint32_t *out, struct kwhy_error *error)
{
	const struct key_text text = read_key(row);
	const size_t first = log->entry_count ? log->entries[log->entry_count - 1].key : 0;

	for (size_t i = 0; i < log->key_count; i++) {
		const size_t at = (first + i) % log->key_count;
		const struct kwhy_power_key *key = &log->keys[at];

		if (key->gpu == text.gpu && same(key->uuid, text.uuid) && same(key->pci, text.pci) &&
			same(key->host, text.host)) {
			*out = (uint32_t)at;
			return KWHY_OK;
		}
	}
	*out = (uint32_t)log->key_count;
	return add_key(log, &text, error);
}

/*
 * Joins the texts of two columns, date and time of day, to one: "20261129 08:41:39". Without a date the
 * result is the time alone.
 */
static struct kwhy_span time_text(const struct kwhy_power_row_text *row, char *joined, size_t size)
{
	const struct kwhy_span date = part(row, KWHY_POWER_ROLE_DATE);
	const struct kwhy_span time = part(row, KWHY_POWER_ROLE_TIME);

	if (date.length == 0 || date.length + time.length + 1 > size)
		return time;
	memcpy(joined, date.bytes, date.length);
	joined[date.length] = ' ';
	memcpy(joined + date.length + 1, time.bytes, time.length);
	return (struct kwhy_span){joined, date.length + 1 + time.length};
}

/*
 * Reads the duration of a window and moves entry->time_ns from the window's start to its end, if the tool
 * states the start. True for a tool without windows. False: the duration is no number, not above 0 or longer
 * than a year.
 */
static bool read_window(const struct kwhy_power_log *log, const struct kwhy_power_row_text *row,
	struct kwhy_power_entry *entry)
{
	const int64_t year_ns = 366 * INT64_C(86400) * 1000000000;

	if (log->dialect->shape == KWHY_POWER_READINGS)
		return true;
	if (!kwhy_power_decimal_read(part(row, KWHY_POWER_ROLE_LENGTH), 1, 9, &entry->length_ns) ||
		entry->length_ns == 0 || entry->length_ns > year_ns || entry->time_ns > INT64_MAX - year_ns)
		return false;
	if (log->dialect->shape == KWHY_POWER_WINDOWS_FROM)
		entry->time_ns += entry->length_ns;
	return true;
}

/* Reads time and duration of a row into *entry. Returns why they are unusable; NULL: they are usable. */
static const char *read_times(const struct kwhy_power_log *log, const struct kwhy_power_row_text *row,
	struct kwhy_span when, struct kwhy_power_entry *entry)
{
	struct kwhy_power_stamp stamp;

	if (!kwhy_power_stamp_read(when, &stamp))
		return when.length > 0 ? "is not a time" : "the row has no time";
	entry->time_ns = stamp.time_ns;
	entry->is_local = stamp.is_local;
	return read_window(log, row, entry) ? NULL : "begins no window of a known length";
}

static bool is_sum_of_several(const struct kwhy_power_row_text *row)
{
	const struct kwhy_span text = part(row, KWHY_POWER_ROLE_COUNT);
	int64_t count;

	return kwhy_power_decimal_read(text, 1, 0, &count) && count > 1;
}

/*
 * The energy without the overhead of the data centre: divided by the power usage effectiveness (PUE) that the
 * row states, if that is above 1.
 */
static int64_t without_overhead(const struct kwhy_power_row_text *row, int64_t value)
{
	int64_t millionths;

	if (!kwhy_power_decimal_read(part(row, KWHY_POWER_ROLE_PUE), 1, 6, &millionths) ||
		millionths <= 1000000)
		return value;
	return (int64_t)((double)value / ((double)millionths * 1e-6));
}

static enum kwhy_status push(
	struct kwhy_power_log *log, const struct kwhy_power_entry *entry, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_column_reserve((void **)&log->entries, &log->entry_capacity,
		log->entry_count + 1, sizeof(*entry), "readings", error);

	if (!status)
		log->entries[log->entry_count++] = *entry;
	return status;
}

/*
 * Adds the reading `value` of a row. If its text is no amount, *out_wrong becomes this text and nothing is
 * added.
 */
static enum kwhy_status add_values(struct kwhy_power_log *log, const struct kwhy_power_row_text *row,
	struct kwhy_power_entry entry, const struct kwhy_power_value *value, struct kwhy_span *out_wrong,
	struct kwhy_error *error)
{
	struct kwhy_power_row_text own = *row;
	enum kwhy_status status;

	switch (kwhy_power_amount_read(value->text, value->meaning.unit, &entry.value)) {
	case KWHY_POWER_AMOUNT_EMPTY:
		log->empty++;
		return KWHY_OK;
	case KWHY_POWER_AMOUNT_WRONG:
		*out_wrong = value->text;
		return KWHY_OK;
	default:
		break;
	}
	if (value->meaning.gpu >= 0)
		own.gpu = value->meaning.gpu;
	entry.role = (uint8_t)value->meaning.role;
	entry.value = without_overhead(row, entry.value);
	status = find_key(log, &own, &entry.key, error);
	return status ? status : push(log, &entry, error);
}

enum kwhy_status kwhy_power_log_add(struct kwhy_power_log *log, uint64_t place,
	const struct kwhy_power_row_text *row, const struct kwhy_power_value *values, size_t count,
	struct kwhy_error *error)
{
	char joined[64];
	const struct kwhy_span when = time_text(row, joined, sizeof(joined));
	const struct kwhy_span run = part(row, KWHY_POWER_ROLE_RUN);
	struct kwhy_power_entry entry = {.place = place < UINT32_MAX ? (uint32_t)place : UINT32_MAX};
	struct kwhy_span wrong = {NULL, 0};
	enum kwhy_status status = KWHY_OK;
	const char *words = read_times(log, row, when, &entry);

	if (!words && is_sum_of_several(row))
		words = "begins a row that is the sum of several GPUs, and nobody knows the share of each";
	if (words) {
		kwhy_power_log_skip(log, place, when, words);
		return KWHY_OK;
	}
	if (run.length > 0)
		status = kwhy_names_intern(&log->names, run.bytes, run.length, &entry.run, error);
	for (size_t i = 0; !status && i < count; i++)
		status = add_values(log, row, entry, &values[i], &wrong, error);
	if (wrong.bytes)
		kwhy_power_log_skip(log, place, wrong, "is not an amount in its column's unit");
	else
		log->rows++;
	return status;
}

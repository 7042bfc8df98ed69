/* SPDX-License-Identifier: Apache-2.0 */
#include "base/column.h"
#include "import/kineto/file.h"
#include "import/kineto/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	OPEN_MAX = 65536, /* largest number of slices, of all threads together, that have begun and not yet
			     ended */
	FIELD_MAX_BYTES = 65536, /* longer fields are left out; the longest name that is kept has 4 KiB */
};

/*
 * A slice that has begun and not yet ended: its begin event. The texts of the event's fields are copied to
 * `text`, because the window of the file will have moved on when the end event is read. `outer` is the slice
 * of the same thread around this one; NULL: there is none.
 */
struct kwhy_kineto_half {
	struct kwhy_kineto_half *outer;
	struct kwhy_kineto_event event;
	size_t used, capacity;
	char text[];
};

void kwhy_kineto_halves_done(struct kwhy_kineto_halves *halves)
{
	for (size_t i = 0; i < halves->count; i++)
		while (halves->last[i]) {
			struct kwhy_kineto_half *half = halves->last[i];

			halves->last[i] = half->outer;
			free(half);
		}
	free(halves->last);
	kwhy_track_map_done(&halves->by_track);
	*halves = (struct kwhy_kineto_halves){0};
}

/*
 * Copies the text of a field into the slice; a text of more than FIELD_MAX_BYTES is left out. The copy is
 * followed by readable bytes, because some functions compare texts eight bytes at a time and so read beyond a
 * text's end.
 */
static enum kwhy_status append(struct kwhy_kineto_half **half, enum kwhy_kineto_field field, const char *text,
	size_t length, struct kwhy_error *error)
{
	struct kwhy_kineto_half *grown = *half;

	if (length > FIELD_MAX_BYTES)
		return KWHY_OK;
	if (grown->used + length + KWHY_KINETO_WORD_PAD > grown->capacity) {
		size_t capacity = 2 * grown->capacity + length + KWHY_KINETO_WORD_PAD;

		grown = realloc(grown, sizeof(*grown) + capacity);
		if (!grown)
			return kwhy_fail_memory(error, "the slices of a trace");
		grown->capacity = capacity;
		*half = grown;
	}
	memcpy(grown->text + grown->used, text, length);
	memset(grown->text + grown->used + length, 0, KWHY_KINETO_WORD_PAD);
	grown->event.field[field] = (struct kwhy_kineto_span){(uint32_t)grown->used, (uint32_t)length};
	grown->event.seen |= UINT64_C(1) << field;
	grown->used += length;
	return KWHY_OK;
}

/* Copies those fields of an event that the slice lacks; only fields from number first_field on. */
static enum kwhy_status take(struct kwhy_kineto_half **half, const struct kwhy_kineto_event *event,
	unsigned first_field, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (unsigned i = first_field; !status && i < KWHY_KINETO_FIELD_COUNT; i++)
		if (kwhy_kineto_event_has(event, i) && !kwhy_kineto_event_has(&(*half)->event, i))
			status = append(
				half, i, event->text + event->field[i].at, event->field[i].length, error);
	return status;
}

static enum kwhy_status find_thread(struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event,
	struct kwhy_kineto_half ***out, struct kwhy_error *error)
{
	struct kwhy_kineto_halves *halves = &file->halves;
	struct kwhy_track_key key = kwhy_kineto_track_key(event, true);
	enum kwhy_status status = KWHY_OK;
	uint32_t row;

	if (!kwhy_track_map_find(&halves->by_track, key, &row)) {
		row = (uint32_t)halves->count;
		status = kwhy_column_reserve((void **)&halves->last, &halves->capacity, halves->count + 1,
			sizeof(struct kwhy_kineto_half *), "the threads of a trace", error);
		if (!status)
			status = kwhy_track_map_put(&halves->by_track, key, row, error);
		if (!status)
			halves->last[halves->count++] = NULL;
	}
	if (!status)
		*out = &halves->last[row];
	return status;
}

static enum kwhy_status begin(struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event,
	struct kwhy_kineto_half **last, struct kwhy_error *error)
{
	struct kwhy_kineto_half *half;
	enum kwhy_status status;

	if (file->halves.open >= OPEN_MAX)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s: %d slices have begun (\"ph\": \"B\") and none of them ends at byte %" PRIu64
			"; the ends are missing, so export the trace again",
			file->path, OPEN_MAX, event->text_offset + event->at);
	half = calloc(1, sizeof(*half));
	if (!half)
		return kwhy_fail_memory(error, "the slices of a trace");
	half->event.kind = event->kind;
	half->event.phase = 'X';
	half->event.text_offset = event->text_offset + event->at;
	status = take(&half, event, 0, error);
	half->outer = *last;
	*last = half;
	file->halves.open++;
	return status;
}

/*
 * Sets the field "dur" of the slice to the time from its begin to its end, as a text in microseconds. Without
 * two valid times the slice has no "dur".
 */
static enum kwhy_status set_duration(
	struct kwhy_kineto_half **half, const struct kwhy_kineto_event *end, struct kwhy_error *error)
{
	struct kwhy_kineto_event *event = &(*half)->event;
	struct kwhy_kineto_span from = event->field[KWHY_KINETO_FIELD_TS],
				to = end->field[KWHY_KINETO_FIELD_TS];
	int64_t start_ns, end_ns, length_ns;
	char text[32];

	event->seen &= ~(UINT64_C(1) << KWHY_KINETO_FIELD_DUR);
	if (!kwhy_kineto_event_has(event, KWHY_KINETO_FIELD_TS) ||
		!kwhy_kineto_event_has(end, KWHY_KINETO_FIELD_TS) ||
		kwhy_kineto_number_time((*half)->text + from.at, from.length, &start_ns) ||
		kwhy_kineto_number_time(end->text + to.at, to.length, &end_ns))
		return KWHY_OK; /* kwhy_kineto_row_add() will report that the slice has no duration */
	length_ns = end_ns - start_ns;
	snprintf(text, sizeof(text), "%s%lld.%03lld", length_ns < 0 ? "-" : "", llabs(length_ns) / 1000,
		llabs(length_ns) % 1000);
	return append(half, KWHY_KINETO_FIELD_DUR, text, strlen(text), error);
}

static enum kwhy_status end(struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event,
	struct kwhy_kineto_half **last, struct kwhy_error *error)
{
	struct kwhy_kineto_half *half = *last;
	enum kwhy_status status;

	if (!half) {
		file->counts.unpaired++;
		return KWHY_OK;
	}
	*last = half->outer;
	file->halves.open--;
	status = take(&half, event, KWHY_KINETO_FIELD_ARGS + 1, error);
	if (!status)
		status = set_duration(&half, event, error);
	half->event.text = half->text;
	if (!status && half->event.kind != KWHY_KINETO_OTHER)
		status = kwhy_kineto_row_add(file, &half->event, error);
	free(half);
	return status;
}

enum kwhy_status kwhy_kineto_half_add(
	struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event, struct kwhy_error *error)
{
	struct kwhy_kineto_half **last;
	enum kwhy_status status = find_thread(file, event, &last, error);

	if (status)
		return status;
	return event->phase == 'B' ? begin(file, event, last, error) : end(file, event, last, error);
}

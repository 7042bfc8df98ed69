/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "base/text.h"
#include "detect/held.h"
#include "detect/tally.h"
#include "model/host_time.h"

#include <string.h>

enum { SHOWN_NAME_BYTES = 64 };

struct kwhy_occurrence kwhy_occurrence_at(int64_t start_ns, int64_t end_ns)
{
	return (struct kwhy_occurrence){
		.start_ns = start_ns,
		.end_ns = end_ns,
		.row = KWHY_NONE,
		.row_after = KWHY_NONE,
		.call = KWHY_NONE,
		.wait = KWHY_NONE,
		.range = KWHY_NONE,
	};
}

/* Appends the name of a call or range. A long name is shortened, but never inside a UTF-8 code point. */
static void add_name(struct kwhy_text *text, const char *name)
{
	size_t length = strlen(name);

	if (length <= SHOWN_NAME_BYTES) {
		kwhy_text_add_bytes(text, name, length);
		return;
	}
	length = SHOWN_NAME_BYTES - 3;
	while (length > 0 && ((unsigned char)name[length] & 0xC0) == 0x80)
		length--;
	kwhy_text_add_bytes(text, name, length);
	kwhy_text_add(text, "...");
}

static void add_bytes(struct kwhy_text *text, uint64_t bytes)
{
	char words[KWHY_QUANTITY_BYTES];

	if (bytes != KWHY_UNKNOWN_BYTES)
		kwhy_text_addf(text, " %s", kwhy_quantity_bytes(words, bytes));
}

/*
 * Appends the name of an activity to the text, and the size of a copy or memset. Returns the name if the
 * activity is a kernel, so that the writer of a report can shorten it in the text; NULL for copies and
 * memsets.
 */
static const char *add_activity(struct kwhy_text *text, const struct kwhy_recording *recording, uint32_t row)
{
	const struct kwhy_activities *rows = &recording->activities;
	const char *name = kwhy_names_get(&recording->names, rows->name[row]);

	switch (rows->kind[row]) {
	case KWHY_ACTIVITY_COPY:
		kwhy_text_addf(text, "%s copy", kwhy_copy_kind_name(rows->copy_kind[row]));
		add_bytes(text, rows->bytes[row]);
		return NULL;
	case KWHY_ACTIVITY_MEMSET:
		kwhy_text_add(text, "memset");
		add_bytes(text, rows->bytes[row]);
		return NULL;
	default:
		kwhy_text_add(text, name);
		return name;
	}
}

static void add_call(
	struct kwhy_text *text, const struct kwhy_recording *recording, const char *word, uint32_t call)
{
	const struct kwhy_calls *calls = &recording->calls;
	char time[KWHY_QUANTITY_BYTES];

	if (call == KWHY_NONE)
		return;
	kwhy_text_addf(text, "%s%s", text->length ? ", " : "", word);
	add_name(text, kwhy_names_get(&recording->names, calls->name[call]));
	kwhy_text_addf(text, " %s", kwhy_quantity_time(time, calls->end_ns[call] - calls->start_ns[call]));
}

/*
 * Appends the name of the range without a thread that contains the middle of the occurrence; of several, that
 * of the one that starts last. If there is none, appends "host outside of any range".
 */
static void add_loose_range(struct kwhy_text *text, const struct kwhy_recording *recording,
	const struct kwhy_occurrence *occurrence)
{
	int64_t middle_ns = occurrence->start_ns + (occurrence->end_ns - occurrence->start_ns) / 2;
	const struct kwhy_range *found = NULL;

	for (size_t i = 0; i < recording->range_count; i++) {
		const struct kwhy_range *range = &recording->ranges[i];

		if (range->start_ns > middle_ns)
			break;
		if (range->end_ns > middle_ns && range->thread == KWHY_NONE)
			found = range;
	}
	kwhy_text_add(text, found ? "host in range " : "host outside of any range");
	if (found)
		add_name(text, kwhy_names_get(&recording->names, found->name));
}

/*
 * Appends the innermost host range, on the thread of the occurrence's call, that covers at least half of the
 * occurrence. If there is none, appends a range without a thread (add_loose_range()).
 */
static void add_range(struct kwhy_text *text, const struct kwhy_recording *recording,
	const struct kwhy_occurrence *occurrence)
{
	uint32_t row = occurrence->call == KWHY_NONE
		? KWHY_NONE
		: kwhy_host_range_over(recording, recording->calls.thread[occurrence->call],
			  occurrence->start_ns, occurrence->end_ns);

	kwhy_text_add(text, text->length ? ", " : "");
	if (row == KWHY_NONE) {
		add_loose_range(text, recording, occurrence);
		return;
	}
	kwhy_text_add(text, "host in range ");
	kwhy_held_add_range(text, recording, row);
}

/* Appends the innermost host range around the call, unless there is none or it is a step. */
static void add_caller(struct kwhy_text *text, const struct kwhy_recording *recording, uint32_t call)
{
	uint32_t row = kwhy_host_range_of_call(recording, call);

	if (row == KWHY_NONE || recording->host_ranges.kind[row] == KWHY_HOST_STEP)
		return;
	kwhy_text_add(text, ", in ");
	kwhy_held_add_range(text, recording, row);
}

/* Appends an operator with the shapes of its inputs, which are the first part of the range's `shape`. */
static void add_operator(struct kwhy_text *text, const struct kwhy_recording *recording, uint32_t row)
{
	const char *shape = kwhy_names_get(
		&recording->names, kwhy_host_range_shape(&recording->host_ranges, row));

	kwhy_text_add(text, ", in ");
	kwhy_held_add_range(text, recording, row);
	kwhy_text_addf(text, " of %.*s", (int)strcspn(shape, ";"), shape);
}

struct kwhy_evidence kwhy_occurrence_evidence(
	const struct kwhy_detect_context *context, const struct kwhy_occurrence *occurrence)
{
	const struct kwhy_recording *recording = context->recording;
	struct kwhy_evidence evidence = {.start_ns = occurrence->start_ns, .end_ns = occurrence->end_ns};
	struct kwhy_text text = {0};

	if (occurrence->row != KWHY_NONE)
		evidence.kernels[0] = add_activity(&text, recording, occurrence->row);
	if (occurrence->row_after != KWHY_NONE) {
		kwhy_text_add(&text, ", then ");
		evidence.kernels[1] = add_activity(&text, recording, occurrence->row_after);
	}
	add_call(&text, recording, occurrence->host ? "until " : text.length ? "by " : "", occurrence->call);
	add_call(&text, recording, "then ", occurrence->wait);
	if (occurrence->range != KWHY_NONE)
		add_operator(&text, recording, occurrence->range);
	if (occurrence->host)
		add_range(&text, recording, occurrence);
	else if (occurrence->call != KWHY_NONE)
		add_caller(&text, recording, occurrence->call);
	if (!text.failed)
		evidence.what = kwhy_arena_copy(&context->findings->arena, text.data ? text.data : "idle");
	kwhy_text_done(&text);
	return evidence;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "detect/held.h"
#include "detect/tally.h"
#include "model/host_time.h"

/*
 * Finds the source line from which the program issued most of the marked activities of a finding, from host
 * ranges that state file and line. At most PLACES_MAX lines are counted; launches from further lines are left
 * out.
 */

enum { PLACES_MAX = 32 };

struct place {
	uint32_t source; /* a host range that states the line's file and number */
	uint32_t range;	 /* innermost host range of the first launch from this line */
	uint64_t count;
};

struct places {
	struct place items[PLACES_MAX];
	size_t count, most;
	uint64_t known; /* number of launches whose source line is known */
};

static bool is_same_line(const struct kwhy_host_ranges *rows, uint32_t a, uint32_t b)
{
	return kwhy_host_range_file(rows, a) == kwhy_host_range_file(rows, b) &&
		kwhy_host_range_line(rows, a) == kwhy_host_range_line(rows, b);
}

static void add_launch(struct places *places, const struct kwhy_detect_view *view, size_t activity)
{
	const struct kwhy_recording *recording = view->recording;
	uint32_t range = view->range_of_launch[activity];
	uint32_t source = range == KWHY_NONE ? KWHY_NONE : kwhy_host_range_source(recording, range);
	size_t i = 0;

	if (source == KWHY_NONE)
		return;
	while (i < places->count && !is_same_line(&recording->host_ranges, places->items[i].source, source))
		i++;
	if (i == PLACES_MAX)
		return;
	if (i == places->count)
		places->items[places->count++] = (struct place){source, range, 0};
	places->known++;
	places->items[i].count++;
	if (places->items[i].count > places->items[places->most].count)
		places->most = i;
}

void kwhy_tally_add_place(const struct kwhy_tally *tally, struct kwhy_finding *finding)
{
	const struct kwhy_detect_view *view = tally->context->view;
	const struct kwhy_recording *recording = view->recording;
	const struct kwhy_device_view *seen = &view->devices[tally->device];
	struct places places = {.count = 0};
	char count[KWHY_QUANTITY_BYTES], known[KWHY_QUANTITY_BYTES];

	if (!finding->title || tally->marked_count == 0 || recording->host_ranges.count == 0)
		return;
	for (size_t i = seen->begin; i < seen->end; i++)
		if (view->marks[i])
			add_launch(&places, view, i);
	if (places.known == 0)
		return;
	finding->place = kwhy_held_place(
		&tally->context->findings->arena, recording, places.items[places.most].range, true);
	finding->title = finding->place.words
		? kwhy_arena_printf(&tally->context->findings->arena,
			  "%s; %s of %s launches whose line is known in %s", finding->title,
			  kwhy_quantity_count(count, places.items[places.most].count),
			  kwhy_quantity_count(known, places.known), finding->place.words)
		: NULL;
}

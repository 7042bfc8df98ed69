/* SPDX-License-Identifier: Apache-2.0 */
#include "model/range_overlaps.h"

#include <stdlib.h>

enum { WORDS = KWHY_RANGE_OVERLAPS_MOST / 64, UNTOLD = KWHY_RANGE_OVERLAPS_MOST };

struct edge {
	int64_t time_ns;
	uint16_t sum;
	bool is_end;
};

/* The ranges on their way through time. */
struct walk {
	uint64_t open[WORDS];
	size_t counts[KWHY_RANGE_OVERLAPS_MOST];
};

/* An end comes before a beginning at the same time: one follows the other. */
static int compare_edges(const void *a, const void *b)
{
	const struct edge *left = a, *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	return (int)right->is_end - (int)left->is_end;
}

/* places[name * kinds + kind]: the place of its sum. */
static void set_places(
	uint16_t *places, size_t place_count, const struct kwhy_range_sum *sums, size_t sum_count)
{
	for (size_t i = 0; i < place_count; i++)
		places[i] = UNTOLD;
	for (size_t i = 0; i < sum_count; i++)
		places[sums[i].name * (size_t)KWHY_RANGE_KIND_COUNT + sums[i].kind] = (uint16_t)i;
}

static size_t list_edges(const struct kwhy_recording *recording, const uint16_t *places, struct edge *edges)
{
	size_t count = 0;

	for (size_t i = 0; i < recording->range_count; i++) {
		const struct kwhy_range *range = &recording->ranges[i];
		uint16_t sum = places[range->name * (size_t)KWHY_RANGE_KIND_COUNT + range->kind];

		if (sum == UNTOLD || range->start_ns >= range->end_ns)
			continue;
		edges[count++] = (struct edge){range->start_ns, sum, false};
		edges[count++] = (struct edge){range->end_ns, sum, true};
	}
	return count;
}

static void pass(struct walk *walk, const struct edge *edge, struct kwhy_range_overlaps *out)
{
	uint64_t bit = (uint64_t)1 << edge->sum % 64, *word = &walk->open[edge->sum / 64];

	if (edge->is_end) {
		if (--walk->counts[edge->sum] == 0)
			*word &= ~bit;
		return;
	}
	for (size_t i = 0; i < WORDS; i++)
		out->bits[edge->sum][i] |= walk->open[i];
	walk->counts[edge->sum]++;
	*word |= bit;
}

/* Who began first has not seen who came later. */
static void tell_both(struct kwhy_range_overlaps *out)
{
	for (size_t a = 0; a < out->count; a++)
		for (size_t b = 0; b < out->count; b++)
			if (kwhy_range_overlaps_has(out, a, b))
				out->bits[b][a / 64] |= (uint64_t)1 << a % 64;
}

bool kwhy_range_overlaps_of(const struct kwhy_recording *recording, const struct kwhy_range_sum *sums,
	size_t sum_count, struct kwhy_range_overlaps *out)
{
	size_t place_count = recording->names.count * (size_t)KWHY_RANGE_KIND_COUNT, edge_count;
	uint16_t *places = malloc((place_count + 1) * sizeof(*places));
	struct edge *edges = calloc(2 * recording->range_count + 1, sizeof(*edges));
	struct walk walk = {0};

	*out = (struct kwhy_range_overlaps){0};
	if (places && edges) {
		out->count = sum_count < KWHY_RANGE_OVERLAPS_MOST ? sum_count : KWHY_RANGE_OVERLAPS_MOST;
		set_places(places, place_count, sums, out->count);
		edge_count = list_edges(recording, places, edges);
		qsort(edges, edge_count, sizeof(*edges), compare_edges);
		for (size_t i = 0; i < edge_count; i++)
			pass(&walk, &edges[i], out);
		tell_both(out);
	}
	free(places);
	free(edges);
	return places && edges;
}

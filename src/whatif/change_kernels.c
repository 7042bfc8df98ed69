/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/changes.h"

#include "whatif/edits.h"
#include "whatif/parts.h"
#include "whatif/segments.h"

#include <math.h>
#include <stdlib.h>

/* Change that fuses tiny kernels which follow each other into fewer kernels. */

enum { TINY_NS = 10000, FUSE_GAP_NS = 20000 };

static bool is_kernel(const struct kwhy_whatif *whatif, uint32_t row)
{
	return whatif->recording->activities.kind[row] == KWHY_ACTIVITY_KERNEL;
}

static int64_t length_ns(const struct kwhy_whatif *whatif, uint32_t row)
{
	return kwhy_whatif_own_ns(whatif->graph, &whatif->graph->nodes[row]);
}

/*
 * Whether an activity could be a part of a fused kernel: a kernel, memset or copy within the device, shorter
 * than TINY_NS and not launched by a graph.
 */
static bool is_tiny(const struct kwhy_whatif *whatif, uint32_t row)
{
	const struct kwhy_activities *rows = &whatif->recording->activities;
	bool inside = rows->kind[row] == KWHY_ACTIVITY_KERNEL || rows->kind[row] == KWHY_ACTIVITY_MEMSET ||
		(rows->kind[row] == KWHY_ACTIVITY_COPY && rows->copy_kind[row] == KWHY_COPY_D2D);

	return inside && length_ns(whatif, row) < TINY_NS && rows->graph_node[row] == KWHY_NONE;
}

/*
 * Whether an activity can be part of the same launch as the kernel `before`. Blocks of a launch do not wait
 * for each other: a kernel with a larger grid must wait until `before` has ended, so it needs its own launch;
 * the work of a smaller grid can be done by the blocks that end last. For the upper bound of the saving all
 * share a launch; for the lower bound only kernels with equal grids do. Memsets and copies, and kernels of
 * unknown grid, always do.
 */
static bool shares_launch(const struct kwhy_whatif *whatif, uint32_t before, uint32_t row)
{
	const uint32_t *blocks = whatif->recording->activities.blocks;

	if (whatif->corner == KWHY_CORNER_FAST || !is_kernel(whatif, row) ||
		blocks[before] == KWHY_UNKNOWN_BLOCKS || blocks[row] == KWHY_UNKNOWN_BLOCKS)
		return true;
	return whatif->corner == KWHY_CORNER_SLOW ? blocks[row] == blocks[before]
						  : blocks[row] <= blocks[before];
}

/*
 * State of the search for chains: tiny activities that each start within FUSE_GAP_NS of the end of the one
 * before. An activity that starts later also belongs to the chain if most activities of its name start within
 * that time, so that one delay of the host in a thousand steps does not split a chain.
 */
struct chains {
	struct kwhy_whatif *whatif;
	/*
	 * [name_count] number of activities of the name that start within FUSE_GAP_NS of the end of the one
	 * before, minus the number of those that start later
	 */
	int32_t *close_of_name;
	/* from: number of activities in chains; to: number of kernels that they become */
	uint64_t from, to;
};

static bool is_close(const struct kwhy_activities *rows, uint32_t before, uint32_t row)
{
	return rows->start_ns[row] - rows->end_ns[before] < FUSE_GAP_NS;
}

static void count_close(struct chains *chains, const struct kwhy_whatif_segment *segment)
{
	const struct kwhy_activities *rows = &chains->whatif->recording->activities;

	for (size_t i = 1; i < segment->row_count; i++)
		chains->close_of_name[rows->name[segment->rows[i]]] += is_close(rows, segment->rows[i - 1],
									       segment->rows[i])
			? 1
			: -1;
}

/*
 * Number of activities from rows[0] on that can be fused: tiny activities of one stream that each start soon
 * after the one before (struct chains) and can share a launch. The result is 1 if rows[0] is not a tiny
 * kernel.
 */
static size_t chain_length(const struct chains *chains, const uint32_t *rows, size_t count)
{
	const struct kwhy_whatif *whatif = chains->whatif;
	const struct kwhy_activities *all = &whatif->recording->activities;
	uint32_t kernel = rows[0];
	size_t length = 1;

	if (!is_kernel(whatif, kernel) || !is_tiny(whatif, kernel))
		return 1;
	for (; length < count && is_tiny(whatif, rows[length]); length++) {
		uint32_t before = rows[length - 1], row = rows[length];

		if (all->stream[before] != all->stream[row] ||
			(!is_close(all, before, row) && chains->close_of_name[all->name[row]] <= 0) ||
			!shares_launch(whatif, kernel, row))
			break;
		kernel = is_kernel(whatif, row) ? row : kernel;
	}
	return length;
}

/*
 * Length of the fused kernel in ns: the sum of the parts, less the length of the shortest recorded kernel for
 * each part but the first, since that is taken as the time to start and end a kernel; at least that of the
 * longest part. For the upper bound of the saving it is that of the longest part; for the lower bound it is
 * the sum.
 */
static double fused_ns(const struct kwhy_whatif *whatif, const uint32_t *rows, size_t count)
{
	double sum = 0, longest = 0, empty = whatif->costs.least_kernel_ns;

	for (size_t i = 0; i < count; i++) {
		sum += (double)length_ns(whatif, rows[i]);
		longest = fmax(longest, (double)length_ns(whatif, rows[i]));
	}
	switch (whatif->corner) {
	case KWHY_CORNER_FAST:
		return longest;
	case KWHY_CORNER_SLOW:
		return sum;
	default:
		return fmax(sum - (double)(count - 1) * empty, longest);
	}
}

static void merge(struct kwhy_whatif *whatif, const uint32_t *rows, size_t count, double own_ns)
{
	kwhy_whatif_resize_row(whatif, rows[0], own_ns);
	for (size_t i = 1; i < count; i++)
		kwhy_whatif_drop_row(whatif, rows[i]);
}

/*
 * Fuses every chain of at least two activities in a segment (a thread's launches without a wait between
 * them).
 */
static void fuse_segment(struct chains *chains, const struct kwhy_whatif_segment *segment)
{
	for (size_t begin = 0, count; begin < segment->row_count; begin += count) {
		const uint32_t *rows = &segment->rows[begin];

		count = chain_length(chains, rows, segment->row_count - begin);
		if (count > 1) {
			merge(chains->whatif, rows, count, fused_ns(chains->whatif, rows, count));
			chains->from += count;
			chains->to++;
		}
	}
}

static void walk(struct chains *chains, void (*visit)(struct chains *, const struct kwhy_whatif_segment *))
{
	struct kwhy_whatif_segments segments;
	struct kwhy_whatif_segment segment;

	if (!kwhy_whatif_segments_init(&segments, chains->whatif))
		return;
	while (kwhy_whatif_segments_next(&segments, &segment))
		visit(chains, &segment);
	kwhy_whatif_segments_done(&segments);
}

void kwhy_whatif_fuse(struct kwhy_whatif *whatif, uint32_t number, struct kwhy_whatif_effect *effect)
{
	struct chains chains = {.whatif = whatif,
		.close_of_name = calloc(whatif->recording->names.count + 1, sizeof(*chains.close_of_name))};

	(void)number;
	if (!chains.close_of_name) {
		whatif->out_of_memory = true;
		return;
	}
	walk(&chains, count_close);
	walk(&chains, fuse_segment);
	free(chains.close_of_name);
	effect->places = chains.from;
	if (chains.from)
		kwhy_whatif_say(effect,
			"%s kernels, copies within the device and memsets under 10 µs become %s kernels, "
			"which end where the next grid is larger; each part but the first loses the time of "
			"the shortest kernel seen",
			KWHY_WHATIF_COUNT(chains.from), KWHY_WHATIF_COUNT(chains.to));
	else
		kwhy_whatif_refuse(effect, "no two kernels under 10 µs follow each other without a wait");
}

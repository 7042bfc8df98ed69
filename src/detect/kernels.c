/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "detect/families.h"
#include "detect/tally.h"

#include <math.h>
#include <stdlib.h>

/* Detectors of kernels that are too short or too small for the device. */

/*
 * Finds chains of kernels shorter than max_kernel_ns, each of which starts at most max_gap_ns after the end
 * of the one before it in its stream, without a wait of the host between their launches. In the state of a
 * stream, `row` is the last kernel of its current chain (KWHY_NONE: no chain), `length` the number of kernels
 * in it.
 */
struct chain_finder {
	struct kwhy_tally *tally;
	/*
	 * [activities of the device] for each short kernel, the row of the kernel before it in its chain;
	 * needed when the chain reaches min_length and all its kernels are counted
	 */
	uint32_t *previous;
	uint32_t *waits; /* [calls + 1] number of waiting calls at lower indices than each call */
	double max_kernel_ns, max_gap_ns, min_length;
};

static bool is_tiny(const struct chain_finder *finder, size_t row)
{
	const struct kwhy_activities *rows = &finder->tally->context->recording->activities;

	return rows->kind[row] == KWHY_ACTIVITY_KERNEL &&
		(double)(rows->end_ns[row] - rows->start_ns[row]) < finder->max_kernel_ns;
}

/*
 * Whether both kernels were launched by one thread, which waited between the two launches. Such kernels can
 * neither be fused nor be in one graph. False if a launch is unknown.
 */
static bool is_waited_between(const struct chain_finder *finder, uint32_t before, size_t row)
{
	const struct kwhy_recording *recording = finder->tally->context->recording;
	const uint32_t from = recording->activities.call[before], to = recording->activities.call[row];

	return from != KWHY_NONE && to != KWHY_NONE && from < to &&
		recording->calls.thread[from] == recording->calls.thread[to] &&
		finder->waits[from] != finder->waits[to];
}

static void count_waits(const struct kwhy_detect_view *view, uint32_t *waits)
{
	for (uint32_t call = 0; call < view->recording->calls.count; call++)
		waits[call + 1] = waits[call] + kwhy_detect_view_is_wait(view, call);
}

static bool continues(const struct chain_finder *finder, const struct kwhy_stream_state *chain, size_t row)
{
	const struct kwhy_activities *rows = &finder->tally->context->recording->activities;

	return chain->row != KWHY_NONE &&
		(double)(rows->start_ns[row] - rows->end_ns[chain->row]) <= finder->max_gap_ns &&
		!is_waited_between(finder, chain->row, row);
}

static double length_ns(const struct kwhy_activities *rows, size_t row)
{
	return (double)(rows->end_ns[row] - rows->start_ns[row]);
}

/*
 * Adds a kernel of a long enough chain; `before` is the kernel before it, KWHY_NONE for the first. The kernel
 * keeps its time with the cure; only the idle time between the two kernels is waste.
 */
static void add_link(struct chain_finder *finder, uint32_t row, uint32_t before)
{
	const struct kwhy_activities *rows = &finder->tally->context->recording->activities;
	struct kwhy_occurrence occurrence;

	kwhy_tally_mark(finder->tally, row, length_ns(rows, row));
	finder->tally->count++;
	if (before == KWHY_NONE)
		return;
	kwhy_tally_idle(finder->tally, rows->end_ns[before], rows->start_ns[row]);
	occurrence = kwhy_occurrence_at(rows->start_ns[before], rows->end_ns[row]);
	occurrence.row = before;
	occurrence.row_after = row;
	kwhy_tally_add_occurrence(finder->tally, occurrence);
}

static void extend(struct chain_finder *finder, struct kwhy_stream_state *chain, uint32_t row)
{
	size_t begin = finder->tally->context->view->devices[finder->tally->device].begin;
	uint32_t link = row;

	finder->previous[row - begin] = chain->row;
	chain->row = row;
	chain->length++;
	if (chain->length > finder->min_length) {
		add_link(finder, row, finder->previous[row - begin]);
		return;
	}
	for (; (double)chain->length >= finder->min_length && link != KWHY_NONE;
		link = finder->previous[link - begin])
		add_link(finder, link, finder->previous[link - begin]);
}

static void find_chains(struct chain_finder *finder)
{
	const struct kwhy_activities *rows = &finder->tally->context->recording->activities;
	const struct kwhy_device_view *seen = &finder->tally->context->view->devices[finder->tally->device];

	for (size_t i = seen->begin; i < seen->end; i++) {
		struct kwhy_stream_state *chain = &finder->tally->context->view->streams[rows->stream[i]];

		if (!is_tiny(finder, i) || !continues(finder, chain, i))
			*chain = (struct kwhy_stream_state){KWHY_NONE, 0};
		if (is_tiny(finder, i))
			extend(finder, chain, (uint32_t)i);
	}
}

static void find_in_streams(struct kwhy_tally *tally)
{
	const struct kwhy_detect_context *context = tally->context;
	const struct kwhy_device_view *seen = &context->view->devices[tally->device];
	struct chain_finder finder = {
		.tally = tally,
		.previous = malloc((seen->end - seen->begin + 1) * sizeof(*finder.previous)),
		.waits = calloc(context->recording->calls.count + 1, sizeof(*finder.waits)),
		.max_kernel_ns = kwhy_tally_threshold(tally, "max_kernel_us") * 1e3,
		.max_gap_ns = kwhy_tally_threshold(tally, "max_gap_us") * 1e3,
		.min_length = fmax(2, ceil(kwhy_tally_threshold(tally, "min_length"))),
	};

	if (finder.previous && finder.waits) {
		count_waits(context->view, finder.waits);
		kwhy_detect_view_reset_streams(context->view, tally->device);
		find_chains(&finder);
	} else {
		tally->status = kwhy_fail_memory(context->error, "chains of kernels");
	}
	free(finder.previous);
	free(finder.waits);
}

enum kwhy_status kwhy_detect_tiny_kernel_chains(const struct kwhy_detect_context *context)
{
	struct kwhy_finding_terms verdict = kwhy_finding_terms_default();
	char count[KWHY_QUANTITY_BYTES], limit[KWHY_QUANTITY_BYTES];
	struct kwhy_tally tally;

	kwhy_tally_init(&tally, context);
	find_in_streams(&tally);
	verdict.title = kwhy_tally_words(&tally, "Chains of tiny kernels: %s kernels under %s in a row",
		kwhy_quantity_count(count, tally.count),
		kwhy_quantity_si(limit, kwhy_tally_threshold(&tally, "max_kernel_us") * 1e-6, "s", 3));
	verdict.assumption =
		"the kernels of a chain are fused: their work remains, the gaps inside a chain vanish";
	return kwhy_tally_finish(&tally, verdict);
}

double kwhy_detect_fill_ratio(const struct kwhy_recording *recording, size_t row)
{
	uint32_t sm_count = recording->devices[kwhy_recording_device_of(recording, row)].sm_count;
	uint32_t blocks = recording->activities.blocks[row];

	if (sm_count == 0 || blocks == KWHY_UNKNOWN_BLOCKS || blocks == 0 ||
		recording->activities.kind[row] != KWHY_ACTIVITY_KERNEL)
		return 1;
	return fmin(1, (double)blocks / (double)sm_count);
}

/*
 * Marks kernels with a fill ratio (kwhy_detect_fill_ratio()) below max_fill and a duration of at least
 * min_ns. With the cure their time is multiplied by the fill ratio, or by `floor` if that is larger.
 */
static void mark_under_filled(struct kwhy_tally *tally, double max_fill, double min_ns, double floor)
{
	const struct kwhy_activities *rows = &tally->context->recording->activities;
	const struct kwhy_device_view *seen = &tally->context->view->devices[tally->device];

	for (size_t i = seen->begin; i < seen->end; i++) {
		double fill = kwhy_detect_fill_ratio(tally->context->recording, i);
		struct kwhy_occurrence occurrence = kwhy_occurrence_at(rows->start_ns[i], rows->end_ns[i]);

		if (fill >= max_fill || length_ns(rows, i) < min_ns)
			continue;
		kwhy_tally_mark(tally, i, length_ns(rows, i) * fmax(fill, floor));
		occurrence.row = (uint32_t)i;
		kwhy_tally_add_occurrence(tally, occurrence);
		tally->count++;
	}
}

enum kwhy_status kwhy_detect_under_filled_kernels(const struct kwhy_detect_context *context)
{
	struct kwhy_finding_terms verdict = kwhy_finding_terms_default();
	char count[KWHY_QUANTITY_BYTES];
	struct kwhy_tally tally;

	kwhy_tally_init(&tally, context);
	mark_under_filled(&tally, kwhy_tally_threshold(&tally, "max_fill"),
		kwhy_tally_threshold(&tally, "min_kernel_us") * 1e3, 0);
	verdict.title = kwhy_tally_words(&tally,
		"Under-filled kernels: %s with fewer blocks than %.3g %% of the %u multiprocessors",
		kwhy_quantity_count(count, tally.count), 100 * kwhy_tally_threshold(&tally, "max_fill"),
		context->recording->devices[context->device].sm_count);
	verdict.assumption = "the same work spread evenly over all multiprocessors takes its time x blocks / "
			     "multiprocessors";
	verdict.work_remains = true;
	return kwhy_tally_finish(&tally, verdict);
}

static const struct kwhy_memory_sum *find_memory(const struct kwhy_detect_context *context)
{
	for (size_t i = 0; context->ledger && i < context->ledger->memory_count; i++)
		if (context->ledger->memory[i].device == context->device)
			return &context->ledger->memory[i];
	return NULL;
}

static bool memory_known(const struct kwhy_memory_sum *memory)
{
	return memory && memory->device_bytes != KWHY_UNKNOWN_BYTES && memory->device_bytes > 0 &&
		memory->unused_bytes != KWHY_UNKNOWN_BYTES && memory->unused_bytes < memory->device_bytes;
}

enum kwhy_status kwhy_detect_batch_could_grow(const struct kwhy_detect_context *context)
{
	const struct kwhy_memory_sum *memory = find_memory(context);
	struct kwhy_finding_terms verdict = kwhy_finding_terms_default();
	char count[KWHY_QUANTITY_BYTES], unused[KWHY_QUANTITY_BYTES], all[KWHY_QUANTITY_BYTES];
	struct kwhy_tally tally;
	double used;

	if (!memory_known(memory))
		return KWHY_OK;
	kwhy_tally_init(&tally, context);
	used = 1 - (double)memory->unused_bytes / (double)memory->device_bytes;
	if (1 - used >= kwhy_tally_threshold(&tally, "min_free"))
		mark_under_filled(&tally, kwhy_tally_threshold(&tally, "max_fill"), 0, used);
	verdict.title = kwhy_tally_words(&tally,
		"Batch could grow: %s under-filled kernels while %s of %s memory lie free",
		kwhy_quantity_count(count, tally.count), kwhy_quantity_bytes(unused, memory->unused_bytes),
		kwhy_quantity_bytes(all, memory->device_bytes));
	verdict.assumption = kwhy_tally_words(&tally,
		"a batch %.3g times as large fits, and under-filled kernels take no longer for it until they "
		"fill the device",
		1 / used);
	verdict.work_remains = true;
	return kwhy_tally_finish(&tally, verdict);
}

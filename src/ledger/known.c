/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/parts.h"

#include <math.h>

/*
 * Copies the recorded windows. If windows of the run were chosen, a window that reaches beyond the end of the
 * time from which they were chosen is split there, because only its first part was drawn at random.
 */
static void copy_windows(struct kwhy_coverage_sum *sum, const struct kwhy_covered *covered)
{
	for (size_t i = 0; i < covered->count; i++) {
		struct kwhy_covered_window window = {
			.start_ns = covered->windows[i].start_ns, .end_ns = covered->windows[i].end_ns};

		sum->known_ns += window.end_ns - window.start_ns;
		if (sum->choice != KWHY_CHOICE_ALL && window.start_ns < sum->select_end_ns &&
			window.end_ns > sum->select_end_ns) {
			sum->windows[sum->window_count++] = (struct kwhy_covered_window){
				.start_ns = window.start_ns, .end_ns = sum->select_end_ns};
			window.start_ns = sum->select_end_ns;
		}
		sum->windows[sum->window_count++] = window;
	}
}

static void count_drawn(struct kwhy_coverage_sum *sum)
{
	for (size_t i = 0; i < sum->window_count; i++) {
		const struct kwhy_covered_window *window = &sum->windows[i];

		if (!kwhy_window_is_drawn(sum, window))
			continue;
		sum->drawn_count++;
		sum->drawn_ns += window->end_ns - window->start_ns;
	}
}

static void find_selection(
	struct kwhy_coverage_sum *sum, const struct kwhy_recording *recording, uint32_t device)
{
	bool any = false;

	for (size_t i = 0; i < recording->selection_count; i++) {
		const struct kwhy_selection *selection = &recording->selections[i];

		if (selection->device != device && selection->device != KWHY_NONE)
			continue;
		if (!any || selection->start_ns < sum->select_start_ns)
			sum->select_start_ns = selection->start_ns;
		if (!any || selection->end_ns > sum->select_end_ns)
			sum->select_end_ns = selection->end_ns;
		any = true;
	}
}

static enum kwhy_status note_windows(struct kwhy_ledger *ledger, const struct kwhy_recording *recording,
	uint32_t device, struct kwhy_error *error)
{
	const struct kwhy_coverage_sum *sum = &ledger->devices[device].coverage;
	const double known = (double)sum->known_ns / (double)(sum->end_ns - sum->start_ns);

	return kwhy_ledger_note(ledger, KWHY_NOTE_COMPLETENESS, "known-in-windows", error,
		"what ran on device %d was recorded for %.1f %% of the time, in %zu windows: counts, times, "
		"findings, ranges and streams are those of the windows, and the energy between them has an "
		"account of its own",
		recording->devices[device].index, 100 * known, sum->window_count);
}

static enum kwhy_status note_probing(struct kwhy_ledger *ledger, const struct kwhy_recording *recording,
	uint32_t device, const struct kwhy_covered *covered, struct kwhy_error *error)
{
	double probing_s = 0;

	for (size_t i = 0; i < covered->probing_count; i++)
		probing_s += 1e-9 *
			((double)covered->probing[i].end_ns - (double)covered->probing[i].start_ns);
	return kwhy_ledger_note(ledger, KWHY_NOTE_COMPLETENESS, "probed", error,
		"kwhy probe was at work on device %d for %.3g s, in %zu intervals. Their time and energy are "
		"in accounts of category probing and in no figure of the program; the powers that they "
		"showed are used for the program's kernels",
		recording->devices[device].index, probing_s, covered->probing_count);
}

enum kwhy_status kwhy_ledger_coverage(struct kwhy_ledger *ledger, const struct kwhy_recording *recording,
	uint32_t device, const struct kwhy_covered *covered, struct kwhy_error *error)
{
	struct kwhy_coverage_sum *sum = &ledger->devices[device].coverage;

	*sum = (struct kwhy_coverage_sum){.choice = covered->choice,
		.start_ns = covered->hull.start_ns,
		.end_ns = covered->hull.end_ns,
		.share_error_ratio = NAN};
	find_selection(sum, recording, device);
	sum->windows = kwhy_arena_alloc(&ledger->arena, 2 * covered->count + 1, sizeof(*sum->windows));
	sum->unrecorded = kwhy_arena_alloc(
		&ledger->arena, covered->unrecorded_count + 1, sizeof(*sum->unrecorded));
	if (!sum->windows || !sum->unrecorded)
		return kwhy_fail_memory(error, "coverage");
	copy_windows(sum, covered);
	count_drawn(sum);
	for (size_t i = 0; i < covered->unrecorded_count; i++)
		sum->unrecorded[i] = (struct kwhy_unrecorded_interval){
			covered->unrecorded[i].start_ns, covered->unrecorded[i].end_ns};
	sum->unrecorded_count = covered->unrecorded_count;
	sum->is_in_windows = covered->is_in_windows;
	if (covered->probing_count)
		return note_probing(ledger, recording, device, covered, error);
	return sum->unrecorded_count ? note_windows(ledger, recording, device, error) : KWHY_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the offsets of the clocks of the ranks' hosts from those of rank 0's host. Rank 0 repeatedly asks
 * each rank for the times of its clocks, and uses the answer with the shortest round trip. The rank read its
 * clocks at an unknown moment in that round trip, for which the middle is taken. The error is at most half
 * the round trip, even if the two directions of the network take unequal times.
 */
#include "bench/pairs/rank_messages.h"

#include "base/clock.h"

#include <math.h>
#include <string.h>

enum { MIN = 64 };

static enum kwhy_status request_once(
	struct kwhy_pair_ranks *ranks, uint32_t rank, struct kwhy_pair_offset *out, struct kwhy_error *error)
{
	int64_t before_unix_ns = kwhy_clock_unix_ns(), before_ns = kwhy_clock_mono_ns(), after_ns;
	struct kwhy_rank_clock clock;
	enum kwhy_status status = kwhy_pair_call(
		&ranks->calls, rank, KWHY_RANK_CLOCK, NULL, 0, &clock, sizeof(clock), error);
	double half_ns;

	if (status)
		return status;
	after_ns = kwhy_clock_mono_ns();
	half_ns = (double)(after_ns - before_ns) / 2;
	if (half_ns < out->half_width_ns)
		*out = (struct kwhy_pair_offset){.at_mono_ns = before_ns + (after_ns - before_ns) / 2,
			.unix_ns = (double)(clock.unix_ns - before_unix_ns) - half_ns,
			.mono_ns = (double)(clock.mono_ns - before_ns) - half_ns,
			.half_width_ns = half_ns};
	return KWHY_OK;
}

static enum kwhy_status request_clocks(
	struct kwhy_pair_ranks *ranks, struct kwhy_pair_offset *out, struct kwhy_error *error)
{
	int64_t end_ns = kwhy_clock_mono_ns() + (int64_t)(ranks->clock_s * 1e9);
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 0; i < ranks->calls.link.size; i++)
		out[i] = (struct kwhy_pair_offset){.half_width_ns = i ? INFINITY : 0};
	for (int round = 0; !status && (round < MIN || kwhy_clock_mono_ns() < end_ns); round++)
		for (uint32_t i = 1; !status && i < ranks->calls.link.size; i++)
			status = request_once(ranks, i, &out[i], error);
	return status;
}

enum kwhy_status kwhy_pair_ranks_mark(struct kwhy_pair_ranks *ranks, bool at_end, struct kwhy_error *error)
{
	const uint32_t body = at_end;
	enum kwhy_status status = request_clocks(ranks, at_end ? ranks->last : ranks->first, error);

	if (!status)
		status = kwhy_pair_marks_take(ranks->testbed, at_end ? &ranks->end : &ranks->begin, error);
	for (uint32_t i = 1; !status && i < ranks->calls.link.size; i++)
		status = kwhy_pair_call(
			&ranks->calls, i, KWHY_RANK_MARK, &body, sizeof(body), NULL, 0, error);
	return status;
}

enum kwhy_status kwhy_pair_ranks_drifts(
	struct kwhy_pair_ranks *ranks, struct kwhy_pairs *out, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_pair_drifts(
		ranks->testbed, &ranks->begin, &ranks->end, out->drifts, error);

	for (uint32_t i = 0; !status && i < ranks->calls.link.size; i++) {
		const struct kwhy_pair_offset *first = &ranks->first[i], *last = &ranks->last[i];
		double between_ns = (double)(last->at_mono_ns - first->at_mono_ns);
		struct kwhy_pair_rank *rank = &out->ranks[i];

		rank->offset_ns = first->unix_ns;
		rank->offset_half_width_ns = first->half_width_ns;
		if (i == 0)
			continue;
		rank->drift.ppm = (last->mono_ns - first->mono_ns) / between_ns * 1e6;
		rank->drift.half_width_ppm = (first->half_width_ns + last->half_width_ns) / between_ns * 1e6;
		status = kwhy_pair_call(&ranks->calls, i, KWHY_RANK_DRIFT, NULL, 0, &out->drifts[i],
			sizeof(out->drifts[i]), error);
	}
	return status;
}

int64_t kwhy_pair_ranks_unix_offset(const struct kwhy_pair_ranks *ranks, uint32_t rank)
{
	return strcmp(ranks->facts[rank].host, ranks->facts[0].host) == 0
		? 0
		: (int64_t)ranks->first[rank].unix_ns;
}

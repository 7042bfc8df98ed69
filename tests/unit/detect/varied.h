/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_DETECT_VARIED_H
#define KWHY_TESTS_DETECT_VARIED_H

#include "ledger/ledger_new.h"
#include "model/profile.h"
#include "model/recording.h"

/*
 * A small random recording of a program that repeats a few operations: launches, copies, waits, pauses of the
 * host, allocations, collectives, graphs, operators with shapes. Lengths, sizes and counts are drawn from
 * short lists of round values, so that many of them equal a threshold of a detector, or one another. The same
 * seed always gives the same recording.
 */
struct varied {
	struct kwhy_recording *recording;
	struct kwhy_ledger *ledger; /* NULL: energies are unknown */
	bool has_profile;
	struct kwhy_profile profile; /* set if has_profile */
};

/*
 * Makes the recording of a seed. `all`: all of the run is recorded, as projections need it; otherwise only
 * windows of it are recorded in some cases.
 */
struct varied varied_new(uint64_t seed, bool all);
/*
 * Makes a recording for tests of projections, of a program with more threads and streams, whose rounds
 * differ: with calls inside other calls, activities that overlap, graphs of several kinds of activities, and
 * clocks of host and device that differ.
 */
struct varied varied_mixed_new(uint64_t seed);
void varied_free(struct varied *varied);

/* Draws a number below `limit`; the state is never 0. */
uint32_t varied_below(uint64_t *state, uint32_t limit);

#endif

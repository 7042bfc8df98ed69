/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_DETECT_VARIED_H
#define KWHY_TESTS_DETECT_VARIED_H

#include "ledger/ledger_new.h"
#include "model/profile.h"
#include "model/recording.h"

/*
 * Small random recordings of programs that repeat a few operations: launches, copies, waits, pauses of the
 * host, allocations, collectives, graphs, operators with shapes. Lengths, sizes and counts come from short
 * lists of round values, so that many of them equal a threshold or each other exactly. The same seed always
 * gives the same recording.
 */
struct varied {
	struct kwhy_recording *recording;
	struct kwhy_ledger *ledger; /* NULL: energies are unknown */
	bool has_profile;
	struct kwhy_profile profile; /* set if has_profile */
};

/* `all`: recorded without pauses, as projections need it; otherwise some recordings have windows. */
struct varied varied_new(uint64_t seed, bool all);
/*
 * A recording of a program with more threads and streams, whose rounds differ, for projections: with calls
 * inside others, work that overlaps, graphs of several kinds of work, clocks that differ.
 */
struct varied varied_mixed_new(uint64_t seed);
void varied_free(struct varied *varied);

/* Draws a number below `limit`; the state is never 0. */
uint32_t varied_below(uint64_t *state, uint32_t limit);

#endif

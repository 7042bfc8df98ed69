/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_DETECT_HELD_H
#define KWHY_DETECT_HELD_H

#include "base/text.h"
#include "detect/tally.h"
#include "model/held_cause.h"

/*
 * Finds in which host ranges the host was during the gaps of a finding. Each gap is assigned to the innermost
 * range on the issuing thread that covers at least half of it. The title names the range name with the most
 * time; the cure follows from the causes (model/held_cause.h) of these ranges.
 */

/* Sums over all intervals assigned to ranges with one name, but not to steps. */
struct kwhy_held_name {
	uint64_t count;
	int64_t time_ns, longest_ns;
	uint32_t row; /* host range of the longest interval */
};

struct kwhy_held {
	const struct kwhy_recording *recording;
	struct kwhy_held_name
		*names; /* [number of names in the recording]; NULL: the recording has no host ranges */
	uint32_t first; /* index in `names` of the name with the most time; 0: none yet */
	int64_t cause_ns[KWHY_HELD_CAUSE_COUNT];
};

KWHY_MUST_USE enum kwhy_status kwhy_held_init(
	struct kwhy_held *held, const struct kwhy_recording *recording, struct kwhy_error *error);
void kwhy_held_done(struct kwhy_held *held);

/*
 * Assigns the interval [start_ns, end_ns) to the innermost range that covers at least half of it on the
 * thread of `call`. Adds held_ns, the counted part of the interval, to the times of the range's name and of
 * its cause.
 */
void kwhy_held_add(struct kwhy_held *held, uint32_t call, int64_t start_ns, int64_t end_ns, int64_t held_ns);

/*
 * Text in the arena on the range name with the most time, "69.6 ms of it, 6 times, in aten::add of
 * DistributedDataParallel.forward (train.py:42)", named by its range of the longest interval. *out_place
 * receives that range's position. NULL: no interval was assigned to a range, or out of memory.
 */
const char *kwhy_held_words(
	const struct kwhy_held *held, struct kwhy_arena *arena, struct kwhy_finding_place *out_place);
/*
 * The cure as text in the arena: that for the cause of the range name with the most time, followed by those
 * for other causes with more than a tenth of the time, largest first. A cause without a cure of its own gets
 * `otherwise`. NULL: no cause is known, or out of memory.
 */
const char *kwhy_held_cure(const struct kwhy_held *held, struct kwhy_arena *arena, const char *otherwise);
/*
 * Id of the change of `kwhy whatif` (`change` of struct kwhy_finding_terms) that cures the cause with the
 * most time. "": no such change cures it; NULL: the change of the detector applies.
 */
const char *kwhy_held_change(const struct kwhy_held *held);

/*
 * Appends the name of a host range with the function around it, its step and its source position: "aten::add
 * of DistributedDataParallel.forward in ProfilerStep#4 (train.py:42)".
 */
void kwhy_held_add_range(struct kwhy_text *out, const struct kwhy_recording *recording, uint32_t row);

/*
 * The place of a host range: words such as kwhy_held_add_range() appends, without the step unless
 * `with_step`, and source file and line. `words` is NULL if out of memory.
 */
struct kwhy_finding_place kwhy_held_place(
	struct kwhy_arena *arena, const struct kwhy_recording *recording, uint32_t row, bool with_step);

#endif

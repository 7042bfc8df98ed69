/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_DETECT_HELD_H
#define KWHY_DETECT_HELD_H

#include "base/text.h"
#include "detect/tally.h"
#include "model/held_cause.h"

/*
 * Finds in which host ranges the host was during the gaps of a finding. Each gap is assigned to the innermost
 * range that covers at least half of it. The title names the range with the most time; the cure follows from
 * the causes with the most time.
 */

/*
 * Sums over all intervals assigned to ranges with one name. The array has an entry for each name of the
 * recording.
 */
struct kwhy_held_name {
	uint64_t count;
	int64_t time_ns, longest_ns;
	uint32_t row; /* host range of the longest interval */
};

struct kwhy_held {
	const struct kwhy_recording *recording;
	struct kwhy_held_name
		*names; /* [number of names in the recording]; NULL: the recording has no host ranges */
	uint32_t first; /* index of the name with the most time; 0: no name yet */
	int64_t cause_ns[KWHY_HELD_CAUSE_COUNT];
};

KWHY_MUST_USE enum kwhy_status kwhy_held_init(
	struct kwhy_held *held, const struct kwhy_recording *recording, struct kwhy_error *error);
void kwhy_held_done(struct kwhy_held *held);

/*
 * Assigns the interval [start_ns, end_ns) on the thread of `call` to a range. The range's time grows by
 * held_ns.
 */
void kwhy_held_add(struct kwhy_held *held, uint32_t call, int64_t start_ns, int64_t end_ns, int64_t held_ns);

/*
 * Text on the range name with the most time, "69.6 ms of it, 6 times, in aten::add of
 * DistributedDataParallel.forward (train.py:42)", with its source position, in the arena. NULL: no range is
 * known, or out of memory.
 */
const char *kwhy_held_words(
	const struct kwhy_held *held, struct kwhy_arena *arena, struct kwhy_finding_place *out_place);
/*
 * The cure, as text in the arena: that for the cause of the range with the most time, followed by those for
 * other causes with more than a tenth of the time, largest first. `otherwise` is the cure for causes that
 * have none of their own. NULL: no range indicates a cause.
 */
const char *kwhy_held_cure(const struct kwhy_held *held, struct kwhy_arena *arena, const char *otherwise);
/*
 * Id of the change (`change` of struct kwhy_finding) that cures the cause with the most time. "": no change
 * cures it; NULL: the change is that of the detector's table.
 */
const char *kwhy_held_change(const struct kwhy_held *held);

/*
 * Appends the name of a host range, such as "aten::add of DistributedDataParallel.forward in ProfilerStep#4
 * (train.py:42)".
 */
void kwhy_held_add_range(struct kwhy_text *out, const struct kwhy_recording *recording, uint32_t row);

/*
 * The source position of a host range. If `with_step`, its words also name the step. `words` is NULL if out
 * of memory.
 */
struct kwhy_finding_place kwhy_held_place(
	struct kwhy_arena *arena, const struct kwhy_recording *recording, uint32_t row, bool with_step);

#endif

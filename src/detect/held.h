/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_DETECT_HELD_H
#define KWHY_DETECT_HELD_H

#include "base/text.h"
#include "detect/tally.h"

/*
 * Finds which host ranges held the host during the gaps of a finding. Each interval is assigned to the
 * deepest range that covers at least half of it. The finding is named after the range name with the most
 * time; the times by cause decide the cures.
 */
enum kwhy_held_cause {
	KWHY_HELD_UNKNOWN,  /* no range indicates the cause */
	KWHY_HELD_LOADER,   /* waiting for input, or preparing it */
	KWHY_HELD_READBACK, /* values read back: .item(), .tolist(), print */
	KWHY_HELD_CACHE,    /* emptying the cache of the allocator */
	KWHY_HELD_OUTPUT,   /* tokenising, logging, checkpoints */
	KWHY_HELD_PARALLEL, /* DDP's or FSDP's own work around the model */
	KWHY_HELD_COMPILED, /* calls of a compiled model */
	KWHY_HELD_MODEL,    /* operators of forward, backward, optimiser */
	KWHY_HELD_SYSTEM,   /* a call of the operating system */
	KWHY_HELD_CAUSE_COUNT
};

/* Sum over all intervals assigned to ranges of one name. */
struct kwhy_held_name {
	uint64_t count;
	int64_t time_ns, longest_ns;
	uint32_t row; /* range of the longest interval */
};

struct kwhy_held {
	const struct kwhy_recording *recording;
	struct kwhy_held_name *names; /* [names.count]; NULL: the recording has no host ranges */
	uint32_t first;		      /* name with the most time; 0: no name yet */
	int64_t cause_ns[KWHY_HELD_CAUSE_COUNT];
};

KWHY_MUST_USE enum kwhy_status kwhy_held_init(
	struct kwhy_held *held, const struct kwhy_recording *recording, struct kwhy_error *error);
void kwhy_held_done(struct kwhy_held *held);

/* Adds held_ns of the interval [start_ns, end_ns) on the thread of `call` to the finding. */
void kwhy_held_add(struct kwhy_held *held, uint32_t call, int64_t start_ns, int64_t end_ns, int64_t held_ns);

/*
 * Adds "; 69.6 ms of it, 6 times, in aten::add of DistributedDataParallel.forward (train.py:42)", or nothing
 * where no name is known.
 */
void kwhy_held_add_title(const struct kwhy_held *held, struct kwhy_text *out);
/*
 * The cure, in the arena: that of the leading range's cause, then those of other causes with more than a
 * tenth of the time, most first. NULL: no range says more than the detector knows.
 */
const char *kwhy_held_cure(const struct kwhy_held *held, struct kwhy_arena *arena, const char *otherwise);
/*
 * The change that cures the cause with the most time (struct kwhy_finding); "": no change cures it; NULL: use
 * the detector's change.
 */
const char *kwhy_held_change(const struct kwhy_held *held);

/*
 * Adds the name of a host range: "aten::add of DistributedDataParallel.forward in ProfilerStep#4
 * (train.py:42)".
 */
void kwhy_held_add_range(struct kwhy_text *out, const struct kwhy_recording *recording, uint32_t row);

#endif

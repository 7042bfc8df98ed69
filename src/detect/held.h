/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_DETECT_HELD_H
#define KWHY_DETECT_HELD_H

#include "base/text.h"
#include "detect/tally.h"

/*
 * Which host ranges held the host in the gaps of a finding: the deepest one that covers at least half of a
 * stretch stands for it. One name leads, the finding is named after it; the time of all of them by cause
 * decides the cures.
 */
enum kwhy_held_cause {
	KWHY_HELD_UNKNOWN,  /* in no range that says why */
	KWHY_HELD_LOADER,   /* waiting for, or making, input */
	KWHY_HELD_READBACK, /* values read back: .item(), .tolist(), print */
	KWHY_HELD_CACHE,    /* emptying the cache of the allocator */
	KWHY_HELD_OUTPUT,   /* tokenising, logging, checkpoints */
	KWHY_HELD_PARALLEL, /* DDP's or FSDP's own work around the model */
	KWHY_HELD_COMPILED, /* calls of a compiled model */
	KWHY_HELD_MODEL,    /* operators of forward, backward, optimiser */
	KWHY_HELD_SYSTEM,   /* a call of the operating system */
	KWHY_HELD_CAUSE_COUNT
};

/* All stretches held by ranges of one name. */
struct kwhy_held_name {
	uint64_t count;
	int64_t time_ns, longest_ns;
	uint32_t row; /* of the longest */
};

struct kwhy_held {
	const struct kwhy_recording *recording;
	struct kwhy_held_name *names; /* [names.count]; NULL: the recording has no host ranges */
	uint32_t first;		      /* name that leads; 0: none yet */
	int64_t cause_ns[KWHY_HELD_CAUSE_COUNT];
};

KWHY_MUST_USE enum kwhy_status kwhy_held_init(
	struct kwhy_held *held, const struct kwhy_recording *recording, struct kwhy_error *error);
void kwhy_held_done(struct kwhy_held *held);

/* held_ns of the stretch [start, end) of the thread of `call` belong to the finding. */
void kwhy_held_add(struct kwhy_held *held, uint32_t call, int64_t start_ns, int64_t end_ns, int64_t held_ns);

/* "; 69.6 ms of it, 6 times, in aten::add of DistributedDataParallel.forward (train.py:42)"; or nothing. */
void kwhy_held_add_title(const struct kwhy_held *held, struct kwhy_text *out);
/*
 * In the arena: the cure of what leads, then of what else took a tenth, most first; NULL: no range says more
 * than the detector knows.
 */
const char *kwhy_held_cure(const struct kwhy_held *held, struct kwhy_arena *arena, const char *otherwise);
/* The change that cures what took most (struct kwhy_finding); NULL: that of the detector. */
const char *kwhy_held_change(const struct kwhy_held *held);

/* "aten::add of DistributedDataParallel.forward in ProfilerStep#4 (train.py:42)" of a row of host ranges. */
void kwhy_held_add_range(struct kwhy_text *out, const struct kwhy_recording *recording, uint32_t row);

#endif

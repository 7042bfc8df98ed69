/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_PROPERTY_TIME_PLAN_H
#define KWHY_TESTS_PROPERTY_TIME_PLAN_H

#include "ledger/ledger_new.h"
#include "model/recording.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A small random recording as plain rows, from which recordings are built: in another order of rows, with
 * shifted times, or with a part of the rows. It lasts so few nanoseconds that a reference algorithm can look
 * at each of them.
 */
enum {
	PLAN_DEVICES = 3,
	PLAN_PROCESSES = 3,
	PLAN_THREADS = 4,
	PLAN_STREAMS = 5,
	PLAN_ACTIVITIES = 14,
	PLAN_CALLS = 16,
	PLAN_RANGES = 5,
	PLAN_HOST_RANGES = 10,
	PLAN_END_NS = 160, /* everything ends at this time or before */
};

struct plan_activity {
	int64_t start_ns, end_ns;
	uint64_t bytes;
	uint32_t stream, call; /* call: index into calls; KWHY_NONE: none */
	uint32_t blocks;
	enum kwhy_activity_kind kind;
	enum kwhy_copy_kind copy_kind;
};

struct plan_call {
	int64_t start_ns, end_ns;
	uint32_t thread;
	enum kwhy_call_class class;
};

struct plan_range {
	int64_t start_ns, end_ns;
	uint32_t thread; /* KWHY_NONE: the range belongs to no thread */
	bool step;
};

struct plan_host_range {
	int64_t start_ns, end_ns;
	uint32_t thread;
	enum kwhy_host_kind kind;
};

struct plan {
	size_t device_count, process_count, thread_count, stream_count;
	size_t activity_count, call_count, range_count, host_range_count;
	uint32_t sm_count;
	uint32_t thread_process[PLAN_THREADS];
	uint32_t stream_process[PLAN_STREAMS], stream_device[PLAN_STREAMS];
	struct plan_activity activities[PLAN_ACTIVITIES];
	struct plan_call calls[PLAN_CALLS];
	struct plan_range ranges[PLAN_RANGES];
	struct plan_host_range host_ranges[PLAN_HOST_RANGES];
};

struct plan_variant {
	uint64_t order_seed; /* seed of the order in which rows are added; 0: order of the plan */
	int64_t shift_ns;
	int64_t from_ns, to_ns; /* only activities that start in [from_ns, to_ns) are built */
};

/* Returns the variant with all of the plan, in its order and with its clock. */
struct plan_variant plan_whole(void);

uint64_t plan_random(uint64_t *state);
struct plan plan_make(uint64_t seed);

/*
 * Returns a finished recording of the plan. Activity i is named "Memcpy <i>" with four digits; names of
 * calls show their class.
 */
struct kwhy_recording *plan_build(const struct plan *plan, const struct plan_variant *variant);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_PROPERTY_TIME_PLAN_H
#define KWHY_TESTS_PROPERTY_TIME_PLAN_H

#include "ledger/ledger_new.h"
#include "model/recording.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * A small random recording as plain rows, so that it can be built several times: in another order, with
 * another clock, or in part. Times are few nanoseconds long, so a reference may try every one of them.
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
	PLAN_END_NS = 160, /* nothing ends later */
};

struct plan_activity {
	int64_t start_ns, end_ns;
	uint64_t bytes;
	uint32_t stream, call; /* index into calls; KWHY_NONE */
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
	uint32_t thread; /* KWHY_NONE: of no thread */
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
	uint64_t order_seed; /* 0: as planned */
	int64_t shift_ns;
	int64_t from_ns, to_ns; /* activities that start in [from, to) alone */
};

/* All of the plan as it is. */
struct plan_variant plan_whole(void);

uint64_t plan_random(uint64_t *state);
struct plan plan_make(uint64_t seed);

/* A finished recording; activity i of the plan is named "k<i>" or "Memcpy <i>", call names say their class.
 */
struct kwhy_recording *plan_build(const struct plan *plan, const struct plan_variant *variant);

#endif

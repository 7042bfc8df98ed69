/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_STATE_H
#define KWHY_INJECT_STATE_H

#include "base/clock.h"
#include "inject/activity.h"
#include "inject/facts.h"
#include "inject/lines/rows.h"
#include "inject/ranges.h"
#include "inject/translate.h"

#include <pthread.h>
#include <stdatomic.h>

enum { KWHY_INJECT_OFF, KWHY_INJECT_ON, KWHY_INJECT_ENDED };
enum { KWHY_INJECT_SHARE_BYTES = 256 << 10 };

/* Data too large for a static variable; allocated when a recording begins. */
struct kwhy_inject_memory {
	struct kwhy_inject_labels labels;
	struct kwhy_inject_translate translate;
	struct kwhy_inject_ranges ranges;
	struct kwhy_inject_collection collection;
	struct kwhy_stacks stacks;
	struct kwhy_stack_nodes nodes;
	unsigned char shares[KWHY_BLOCK_WRITER_BYTES(KWHY_INJECT_SHARE_BYTES)];
};

/* The one recording of this process; only the files of the session use it. */
struct kwhy_inject_state {
	pthread_mutex_t
		begins;	      /* held by the thread that begins the recording, also while that calls CUPTI */
	pthread_mutex_t lock; /* protects the writer and all data that is written; never held while CUPTI or
				 the driver is called */
	pthread_mutex_t flushes; /* held while CUPTI returns its buffers; the end of the recording waits at
				    most two seconds for it */
	atomic_int state, activity_state; /* state of the recording, and of the collection of activity by
					     CUPTI: KWHY_INJECT_OFF, KWHY_INJECT_ON or KWHY_INJECT_ENDED */
	struct kwhy_inject_options options;
	struct kwhy_inject_activity
		activity; /* switched only under the lock of struct kwhy_inject_collection */
	struct kwhy_block_writer writer;
	struct kwhy_inject_memory *memory;
	struct kwhy_clock clock; /* clock by which the session's thread sleeps */
	struct kwhy_clock_sleeper sleeper;
	enum kwhy_wire_choice choice;
	int64_t activity_start_mono_ns, coverage_end_mono_ns, last_buffer_mono_ns, last_clock_mono_ns;
	uint64_t dropped; /* records that CUPTI has dropped and that no LOST record counts yet */
	uint64_t launched_before, called_before; /* memory->translate.launched and .called when collection was
						    last switched on */
	int64_t start_cost_ns, thread_cost_ns, buffers_cost_ns;
	uint64_t ticks, buffers;
	atomic_int_least64_t ours_mono_ns; /* the last time at which CUPTI was found to record for kwhy */
	atomic_bool is_taken_over, is_ending;
	pthread_t thread; /* the session's thread; valid if has_thread */
	atomic_bool has_thread;
	bool has_devices, has_handlers, is_stopped;
};

extern struct kwhy_inject_state kwhy_inject_state;

/* Whether this is the session's own thread. */
extern _Thread_local bool kwhy_inject_is_own_thread;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPLAY_RUN_PARTS_H
#define KWHY_REPLAY_RUN_PARTS_H

#include "replay/run.h"

#include <pthread.h>

/* A pattern prepared for repeated runs; kwhy_replay_run_new() makes it. */
struct kwhy_replay_run {
	struct kwhy_replay_runner runner;
	struct kwhy_replay_buffers buffers;
	struct kwhy_gpu_stream **streams; /* [replay streams] stream of the device */
	/* [replay streams] event after the last work of each stream; its time on the device can be read */
	struct kwhy_gpu_event **ends;
	struct kwhy_gpu_event *start; /* event before the work that starts first of all streams; its time on
					 the device can be read */
	/* [marks] event after each piece of work that something waits for */
	struct kwhy_gpu_event **marks;
	struct kwhy_gpu_graph **graphs; /* [graphs] NULL: the graph's work is launched piece by piece */
	struct kwhy_replay_worker *workers;
	uint64_t loose_graphs;
	bool ends_inside; /* whether an interrupt ends a run at once; false: the run is completed */

	/* State of the current run. */
	int64_t start_mono_ns;
	atomic_bool *mark_is_set; /* [marks] whether the event was recorded in this run */
	_Atomic int64_t *done_ns; /* [ops] time on CLOCK_MONOTONIC at which the op should have ended by its
				     thread's schedule, stored once it has ended; 0: it has not ended */
	int64_t *took_ns;	  /* [ops] total duration of the calls that issued the op's work */
	atomic_bool has_failed;
};

struct kwhy_replay_worker {
	struct kwhy_replay_run *run;
	const struct kwhy_replay_thread *thread;
	pthread_t id;
	int64_t due_ns;	 /* time on CLOCK_MONOTONIC at which the thread's current call or pause should end */
	int64_t late_ns; /* time by which the schedule was shifted in this run, because calls were late by
			    more than pauses could make up for */
	enum kwhy_status status;
	struct kwhy_error error;
};

/* Issues one piece of work in its stream. */
KWHY_MUST_USE enum kwhy_status kwhy_replay_issue(
	struct kwhy_replay_run *run, const struct kwhy_replay_work *work, struct kwhy_error *error);

enum kwhy_replay_call kwhy_replay_call_of(const struct kwhy_replay_run *run, const struct kwhy_replay_op *op);

/*
 * Makes the calls of one thread. `context` is its struct kwhy_replay_worker, which also receives the status
 * and the error.
 */
void *kwhy_replay_work_off(void *context);

#endif

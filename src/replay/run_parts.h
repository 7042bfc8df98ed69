/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPLAY_RUN_PARTS_H
#define KWHY_REPLAY_RUN_PARTS_H

#include "replay/run.h"

#include <pthread.h>

/* Made by kwhy_replay_run_new(). */
struct kwhy_replay_run {
	struct kwhy_replay_runner runner;
	struct kwhy_replay_buffers buffers;
	struct kwhy_gpu_stream **streams; /* [lanes] */
	struct kwhy_gpu_event **ends;	  /* [lanes] timed, behind their last work */
	struct kwhy_gpu_event *start;	  /* timed, before the first work of all */
	struct kwhy_gpu_event **marks;	  /* [marks] */
	struct kwhy_gpu_graph **graphs;	  /* [graphs] NULL: launched piece by piece */
	struct kwhy_replay_worker *workers;
	uint64_t loose_graphs;
	bool ends_inside; /* an interrupt does not wait for the end of a run */

	/* of one run */
	int64_t start_mono_ns;
	atomic_bool *mark_is_set; /* [marks] its event was recorded */
	_Atomic int64_t *done_ns; /* [ops] when it had ended; 0: not yet */
	int64_t *took_ns;	  /* [ops] to issue its work */
	atomic_bool has_failed;
};

struct kwhy_replay_worker {
	struct kwhy_replay_run *run;
	const struct kwhy_replay_thread *thread;
	pthread_t id;
	int64_t due_ns;	 /* of the schedule: when the last call should have ended */
	int64_t late_ns; /* by which the schedule of this run was put off, waits for the device apart */
	enum kwhy_status status;
	struct kwhy_error error;
};

/* One piece of work, in its stream. */
KWHY_MUST_USE enum kwhy_status kwhy_replay_issue(
	struct kwhy_replay_run *run, const struct kwhy_replay_work *work, struct kwhy_error *error);

enum kwhy_replay_call kwhy_replay_call_of(const struct kwhy_replay_run *run, const struct kwhy_replay_op *op);

/* The calls of one thread; `context` is its worker, whose status and error say how it went. */
void *kwhy_replay_work_off(void *context);

#endif

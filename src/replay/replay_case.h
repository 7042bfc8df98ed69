/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPLAY_REPLAY_CASE_H
#define KWHY_REPLAY_REPLAY_CASE_H

#include "replay/replay.h"
#include "replay/window.h"

/* What the steps of kwhy_replay() share. */

/* A replay under way. */
struct kwhy_replay_job {
	struct kwhy_whatif *whatif;
	const struct kwhy_replay_request *request;
	struct kwhy_replay *replay;
	struct kwhy_gpu *gpu;
	struct kwhy_device_energy *energy; /* NULL: not asked for */
	struct kwhy_proxies *proxies;
	struct kwhy_replay_latencies latencies;
	double work_factor; /* times what kernels drew above idle is asked of their proxy kernels */
	bool has_others;    /* other devices worked in the recording, too */
};

/* A pattern with all that it needs to run. */
struct kwhy_replay_case {
	struct kwhy_replay_job *job;
	const char *name; /* "as recorded", "changed" */
	struct kwhy_replay_changes changes;
	struct kwhy_replay_pattern *pattern;
	struct kwhy_proxy_choice *choices; /* [accounts] */
	struct kwhy_replay_run *run;
	struct kwhy_replay_outcome *outcome;
	struct kwhy_replay_window window; /* of energy, and spans of the runs after it */
	bool window_is_whole;		  /* nothing ended it early */
};

static inline void kwhy_replay_tell(const struct kwhy_replay_job *job, const char *what)
{
	if (job->request->progress)
		job->request->progress(job->request->context, what);
}

/* The proxy kernels of each account, by what it drew and the job's factor. */
void kwhy_replay_choose_all(struct kwhy_replay_case *replay_case);

/*
 * The pattern as recorded is run until it takes the recorded time, and then until it draws the recorded
 * energy above idle: what is found is the job's `trips.late_ns` and `work_factor`, for all later runs. The
 * replay has its steps.
 */
KWHY_MUST_USE enum kwhy_status kwhy_replay_settle(
	struct kwhy_replay_case *replay_case, struct kwhy_error *error);

#endif

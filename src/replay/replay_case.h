/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPLAY_REPLAY_CASE_H
#define KWHY_REPLAY_REPLAY_CASE_H

#include "replay/replay.h"
#include "replay/window.h"

/* State that the steps of kwhy_replay() share. */

/* State of a running replay, shared by its two parts: as recorded, then changed. */
struct kwhy_replay_job {
	struct kwhy_whatif *whatif;
	const struct kwhy_replay_request *request;
	struct kwhy_replay *replay;
	struct kwhy_gpu *gpu;
	struct kwhy_device_energy *energy; /* NULL: energy was not requested */
	struct kwhy_proxies *proxies;
	struct kwhy_replay_latencies latencies;
	double work_factor; /* factor by which the recorded power above idle is multiplied to get the wanted
			       power of proxy kernels */
	bool has_others;    /* whether other devices worked in the recording, too */
};

/* One part of a replay: its pattern and everything that its runs need. */
struct kwhy_replay_case {
	struct kwhy_replay_job *job;
	const char *name; /* name of the part: "as recorded" or "changed" */
	struct kwhy_replay_changes changes;
	struct kwhy_replay_pattern *pattern;
	struct kwhy_proxy_choice *choices; /* [accounts] proxy kernel chosen for each account */
	struct kwhy_replay_run *run;
	struct kwhy_replay_outcome *outcome;
	/*
	 * window of runs in which energy is measured; window.spans also gets the spans of runs that are made
	 * after the window
	 */
	struct kwhy_replay_window window;
	bool window_is_whole; /* whether the window ran to its end without an error, so that its energy counts
			       */
};

static inline void kwhy_replay_tell(const struct kwhy_replay_job *job, const char *what)
{
	if (job->request->progress)
		job->request->progress(job->request->context, what);
}

/* Chooses the proxy kernels of each account by its recorded power and the job's work factor. */
void kwhy_replay_choose_all(struct kwhy_replay_case *replay_case);

/*
 * Calibrates the replay: runs the pattern as recorded and adjusts two corrections, first to make a run take
 * the recorded time, and then, with energy meters, to make it draw the recorded energy above idle. It makes a
 * few runs and windows of runs at most, and none if a run takes more than 10 s. The results are the job's
 * `latencies.late_ns` and `work_factor`, which all later runs use. The steps of the calibration are listed in
 * struct kwhy_replay.
 */
KWHY_MUST_USE enum kwhy_status kwhy_replay_settle(
	struct kwhy_replay_case *replay_case, struct kwhy_error *error);

#endif

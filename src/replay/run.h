/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPLAY_RUN_H
#define KWHY_REPLAY_RUN_H

#include "replay/buffers.h"
#include "replay/latencies.h"

/*
 * A pattern prepared for repeated runs on one GPU, with its streams, events, memory and graphs. Each recorded
 * thread becomes a thread of the replay and keeps to a schedule. If a call takes longer than scheduled, the
 * thread shortens its next pauses to make up for at most 0.1 ms; any further delay shifts the rest of its
 * schedule. After a wait for the device, the schedule continues from the end of the wait.
 */
struct kwhy_replay_run;

struct kwhy_replay_runner {
	struct kwhy_gpu *gpu;
	const struct kwhy_replay_pattern *pattern;
	/* proxy kernels, with the grids of the pattern measured */
	const struct kwhy_proxies *proxies;
	/* [accounts] proxy kernel for each account of the pattern */
	const struct kwhy_proxy_choice *choices;
	const struct kwhy_replay_latencies *latencies;
	/*
	 * True: calls that issue work and do not wait take as long as they do on this machine, plus the time
	 * that a recorder adds to them (kwhy_replay_added_ns()). All other calls, and calls of a kind that
	 * was not recorded, take at least as long as recorded or projected.
	 */
	bool is_timed;
};

/* Makes a run. Everything that the runner points to must outlive it. */
KWHY_MUST_USE enum kwhy_status kwhy_replay_run_new(
	const struct kwhy_replay_runner *runner, struct kwhy_replay_run **out, struct kwhy_error *error);
void kwhy_replay_run_free(struct kwhy_replay_run *run);

/*
 * Makes the graphs again after other proxy kernels were chosen, because a graph contains the kernels that
 * were chosen when it was made.
 */
KWHY_MUST_USE enum kwhy_status kwhy_replay_run_renew(struct kwhy_replay_run *run, struct kwhy_error *error);

struct kwhy_replay_span {
	/* time from the first start to the last end of the run's work, by the device's clock */
	double span_s;
	/*
	 * largest total delay of a thread: time by which its schedule was shifted because calls took longer
	 * than scheduled and shortened pauses did not make up for it
	 */
	double late_s;
};

KWHY_MUST_USE enum kwhy_status kwhy_replay_run_once(
	struct kwhy_replay_run *run, struct kwhy_replay_span *out, struct kwhy_error *error);

/*
 * Median durations of calls in the last run and in the recording, by kind of call; only calls count that
 * issue one piece of work or one graph and do not wait.
 */
KWHY_MUST_USE enum kwhy_status kwhy_replay_run_call_times(const struct kwhy_replay_run *run,
	struct kwhy_replay_call_times out[KWHY_REPLAY_CALL_COUNT], struct kwhy_error *error);

/*
 * Number of graph launches whose graphs the driver rejected, so that their work is launched piece by piece.
 */
uint64_t kwhy_replay_run_loose_graphs(const struct kwhy_replay_run *run);

#endif

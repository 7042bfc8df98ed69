/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPLAY_RUN_H
#define KWHY_REPLAY_RUN_H

#include "replay/buffers.h"
#include "replay/latencies.h"

/*
 * A pattern made ready for one GPU, to be run again and again: streams, events, memory, graphs. Each recorded
 * thread becomes one here. A thread keeps to a schedule: what a call takes longer than it should is taken
 * from the pauses after it; where it waited for the device, the schedule goes on from there.
 */
struct kwhy_replay_run;

struct kwhy_replay_runner {
	struct kwhy_gpu *gpu;
	const struct kwhy_replay_pattern *pattern;
	const struct kwhy_proxies *proxies;	 /* with the pattern's grids */
	const struct kwhy_proxy_choice *choices; /* [accounts] */
	const struct kwhy_replay_latencies *latencies;
	bool is_timed; /* calls that wait for nothing, of a kind that was recorded, take what they take here
			  and what a recording adds; else they take as long as recorded or projected at least
			*/
};

/* All of the runner must outlive the run. */
KWHY_MUST_USE enum kwhy_status kwhy_replay_run_new(
	const struct kwhy_replay_runner *runner, struct kwhy_replay_run **out, struct kwhy_error *error);
void kwhy_replay_run_free(struct kwhy_replay_run *run);

/* After other choices were made: graphs hold the kernels that they were made of. */
KWHY_MUST_USE enum kwhy_status kwhy_replay_run_renew(struct kwhy_replay_run *run, struct kwhy_error *error);

struct kwhy_replay_span {
	double span_s; /* from the first start to the last end of its work, by the device's clock */
	double late_s; /* by which the schedule of a thread was put off, since its calls took longer than they
			  and the pauses after them did; of the thread with most */
};

KWHY_MUST_USE enum kwhy_status kwhy_replay_run_once(
	struct kwhy_replay_run *run, struct kwhy_replay_span *out, struct kwhy_error *error);

/* What calls of the last run took, beside what they were recorded to take. */
KWHY_MUST_USE enum kwhy_status kwhy_replay_run_call_times(const struct kwhy_replay_run *run,
	struct kwhy_replay_call_times out[KWHY_REPLAY_CALL_COUNT], struct kwhy_error *error);

/* Graphs that this GPU's driver did not take, whose work is launched piece by piece. */
uint64_t kwhy_replay_run_loose_graphs(const struct kwhy_replay_run *run);

#endif

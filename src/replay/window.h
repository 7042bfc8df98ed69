/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPLAY_WINDOW_H
#define KWHY_REPLAY_WINDOW_H

#include "replay/replay.h"
#include "replay/run.h"

/* Runs in a row in one window of energy. */
struct kwhy_replay_window {
	char name[32];
	double seconds; /* until it has lasted this long; one run at least */
	size_t runs;
	struct kwhy_replay_span sum;
	struct kwhy_replay_span spans[KWHY_REPLAY_RUNS_KEPT]; /* of the first */
};

KWHY_MUST_USE enum kwhy_status kwhy_replay_window_run(struct kwhy_device_energy *energy,
	struct kwhy_replay_run *run, struct kwhy_replay_window *window, struct kwhy_error *error);

/*
 * After kwhy_device_energy_read(). What one run drew, less the idle level in the pauses between runs, and
 * what of it was above idle; the level. NAN: unknown.
 */
struct kwhy_replay_joules {
	struct kwhy_joules gross, net;
	double idle_w;
};

struct kwhy_replay_joules kwhy_replay_window_joules(
	const struct kwhy_device_energy *energy, const struct kwhy_replay_window *window);

#endif

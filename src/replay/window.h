/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPLAY_WINDOW_H
#define KWHY_REPLAY_WINDOW_H

#include "replay/replay.h"
#include "replay/run.h"

/*
 * Consecutive runs whose energy is measured together. Set `name`, which must differ between windows, and
 * `seconds`; zero-initialise the rest.
 */
struct kwhy_replay_window {
	char name[32];
	double seconds; /* runs begin until this time in s has passed; at least one is made */
	size_t runs;
	struct kwhy_replay_span sum;
	struct kwhy_replay_span spans[KWHY_REPLAY_RUNS_KEPT]; /* durations of the first runs */
};

KWHY_MUST_USE enum kwhy_status kwhy_replay_window_run(struct kwhy_device_energy *energy,
	struct kwhy_replay_run *run, struct kwhy_replay_window *window, struct kwhy_error *error);

/*
 * Results of a window, after kwhy_device_energy_read(). `gross` is the mean energy of one run; it does not
 * include what an idle GPU would have drawn in the pauses between runs. `net` is the energy of one run above
 * idle, and `idle_w` the idle level. NAN: unknown.
 */
struct kwhy_replay_joules {
	struct kwhy_joules gross, net;
	double idle_w;
};

struct kwhy_replay_joules kwhy_replay_window_joules(
	const struct kwhy_device_energy *energy, const struct kwhy_replay_window *window);

#endif

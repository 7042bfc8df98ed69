/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RUN_TUNE_SWEEP_H
#define KWHY_CLI_RUN_TUNE_SWEEP_H

#include "cli/model/cap.h"
#include "cli/run/stat_run.h"
#include "tune/guard.h"

/* A setting of the sweep and the time, energy and work of a run under it. */
struct kwhy_tune_point {
	unsigned value;		      /* mW or MHz */
	double seconds, joules, work; /* work is 1 where no work is counted */
};

/* One device with its setting and its meters, and all runs of a sweep. */
struct kwhy_tune_sweep {
	struct kwhy_tune_guard guard;
	struct kwhy_tune_setting setting;
	bool is_open; /* `setting` is open */
	struct kwhy_signals signals;
	struct kwhy_stat stat;
	struct kwhy_stat_specs specs;
	struct kwhy_environment environment; /* environment of the command */
	struct kwhy_stat_work_file work_file;
	struct kwhy_stat_meter meter;
	struct kwhy_stat_runner runner;
	struct kwhy_tune_point points[KWHY_CAP_POINTS_MAX]; /* in the order of the runs */
	size_t count;
	int exit;		/* exit status of the command where that ended the sweep, or 128 + signal */
	struct kwhy_error left; /* why the setting was not restored; KWHY_OK: it was */
};

/* The requested sweep. */
struct kwhy_tune_request {
	enum kwhy_tune_kind kind;
	uint64_t device, values, repeats, warmup, seed;
	double from, to; /* W or MHz; NAN: the limit of the device */
	const struct kwhy_strings *work;
	char *const *argv;
	size_t argc;
};

/*
 * Runs the command under each value in random order, and restores the setting in any case. A failure to
 * restore it is in sweep->left and leaves the results valid. Call kwhy_tune_sweep_done() after a failure,
 * too.
 */
KWHY_MUST_USE enum kwhy_status kwhy_tune_sweep_run(
	struct kwhy_tune_sweep *sweep, const struct kwhy_tune_request *request, struct kwhy_error *error);
void kwhy_tune_sweep_done(struct kwhy_tune_sweep *sweep);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RUN_TUNE_SWEEP_H
#define KWHY_CLI_RUN_TUNE_SWEEP_H

#include "cli/model/cap.h"
#include "cli/run/stat_run.h"
#include "tune/guard.h"

/* A setting of the sweep and what a run under it took. */
struct kwhy_tune_point {
	unsigned value;		      /* mW or MHz */
	double seconds, joules, work; /* work: 1 where none is counted */
};

/* One device, its setting and its meters; all runs of a sweep. */
struct kwhy_tune_sweep {
	struct kwhy_tune_guard guard;
	struct kwhy_tune_setting setting;
	bool is_open; /* the setting is */
	struct kwhy_signals signals;
	struct kwhy_stat stat;
	struct kwhy_stat_specs specs;
	struct kwhy_environment environment; /* of the command */
	struct kwhy_stat_work_file work_file;
	struct kwhy_stat_meter meter;
	struct kwhy_stat_runner runner;
	struct kwhy_tune_point points[KWHY_CAP_POINTS_MAX]; /* in the order of the runs */
	size_t count;
	int exit;		/* of the command where that ended the sweep, or 128 + signal */
	struct kwhy_error left; /* why the setting is not put back; KWHY_OK: it is */
};

/* What is asked for. */
struct kwhy_tune_request {
	enum kwhy_tune_kind kind;
	uint64_t device, values, repeats, warmup, seed;
	double from, to; /* W or MHz; NAN: what the device allows */
	const struct kwhy_strings *work;
	char *const *argv;
	size_t argc;
};

/*
 * Runs the command under each value, in random order, and puts the setting back, whatever happens; what goes
 * wrong with that is in sweep->left and leaves what was measured. kwhy_tune_sweep_done() also after a
 * failure.
 */
KWHY_MUST_USE enum kwhy_status kwhy_tune_sweep_run(
	struct kwhy_tune_sweep *sweep, const struct kwhy_tune_request *request, struct kwhy_error *error);
void kwhy_tune_sweep_done(struct kwhy_tune_sweep *sweep);

#endif

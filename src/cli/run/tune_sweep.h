/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RUN_TUNE_SWEEP_H
#define KWHY_CLI_RUN_TUNE_SWEEP_H

#include "cli/model/cap.h"
#include "cli/run/stat_run.h"
#include "tune/guard.h"

/* Result of one run under one value of the setting: its time, energy and work. */
struct kwhy_tune_point {
	unsigned value;		      /* value of the setting, mW for a power limit or MHz for a clock */
	double seconds, joules, work; /* `work` is 1 if no work was counted */
};

/* State of a sweep: one device with its setting and its meters, and all runs. */
struct kwhy_tune_sweep {
	struct kwhy_tune_guard guard;
	struct kwhy_tune_setting setting;
	bool is_open; /* whether `setting` was opened and is not yet closed */
	struct kwhy_signals signals;
	struct kwhy_stat stat;
	struct kwhy_stat_specs specs;
	struct kwhy_environment environment; /* environment of the command */
	struct kwhy_stat_work_file work_file;
	struct kwhy_stat_meter meter;
	struct kwhy_stat_runner runner;
	struct kwhy_tune_point points[KWHY_CAP_POINTS_MAX]; /* values in the order of the runs; the first
							       `count` have their results */
	size_t count;
	/*
	 * 0, or what ended the sweep: the exit status of a run that failed, or 128 plus the number of the
	 * signal that killed a run or asked to end
	 */
	int exit;
	struct kwhy_error left; /* why the setting could not be restored; status KWHY_OK: it was restored */
};

/* The sweep that the user requests. */
struct kwhy_tune_request {
	enum kwhy_tune_kind kind;
	uint64_t device, values, repeats, warmup, seed;
	double from, to; /* lowest and highest value of the setting, W or MHz; NAN: the lowest or highest
			    value that the device allows; for the lowest clock, 40 % of its highest rate if
			    that is higher */
	const struct kwhy_strings *work;
	char *const *argv;
	size_t argc;
};

/*
 * Runs the command under each value of the setting, `repeats` times, in random order, and then restores the
 * setting, also after a failure. If the setting cannot be restored, sweep->left has the error; the results
 * remain valid. Call kwhy_tune_sweep_done() after a failure, too.
 */
KWHY_MUST_USE enum kwhy_status kwhy_tune_sweep_run(
	struct kwhy_tune_sweep *sweep, const struct kwhy_tune_request *request, struct kwhy_error *error);
void kwhy_tune_sweep_done(struct kwhy_tune_sweep *sweep);

#endif

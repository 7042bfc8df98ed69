/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RUN_STAT_RUN_H
#define KWHY_CLI_RUN_STAT_RUN_H

#include "base/status.h"
#include "cli/run/stat_meter.h"
#include "cli/run/stat_spec.h"
#include "cli/run/stat_work_file.h"
#include "launch/child.h"
#include "model/stat.h"

/* Inputs that all runs of a command share. They are not copied. */
struct kwhy_stat_runner {
	char *const *argv;
	struct kwhy_stat_meter *meter;
	struct kwhy_stat_specs *specs;
	const struct kwhy_environment *environment; /* environment of the command */
	const struct kwhy_stat_work_file *work_file;
	struct kwhy_signals *signals;
	struct kwhy_stat *stat;
	int64_t first_start_ns; /* start of the first measured run, on CLOCK_MONOTONIC; 0: there was none yet
				 */
};

/*
 * Runs the command once and adds the run to the stat, with its energy, work, metrics and intervals. Returns
 * when meter readings cover the end of the run. *out_exit: exit status of the command. KWHY_E_INPUT: the
 * command could not be started, and *out_exit is the exit status that a shell would give.
 */
KWHY_MUST_USE enum kwhy_status kwhy_stat_run(
	struct kwhy_stat_runner *runner, int *out_exit, struct kwhy_error *error);

/* Runs the command once without measuring, as a warm-up. *out_exit: exit status of the command. */
KWHY_MUST_USE enum kwhy_status kwhy_stat_run_unmeasured(
	struct kwhy_stat_runner *runner, int *out_exit, struct kwhy_error *error);

/*
 * Measures the idle power of the domains for `seconds`, while no command runs. If a signal asks to end, it
 * ends early, and the idle powers stay unknown.
 */
KWHY_MUST_USE enum kwhy_status kwhy_stat_run_idle(
	struct kwhy_stat_runner *runner, double seconds, struct kwhy_error *error);

#endif

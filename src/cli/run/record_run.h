/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RUN_RECORD_RUN_H
#define KWHY_CLI_RUN_RECORD_RUN_H

#include "base/status.h"
#include "cli/run/probe_watch.h"
#include "cli/run/stat_spec.h"
#include "cli/run/stat_work_file.h"
#include "launch/child.h"
#include "record/folder.h"
#include "record/meters.h"
#include "sensor/sampler.h"

/* Inputs of the recording of one command; all are borrowed. */
struct kwhy_record_runner {
	char *const *argv;
	struct kwhy_sensors *sensors;
	struct kwhy_sampler *sampler; /* NULL: no meter to sample */
	struct kwhy_record_meters *meters;
	struct kwhy_stat_specs *specs;
	struct kwhy_environment *environment; /* environment of the command; the times are added */
	const struct kwhy_stat_work_file *work_file;
	struct kwhy_stat *stat; /* has the units of the specs */
	struct kwhy_signals *signals;
	double delay_s, duration_s; /* delay_s NAN: from the start; duration_s NAN: to the end */
	const struct kwhy_record_folder *folder;
	const char *const *counts; /* UNIT=NAME: units counted by ranges of a name */
	size_t count_count;
	bool replayed; /* a file is played instead of reading meters, so readings are not of this machine's
			  present */
	bool progress; /* shows a progress line */
	struct kwhy_probe_watch *watch; /* NULL: the command is not probed */
	bool has_windows; /* activities are recorded in windows, so the command's processes get start and end
			     of the run */
};

/*
 * Waits until every meter has given a reading, or a time limit passes. False: an end was requested before the
 * command began.
 */
KWHY_MUST_USE bool kwhy_record_await_first(const struct kwhy_record_runner *runner);

/*
 * Runs the command while meter readings are written, and returns when they cover its end. KWHY_E_INPUT: the
 * command could not be started, and out->exit says why.
 */
KWHY_MUST_USE enum kwhy_status kwhy_record_run(
	const struct kwhy_record_runner *runner, struct kwhy_child_end *out, struct kwhy_error *error);

#endif

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

/* What the recording of one command needs; all borrowed. */
struct kwhy_record_runner {
	char *const *argv;
	struct kwhy_sensors *sensors;
	struct kwhy_sampler *sampler; /* NULL: nothing to sample */
	struct kwhy_record_meters *meters;
	struct kwhy_stat_specs *specs;
	struct kwhy_environment *environment; /* of the command; the times are added */
	const struct kwhy_stat_work_file *work_file;
	struct kwhy_stat *stat; /* holds the units of the specs */
	struct kwhy_signals *signals;
	double delay_s, duration_s; /* NAN: from the start; to the end */
	const struct kwhy_record_folder *folder;
	const char *const *counts; /* UNIT=NAME: units that are ranges of a name */
	size_t count_count;
	bool replayed; /* a file plays instead of meters: it tells nothing of this machine now */
	bool progress; /* a line that says so */
	struct kwhy_probe_watch *watch; /* of a command that is probed; NULL: it is not */
	bool has_windows;		/* the command's processes are told the times */
};

/*
 * Waits until every meter has shown something, or for as long as is reasonable. False: somebody wants an end
 * before the command has begun.
 */
KWHY_MUST_USE bool kwhy_record_await_first(const struct kwhy_record_runner *runner);

/*
 * Runs the command while the meters are written; returns when they have shown its end. KWHY_E_INPUT: it could
 * not be started, and out->exit says why.
 */
KWHY_MUST_USE enum kwhy_status kwhy_record_run(
	const struct kwhy_record_runner *runner, struct kwhy_child_end *out, struct kwhy_error *error);

#endif

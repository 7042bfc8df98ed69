/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RUN_RECORD_RUN_H
#define KWHY_CLI_RUN_RECORD_RUN_H

#include "base/status.h"
#include "cli/run/probe_watch.h"
#include "cli/run/record_counters.h"
#include "cli/run/record_digest.h"
#include "cli/run/stat_spec.h"
#include "cli/run/stat_work_file.h"
#include "launch/child.h"
#include "record/folder.h"
#include "record/meters.h"
#include "sensor/sampler.h"

/* What is needed to record one command. The strings and structs are not copied. */
struct kwhy_record_runner {
	char *const *argv;
	struct kwhy_sensors *sensors;
	struct kwhy_sampler *sampler; /* NULL: there is no meter to sample */
	struct kwhy_record_meters *meters;
	struct kwhy_record_counting *counting; /* the sampling of performance counters */
	struct kwhy_stat_specs *specs;
	/*
	 * environment of the command; if only a part of the run is recorded, the times of that part are added
	 * for the injected library
	 */
	struct kwhy_environment *environment;
	const struct kwhy_stat_work_file *work_file;
	struct kwhy_stat *stat; /* stores the units of the options --work */
	struct kwhy_signals *signals;
	/*
	 * window to record, in seconds after the start of the command; delay_s NAN: it begins at the start;
	 * duration_s NAN: it lasts to the end
	 */
	double delay_s, duration_s;
	const struct kwhy_record_folder *folder;
	struct kwhy_record_digests *digests; /* makes digests while the command runs */
	/*
	 * "UNIT=NAME" for each unit of work whose amount is the number of ranges whose name matches NAME
	 * (--count)
	 */
	const char *const *counts;
	size_t count_count;
	/* true: readings are played back from a file, so they are not of this run */
	bool replayed;
	bool progress;			/* whether a progress line is shown */
	bool quiet;			/* whether only errors are printed */
	struct kwhy_probe_watch *watch; /* progress of a probed command; NULL: the command is not probed */
	/*
	 * true: activities are recorded only in windows (--range, --duty); the injected library then gets
	 * start and end of the run, too
	 */
	bool has_windows;
};

/*
 * Waits until every meter has given a reading (in a replay: any meter), but at most 3 s; true even if
 * readings are missing then. False: a signal asked to end, so the command must not be started.
 */
KWHY_MUST_USE bool kwhy_record_await_first(const struct kwhy_record_runner *runner);

/*
 * Runs the command while meter readings are written to the recording. Returns when readings of all energy
 * counters cover the command's end, but at most about 0.3 s after that end. KWHY_E_INPUT: the command could
 * not be started, and out->exit is the exit status that a shell would give.
 */
KWHY_MUST_USE enum kwhy_status kwhy_record_run(
	const struct kwhy_record_runner *runner, struct kwhy_child_end *out, struct kwhy_error *error);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RUN_STAT_METER_H
#define KWHY_CLI_RUN_STAT_METER_H

#include "base/status.h"
#include "launch/signals.h"
#include "measure/history.h"
#include "model/stat.h"
#include "sensor/sampler.h"
#include "sensor/sensor.h"
#include "sensor/sensor_csv.h"

/* Energy of one metered domain in the current window. */
struct kwhy_stat_window {
	struct kwhy_curve *curve; /* power curve of the domain from the readings so far, made by
				     kwhy_stat_meter_open_curves() or kwhy_stat_meter_await_end() and freed by
				     kwhy_stat_meter_sum(); NULL: there is none */
	struct kwhy_window_sum sum;
};

/*
 * The meters of `kwhy stat`. They are sampled from opening to closing. They give the energy of one window (an
 * interval of time, such as that of a run) at a time. A window may last longer than readings are kept,
 * because its energy is summed piece by piece. Times are those of CLOCK_MONOTONIC.
 */
struct kwhy_stat_meter {
	struct kwhy_sensors *sensors;
	struct kwhy_sampler *sampler; /* NULL: there is no meter to sample */
	struct kwhy_history *history;
	/* file to which the readings are written; NULL: none was requested */
	struct kwhy_sensor_csv *kept;
	const struct kwhy_metered *metered;
	size_t metered_count;
	struct kwhy_stat_window *windows; /* [metered_count] current window of each metered domain */
	bool replayed;			  /* whether readings come from a file and not from meters */
	int64_t summed_ns;		  /* time up to which the energy of the window is in windows[].sum */
};

/*
 * Opens the meters and starts sampling. Returns KWHY_OK also if the machine has no meter. `save_path`: file
 * for the readings; NULL: they are not kept.
 */
KWHY_MUST_USE enum kwhy_status kwhy_stat_meter_open(struct kwhy_stat_meter *meter,
	const struct kwhy_sensor_request *request, const char *save_path, struct kwhy_error *error);
/*
 * Closes the meters, and sets the members of *cost that concern the whole time of sampling; those summed over
 * the runs (running_s, cpu_s, busy_s) are left as they are.
 */
KWHY_MUST_USE enum kwhy_status kwhy_stat_meter_close(
	struct kwhy_stat_meter *meter, struct kwhy_stat_cost *cost, struct kwhy_error *error);

/* Processor time that sampling has taken so far, s; 0 if nothing is sampled. */
double kwhy_stat_meter_cpu_s(const struct kwhy_stat_meter *meter);

/*
 * Processor time that all programs on the machine have used so far, s; NAN: unknown, or readings come from a
 * file.
 */
double kwhy_stat_meter_busy_s(const struct kwhy_stat_meter *meter);

/*
 * Sets the domains of `stat`, one for each metered domain and, if two or more add up, the total after them;
 * also sets its absences, the meters that the machine lacks.
 */
KWHY_MUST_USE enum kwhy_status kwhy_stat_meter_describe(
	const struct kwhy_stat_meter *meter, struct kwhy_stat *stat, struct kwhy_error *error);

/*
 * Waits until every meter has given two readings, but at most 3 s; returns KWHY_OK also if readings are
 * missing then.
 */
KWHY_MUST_USE enum kwhy_status kwhy_stat_meter_await_first(
	struct kwhy_stat_meter *meter, struct kwhy_error *error);

/* Takes the new readings of the meters. Call it about once a second. */
KWHY_MUST_USE enum kwhy_status kwhy_stat_meter_drain(struct kwhy_stat_meter *meter, struct kwhy_error *error);

/*
 * Functions that measure a window: kwhy_stat_meter_begin() begins it. Then these steps are repeated:
 * kwhy_stat_meter_open_curves() makes the power curves from the readings so far, the caller may read the
 * energy so far (kwhy_stat_meter_used_j()), and kwhy_stat_meter_sum() adds the energy of the curves to the
 * sums. For the last part of the window, kwhy_stat_meter_await_end() is called instead of
 * kwhy_stat_meter_open_curves(); it waits until readings cover the window's end.
 */
void kwhy_stat_meter_begin(struct kwhy_stat_meter *meter, int64_t start_ns);
KWHY_MUST_USE enum kwhy_status kwhy_stat_meter_open_curves(
	struct kwhy_stat_meter *meter, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_stat_meter_await_end(
	struct kwhy_stat_meter *meter, int64_t end_ns, struct kwhy_error *error);
/*
 * Time up to which all meters have readings, apart from those without a reading in the 45 s before now_ns; 0:
 * none has readings in that time.
 */
int64_t kwhy_stat_meter_known_ns(const struct kwhy_stat_meter *meter, int64_t now_ns);
/*
 * Energy from the start of the window to `until_ns`, which must not be before summed_ns, J; NAN: unknown.
 */
double kwhy_stat_meter_used_j(const struct kwhy_stat_meter *meter, size_t domain, int64_t until_ns);
/*
 * Adds the energy from summed_ns to `until_ns` to the sums, frees the curves, and drops readings that no
 * later part needs. In `domains`, sets counter_reset, counter_stuck and counter_misread where a counter fell,
 * did not change or was misread, and divided_anew and bad_line.
 */
void kwhy_stat_meter_sum(struct kwhy_stat_meter *meter, int64_t until_ns, struct kwhy_stat_domain *domains);
void kwhy_stat_meter_result(const struct kwhy_stat_meter *meter, size_t domain, struct kwhy_stat_energy *out);

#endif

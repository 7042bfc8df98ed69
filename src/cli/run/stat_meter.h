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

/* Energy of one metered domain in the window. */
struct kwhy_stat_window {
	struct kwhy_curve *curve; /* power curve; NULL: not open */
	struct kwhy_window_sum sum;
};

/*
 * The meters of `kwhy stat`. They are sampled from open to close. The energy of one window at a time can be
 * read, which may last longer than readings are kept. Times are CLOCK_MONOTONIC.
 */
struct kwhy_stat_meter {
	struct kwhy_sensors *sensors;
	struct kwhy_sampler *sampler; /* NULL: no meter to sample */
	struct kwhy_history *history;
	struct kwhy_sensor_csv *kept; /* file of the readings; NULL: not requested */
	const struct kwhy_metered *metered;
	size_t metered_count;
	struct kwhy_stat_window *windows; /* [metered_count] */
	bool replayed;			  /* a file is played instead of reading meters */
	int64_t summed_ns;		  /* time up to which the window is in the sums */
};

/*
 * Opens the meters and starts sampling. KWHY_OK also where there is no meter. `save_path` NULL: the readings
 * are not kept.
 */
KWHY_MUST_USE enum kwhy_status kwhy_stat_meter_open(struct kwhy_stat_meter *meter,
	const struct kwhy_sensor_request *request, const char *save_path, struct kwhy_error *error);
/* Closes the meters and fills in the cost, except the members that the runs add up themselves. */
KWHY_MUST_USE enum kwhy_status kwhy_stat_meter_close(
	struct kwhy_stat_meter *meter, struct kwhy_stat_cost *cost, struct kwhy_error *error);

/* CPU time that sampling has taken so far; 0 without a sampler. */
double kwhy_stat_meter_cpu_s(const struct kwhy_stat_meter *meter);

/*
 * CPU time that the whole machine has used so far; NAN: unknown, or a file is played, which is of another
 * time.
 */
double kwhy_stat_meter_busy_s(const struct kwhy_stat_meter *meter);

/* Adds the domains and absences of the machine to a stat that has none yet. */
KWHY_MUST_USE enum kwhy_status kwhy_stat_meter_describe(
	const struct kwhy_stat_meter *meter, struct kwhy_stat *stat, struct kwhy_error *error);

/* Waits until every meter has given a reading, or a time limit passes. */
KWHY_MUST_USE enum kwhy_status kwhy_stat_meter_await_first(
	struct kwhy_stat_meter *meter, struct kwhy_error *error);

/* Takes new readings; called about once a second. */
KWHY_MUST_USE enum kwhy_status kwhy_stat_meter_drain(struct kwhy_stat_meter *meter, struct kwhy_error *error);

/*
 * A window: begin, then repeatedly open curves up to the present, read, sum. Before the last time, await the
 * end.
 */
void kwhy_stat_meter_begin(struct kwhy_stat_meter *meter, int64_t start_ns);
KWHY_MUST_USE enum kwhy_status kwhy_stat_meter_open_curves(
	struct kwhy_stat_meter *meter, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_stat_meter_await_end(
	struct kwhy_stat_meter *meter, int64_t end_ns, struct kwhy_error *error);
/* Time up to which all live meters have readings; 0: no meter is live, or one has no reading yet. */
int64_t kwhy_stat_meter_known_ns(const struct kwhy_stat_meter *meter, int64_t now_ns);
/* Energy used from the begin to `until_ns`, which must not lie before summed_ns; NAN: unknown. */
double kwhy_stat_meter_used_j(const struct kwhy_stat_meter *meter, size_t domain, int64_t until_ns);
/*
 * Adds the window up to `until_ns` to the sums, closes the curves and drops readings that no later window
 * needs. Marks the domains whose counters misbehaved.
 */
void kwhy_stat_meter_sum(struct kwhy_stat_meter *meter, int64_t until_ns, struct kwhy_stat_domain *domains);
void kwhy_stat_meter_result(const struct kwhy_stat_meter *meter, size_t domain, struct kwhy_stat_energy *out);

#endif

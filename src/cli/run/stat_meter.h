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

/* What one of them used in the window. */
struct kwhy_stat_window {
	struct kwhy_curve *curve; /* NULL: not open */
	struct kwhy_window_sum sum;
};

/*
 * The meters of `kwhy stat`: sampled from open to close, and asked for the energy of one window at a time,
 * which may last longer than readings are kept. Times are CLOCK_MONOTONIC.
 */
struct kwhy_stat_meter {
	struct kwhy_sensors *sensors;
	struct kwhy_sampler *sampler; /* NULL: nothing to sample */
	struct kwhy_history *history;
	struct kwhy_sensor_csv *kept; /* NULL: not asked for */
	const struct kwhy_metered *metered;
	size_t metered_count;
	struct kwhy_stat_window *windows; /* [metered_count] */
	bool replayed;			  /* a file plays instead of meters */
	int64_t summed_ns;		  /* up to here the window is in the sums */
};

/* Opens and starts everything; no meter at all is KWHY_OK. `save_path` NULL: the readings are not kept. */
KWHY_MUST_USE enum kwhy_status kwhy_stat_meter_open(struct kwhy_stat_meter *meter,
	const struct kwhy_sensor_request *request, const char *save_path, struct kwhy_error *error);
/* Fills in all of the cost but what the runs add up themselves. */
KWHY_MUST_USE enum kwhy_status kwhy_stat_meter_close(
	struct kwhy_stat_meter *meter, struct kwhy_stat_cost *cost, struct kwhy_error *error);

/* CPU time that sampling has taken so far; 0 without a sampler. */
double kwhy_stat_meter_cpu_s(const struct kwhy_stat_meter *meter);

/* CPU time that all of the machine has taken so far; NAN: not reported, or a file plays that is of another
 * time.
 */
double kwhy_stat_meter_busy_s(const struct kwhy_stat_meter *meter);

/* Domains and absences of the machine, into a stat that has none yet. */
KWHY_MUST_USE enum kwhy_status kwhy_stat_meter_describe(
	const struct kwhy_stat_meter *meter, struct kwhy_stat *stat, struct kwhy_error *error);

/* Waits until every meter has shown something, or for as long as is reasonable. */
KWHY_MUST_USE enum kwhy_status kwhy_stat_meter_await_first(
	struct kwhy_stat_meter *meter, struct kwhy_error *error);

/* Takes what has come; about once a second. */
KWHY_MUST_USE enum kwhy_status kwhy_stat_meter_drain(struct kwhy_stat_meter *meter, struct kwhy_error *error);

/*
 * A window: begin, then any number of times open (curves up to now), ask, sum; the last time with the end
 * awaited.
 */
void kwhy_stat_meter_begin(struct kwhy_stat_meter *meter, int64_t start_ns);
KWHY_MUST_USE enum kwhy_status kwhy_stat_meter_open_curves(
	struct kwhy_stat_meter *meter, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_stat_meter_await_end(
	struct kwhy_stat_meter *meter, int64_t end_ns, struct kwhy_error *error);
/* Up to here the open curves of all that go on are known; 0: of none. */
int64_t kwhy_stat_meter_known_ns(const struct kwhy_stat_meter *meter, int64_t now_ns);
/* Used since the begin, up to a time that is not before what is summed; NAN: not known. */
double kwhy_stat_meter_used_j(const struct kwhy_stat_meter *meter, size_t domain, int64_t until_ns);
/* Closes the curves and forgets what no later window needs; marks the domains whose counters misbehaved. */
void kwhy_stat_meter_sum(struct kwhy_stat_meter *meter, int64_t until_ns, struct kwhy_stat_domain *domains);
void kwhy_stat_meter_result(const struct kwhy_stat_meter *meter, size_t domain, struct kwhy_stat_energy *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_MODEL_POWER_ROWS_H
#define KWHY_CLI_MODEL_POWER_ROWS_H

#include "fit/power.h"
#include "model/profile.h"
#include "model/recording.h"

#include <stdbool.h>

/*
 * A gauge that the power model of `kwhy model power` can use; also a column of its CSV. A model uses at most
 * KWHY_POWER_GAUGES_MAX gauges.
 *
 * The power of an active unit is proportional to f V^2 (f: clock, V: voltage), and the voltage is not
 * reported. At the lowest voltage the power is proportional to f; where V is proportional to f, the power
 * is proportional to f^3. The model uses f^2: if the clock of the multiprocessors is known, their activity
 * is multiplied by the square of the clock in GHz^2, and the model has a base term that is multiplied by
 * this square, too. Leakage grows with the temperature, but the temperature itself depends on the power, so
 * the model has no term for it (docs/models.md).
 */
struct kwhy_power_gauge {
	const char *name; /* name of the gauge and of its CSV column: "gpm_sm_active_permille" */
	enum kwhy_power_term term;
	bool by_clock;	  /* whether the gauge is multiplied by the square of the clock, GHz^2 */
	const char *unit; /* unit of the gauge where its name does not state it: "GHz^2" */
};

enum { KWHY_POWER_GAUGE_KINDS = 14 };
extern const struct kwhy_power_gauge kwhy_power_gauges[KWHY_POWER_GAUGE_KINDS];

/* Windows with their power and gauges, from a CSV file or a recording. */
struct kwhy_power_rows {
	struct kwhy_power_data data;
	/* memory that `data` points to; if data.memory_w is NULL, memory_w is not filled */
	double *power_w, *seconds, *gauges, *memory_w;
	/* index in kwhy_power_gauges of each gauge of the rows */
	size_t kinds[KWHY_POWER_GAUGES_MAX];
	bool has_clock; /* the clock is known, so gauges with by_clock are multiplied by its square */
	/*
	 * delay of the power samples against the gauges, s, that was undone; negative: the samples were
	 * early; NAN: the rows are from a CSV file, and nothing was shifted
	 */
	double lag_s;
};

/*
 * Reads rows from a CSV file with the columns power_w, seconds (1 if missing) and any of the gauges. An empty
 * cell is an error.
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_rows_read(
	struct kwhy_power_rows *rows, const char *path, struct kwhy_error *error);

struct kwhy_power_rows_request {
	const struct kwhy_profile *profile; /* machine profile of the device; NULL: no profile */
	uint32_t device;
	double window_s; /* requested length of the shortest windows, s */
	/*
	 * delay of the power readings in seconds, as found in another recording; NAN: the delay is found from
	 * this recording
	 */
	double lag_s;
};

/*
 * Makes windows from a recording. Readings in a row of the device's own counters (GPM) are joined to windows
 * of at least window_s less 0.05 s; the clock of an interval between two readings is the mean of the clocks
 * at its ends. The power of a window is the mean of the 20 ms power samples in it, shifted by the delay lag_s
 * of the request. If lag_s is NAN, delays up to 0.2 s shorter or longer than the profile's are tried, and the
 * one is taken with which a fit of the windows' powers to their gauges has the smallest residuals.
 * KWHY_E_INPUT: the device lacks counters or samples.
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_rows_of(struct kwhy_power_rows *rows,
	const struct kwhy_recording *recording, const struct kwhy_power_rows_request *request,
	struct kwhy_error *error);
/* Removes from `rows` the gauges that `other` lacks. Returns the number of removed gauges. */
size_t kwhy_power_rows_keep_common(struct kwhy_power_rows *rows, const struct kwhy_power_rows *other);
void kwhy_power_rows_done(struct kwhy_power_rows *rows);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_MODEL_POWER_ROWS_H
#define KWHY_CLI_MODEL_POWER_ROWS_H

#include "fit/power.h"
#include "model/profile.h"
#include "model/recording.h"

#include <stdbool.h>

/*
 * The gauges that a power model can use, which are the columns of its CSV. At most KWHY_POWER_GAUGES_MAX are
 * used together. The power of an active unit is proportional to f V^2. The voltage is not reported. Between
 * the voltage's floor and a straight line through zero, power grows with f to f^3, and the model uses f^2:
 * where the clock of the multiprocessors is known, their activity is multiplied by the square of the clock in
 * GHz^2, and a part of the base is per GHz^2. Leakage grows with the temperature, but heat follows power:
 * docs/models.md explains why it has no term.
 */
struct kwhy_power_gauge {
	const char *name; /* "gpm_sm_active_permille" */
	enum kwhy_power_term term;
	bool by_clock;	  /* multiplied by GHz^2 */
	const char *unit; /* unit that watts are per, where the name does not state it: "GHz^2" */
};

enum { KWHY_POWER_GAUGE_KINDS = 14 };
extern const struct kwhy_power_gauge kwhy_power_gauges[KWHY_POWER_GAUGE_KINDS];

/* Windows with their power and gauges, from a file or a recording. */
struct kwhy_power_rows {
	struct kwhy_power_data data;
	double *power_w, *seconds, *gauges, *memory_w; /* data.memory_w NULL: memory_w is not filled */
	size_t kinds[KWHY_POWER_GAUGES_MAX];	       /* index of each gauge in kwhy_power_gauges */
	bool has_clock; /* the clock is known, so gauges with by_clock are multiplied by it */
	double lag_s; /* delay of the power readings that was removed, negative when they were early; NAN: no
			 delay was removed */
};

/* Reads the columns power_w, seconds (default 1) and any of the gauges; an empty field is an error. */
KWHY_MUST_USE enum kwhy_status kwhy_power_rows_read(
	struct kwhy_power_rows *rows, const char *path, struct kwhy_error *error);

struct kwhy_power_rows_request {
	const struct kwhy_profile *profile; /* NULL: no profile */
	uint32_t device;
	double window_s; /* shortest window */
	double lag_s;	 /* delay of another recording's rows; NAN: fit it to these */
};

/*
 * Makes windows from a recording. Readings of the device's own counters (GPM), each with the mean clock at
 * its two ends, are joined to windows, which get the mean of the 20 ms power samples in them. The samples are
 * delayed by the request's lag_s, or else by the value within 0.2 s of the profile's at which a fit has the
 * smallest residuals. KWHY_E_INPUT where a device lacks one of the two.
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_rows_of(struct kwhy_power_rows *rows,
	const struct kwhy_recording *recording, const struct kwhy_power_rows_request *request,
	struct kwhy_error *error);
/* Removes the gauges that `other` lacks and returns the number removed. */
size_t kwhy_power_rows_keep_common(struct kwhy_power_rows *rows, const struct kwhy_power_rows *other);
void kwhy_power_rows_done(struct kwhy_power_rows *rows);

#endif

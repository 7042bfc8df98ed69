/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_MODEL_POWER_ROWS_H
#define KWHY_CLI_MODEL_POWER_ROWS_H

#include "fit/power.h"
#include "model/profile.h"
#include "model/recording.h"

#include <stdbool.h>

/*
 * The gauges that a power model knows, the columns of its CSV: at most KWHY_POWER_GAUGES_MAX of them at once.
 *
 * A unit that is active draws in proportion to f V^2. The voltage is not reported; between its floor and a
 * straight line through zero the power goes with f to f^3, so f^2 stands for it: where the clock of the
 * multiprocessors is known, what is active of them counts times its square in GHz^2, and a part of the base
 * is per GHz^2. Leakage grows with the temperature, but heat follows power: docs/models.md says why it has no
 * term.
 */
struct kwhy_power_gauge {
	const char *name; /* "gpm_sm_active_permille" */
	enum kwhy_power_term term;
	bool by_clock;	  /* times GHz^2 */
	const char *unit; /* that watts are per, where the name's own is not it: "GHz^2" */
};

enum { KWHY_POWER_GAUGE_KINDS = 14 };
extern const struct kwhy_power_gauge kwhy_power_gauges[KWHY_POWER_GAUGE_KINDS];

/* Windows with their power and gauges, from a file or a recording. */
struct kwhy_power_rows {
	struct kwhy_power_data data;
	double *power_w, *seconds, *gauges, *memory_w; /* data.memory_w NULL: the last is not filled */
	size_t kinds[KWHY_POWER_GAUGES_MAX];	       /* of each gauge: its place in kwhy_power_gauges */
	bool has_clock;				       /* gauges are by_clock where they can be */
	double lag_s; /* that was taken back from the power readings, below 0: they came first; NAN: none had
			 to be */
};

/* Columns power_w, seconds (default 1) and any of the gauges; an empty field is an error. */
KWHY_MUST_USE enum kwhy_status kwhy_power_rows_read(
	struct kwhy_power_rows *rows, const char *path, struct kwhy_error *error);

struct kwhy_power_rows_request {
	const struct kwhy_profile *profile; /* NULL: none */
	uint32_t device;
	double window_s; /* at least */
	double lag_s;	 /* as another recording's rows have it; NAN: where a fit to these leaves the least */
};

/*
 * Of a recording: readings of the device's own counters (GPM), each with the mean of the clock at
 * both its ends, joined to windows, with the mean of the 20 ms samples in each. The samples lag by what the
 * profile says, give or take 0.2 s, where a fit leaves the least, or by what the request says. KWHY_E_INPUT
 * where a device has not both.
 */
KWHY_MUST_USE enum kwhy_status kwhy_power_rows_of(struct kwhy_power_rows *rows,
	const struct kwhy_recording *recording, const struct kwhy_power_rows_request *request,
	struct kwhy_error *error);
/* Leaves out the gauges that `other` has not; gives how many. */
size_t kwhy_power_rows_keep_common(struct kwhy_power_rows *rows, const struct kwhy_power_rows *other);
void kwhy_power_rows_done(struct kwhy_power_rows *rows);

#endif

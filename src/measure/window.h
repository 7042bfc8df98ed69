/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MEASURE_WINDOW_H
#define KWHY_MEASURE_WINDOW_H

#include "base/status.h"
#include "model/response.h"
#include "sensor/channel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The energy of one device or CPU domain in any window of time, computed from the readings of its meters. The
 * functions are pure: they read no clock and do no I/O. Times are nanoseconds of one clock, which the caller
 * chooses (CLOCK_MONOTONIC for live readings).
 *
 * kwhy_curve_new() turns the readings of a counter and of a power meter into one curve: the energy used since
 * its first knot, corrected for the meter's lag. The energy of a window is the difference of two points of
 * the curve, so adjacent windows add up to the whole. Between two knots the slope follows the mean powers
 * before and after.
 */

struct kwhy_readings {
	enum kwhy_meter meter;
	const struct kwhy_reading *items; /* in order of time; borrowed for the call */
	size_t count;
	int64_t period_ns; /* time between updates; 0: estimated from the readings */
	int64_t wrap;	   /* highest value of a counter before it wraps; 0: not reported */
};

/* The meters that a figure is based on. */
enum kwhy_energy_basis {
	KWHY_ENERGY_NONE,
	KWHY_ENERGY_COUNTER_AND_POWER, /* counter for the inside of the window, power samples for its edges */
	KWHY_ENERGY_COUNTER,
	KWHY_ENERGY_POWER,    /* the 20 ms ring, or instantaneous power of another meter */
	KWHY_ENERGY_AVERAGES, /* power as trailing means */
	KWHY_ENERGY_WALL,     /* a meter that the user supplied */
	KWHY_ENERGY_BASIS_COUNT
};

const char *kwhy_energy_basis_name(enum kwhy_energy_basis basis); /* for example "counter+power" */

enum kwhy_energy_state {
	KWHY_ENERGY_MEASURED,
	KWHY_ENERGY_NOT_METERED, /* no meter, or too few readings */
	KWHY_ENERGY_NOT_YET,	 /* readings that the end of the window needs have not arrived */
	KWHY_ENERGY_FORGOTTEN	 /* the window begins before the first reading kept */
};

/*
 * Why a window has no energy, in words; is_lost: the device fell off the bus. NULL: the energy is measured.
 */
const char *kwhy_energy_missing(enum kwhy_energy_state state, bool is_lost);

/*
 * Energy of a window; NAN where unknown. low_j to high_j is the 95 % interval, which leaves out the meter's
 * constant gain error.
 */
struct kwhy_energy {
	enum kwhy_energy_state state;
	enum kwhy_energy_basis basis;
	double joules, low_j, high_j;
	double seconds, mean_w;
	double peak_w; /* highest reading, as smoothed by the meter; of a counter, the highest mean power
			  between two updates */
	bool enough;   /* the half-width of the interval is within the limit that the caller gave */
	/*
	 * Number of repetitions, back to back in one window, that would bring the half-width within the
	 * limit; 1: `enough` is true, 0: cannot be determined.
	 */
	uint64_t repetitions_needed;
};

struct kwhy_curve;

/*
 * Makes a curve. `counter` and `power` may each be NULL; a curve needs at least two readings. Without them
 * the curve is empty and every window is KWHY_ENERGY_NOT_METERED. Wraps are undone where `wrap` is known. Any
 * other fall of a counter is a reset: the energy used across it comes from the power samples, or from the
 * powers before and after.
 */
KWHY_MUST_USE enum kwhy_status kwhy_curve_new(const struct kwhy_readings *counter,
	const struct kwhy_readings *power, const struct kwhy_response *response, struct kwhy_curve **out,
	struct kwhy_error *error);
void kwhy_curve_free(struct kwhy_curve *curve);

/* First and last time of the curve; both 0 when it is empty. */
int64_t kwhy_curve_first_ns(const struct kwhy_curve *curve);
int64_t kwhy_curve_last_ns(const struct kwhy_curve *curve);

/*
 * Time of the last counter update that corrects the sum of the samples. After it, later readings still change
 * the energy by a few tenths of a percent. Without a counter this is kwhy_curve_last_ns().
 */
int64_t kwhy_curve_counted_ns(const struct kwhy_curve *curve);

/* Faults found in the readings. */
struct kwhy_curve_faults {
	uint64_t wraps, resets;
	uint64_t misread;     /* counter readings far from those before and after them; left out */
	uint64_t mistrusted;  /* rises of the counter that contradict the power samples; the samples are used
				 instead */
	uint64_t late;	      /* time stamps that were late and were corrected */
	uint64_t unordered;   /* readings with a time before that of an earlier one; left out */
	double counter_ratio; /* counter energy over integrated power in their common time; NAN: one of them
				 is missing */
	bool counter_stuck;   /* the counter no longer rose while power was still read; the powers alone are
				 used */
};
struct kwhy_curve_faults kwhy_curve_faults(const struct kwhy_curve *curve);

/* Default limit of the half-width of an interval, as a share of the energy. */
#define KWHY_ENOUGH_RATIO 0.1

/* The energy of [start_ns, end_ns]. Empty windows and windows that end before they start have 0 J. */
void kwhy_window_energy(const struct kwhy_curve *curve, int64_t start_ns, int64_t end_ns, double enough_ratio,
	struct kwhy_energy *out);

/*
 * Time by which the meters have normally reported what a window that ends at end_ns needs. Ask for the energy
 * after this time and after kwhy_sampler_flush(). `counter` and `power` may both be NULL.
 */
int64_t kwhy_window_ready_ns(int64_t end_ns, const struct kwhy_readings *counter,
	const struct kwhy_readings *power, const struct kwhy_response *response);

/*
 * Sum of the energies of many windows, for example of all runs of one region. Windows are added in order of
 * time and do not overlap. Windows so short that several lie between two readings share the energy between
 * these by their durations alone; the interval is wider accordingly.
 */
struct kwhy_window_sum {
	const struct kwhy_curve *curve; /* of the windows added last; set by the caller before each add */
	double joules, seconds, peak_w;
	double variance_j2; /* variance of the errors at edges and counter updates, taken as independent */
	double alike_j;	    /* standard uncertainty of the errors at edges, taken as fully correlated */
	double hidden_j;    /* standard uncertainty of runs too short for the meter to resolve */
	double drift_j, ratio_j;	    /* standard uncertainties that add up linearly */
	int64_t cell_start_ns, cell_end_ns; /* interval between two readings that is being accumulated */
	double cell_covered_s, cell_low_w, cell_high_w, cell_mean_w;
	int64_t gap_start_ns; /* start of the interval between two counter updates that is being accumulated
			       */
	double gap_j, gap_covered_j, gap_ratio;
	bool cell_hides; /* the interval holds runs too short for the meter to resolve */
	uint64_t cell_edges, windows;
	enum kwhy_energy_state state;
	enum kwhy_energy_basis basis;
};

void kwhy_window_sum_init(struct kwhy_window_sum *sum);
void kwhy_window_sum_add(struct kwhy_window_sum *sum, int64_t start_ns, int64_t end_ns);
void kwhy_window_sum_result(
	const struct kwhy_window_sum *windows, double enough_ratio, struct kwhy_energy *out);

#endif

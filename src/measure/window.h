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
 * The energy of one device or domain of the host in any window of time, computed from the readings of its
 * meters. The functions are pure: they read no clock and do no I/O. Times are nanoseconds of one clock, which
 * the caller chooses (CLOCK_MONOTONIC for live readings).
 * kwhy_curve_new() turns the readings of a counter and of a power meter into one curve. It gives the energy
 * since its first knot as a function of time, corrected for the meter's lag. Knots are times of samples and
 * of counter updates. The energy of a window is the difference of the curve at its ends, so adjacent windows
 * add up to the whole. Between two knots the energy follows from the mean power of this interval and those of
 * the intervals before and after it.
 */

struct kwhy_readings {
	enum kwhy_meter meter;
	const struct kwhy_reading *items; /* in order of time; borrowed for the call */
	size_t count;
	int64_t period_ns; /* time between updates; 0: estimated from the readings */
	int64_t wrap;	   /* highest value of a counter before it wraps; 0: not reported */
};

/* The meters that an energy is based on. */
enum kwhy_energy_basis {
	KWHY_ENERGY_NONE,
	KWHY_ENERGY_COUNTER_AND_POWER, /* the counter gives the energy between its updates, and power samples
					  how it is distributed in between */
	KWHY_ENERGY_COUNTER,
	KWHY_ENERGY_POWER,    /* power samples (NVML's ring buffer, 20 ms apart), or instantaneous power */
	KWHY_ENERGY_AVERAGES, /* a power meter that reports trailing means */
	KWHY_ENERGY_WALL,     /* a wall meter of the user */
	KWHY_ENERGY_BASIS_COUNT
};

const char *kwhy_energy_basis_name(enum kwhy_energy_basis basis); /* for example "counter+power" */

enum kwhy_energy_state {
	KWHY_ENERGY_MEASURED,
	KWHY_ENERGY_NOT_METERED, /* there is no meter, or it gave too few readings */
	KWHY_ENERGY_NOT_YET,	 /* readings for the end of the window have not arrived */
	KWHY_ENERGY_FORGOTTEN	 /* the window begins before the first reading: earlier ones were dropped, or
				    there were none */
};

/* Returns why a window has no energy, in words; NULL: it has energy. is_lost: the device fell off the bus. */
const char *kwhy_energy_missing(enum kwhy_energy_state state, bool is_lost);

/*
 * Energy of a window; NAN where unknown. low_j to high_j is the 95 % interval, which does not include the
 * meter's constant gain error.
 */
struct kwhy_energy {
	enum kwhy_energy_state state;
	enum kwhy_energy_basis basis;
	double joules, low_j, high_j;
	double seconds, mean_w;
	double peak_w; /* highest power reading, which the meter has smoothed; with a counter alone, the
			  highest mean power between two updates */
	bool enough;   /* half of the interval's width is at most enough_ratio, which the caller gives, times
			  the energy */
	/*
	 * Number of repetitions, back to back in one window, with which `enough` would be true; 1: it is true
	 * already; 0: unknown, or no number suffices.
	 */
	uint64_t repetitions_needed;
};

struct kwhy_curve;

/*
 * Makes a curve. `counter` and `power` may each be NULL. If neither has two usable readings, the curve is
 * empty, and every window is KWHY_ENERGY_NOT_METERED. Wraps of a counter are undone if `wrap` is known. Any
 * other fall of a counter is a reset; across it, the energy is taken from the power samples, or from the
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
 * The longest time within a window without a knot of the curve: between two knots, or between a knot and an
 * end of the window.
 */
int64_t kwhy_curve_gap_ns(const struct kwhy_curve *curve, int64_t start_ns, int64_t end_ns);

/*
 * Time of the last counter update, corrected for lag. The energy after it still changes by a few tenths of a
 * percent when the next update corrects the sum of the samples. Without a counter this is
 * kwhy_curve_last_ns().
 */
int64_t kwhy_curve_counted_ns(const struct kwhy_curve *curve);

/* Faults found in the readings. */
struct kwhy_curve_faults {
	uint64_t wraps, resets;
	uint64_t misread; /* number of counter readings left out because they contradict the readings around
			     them */
	uint64_t mistrusted; /* number of intervals between counter updates in which the counter's rise
				contradicts the power samples, whose energy is used instead */
	uint64_t late;	     /* number of late time stamps, which were corrected */
	uint64_t unordered; /* number of readings left out because their time is before that of an earlier one
			     */
	double counter_ratio; /* energy by the counter divided by integrated power, over the time that both
				 cover; NAN: one of them is missing */
	bool counter_stuck; /* the counter stopped rising while power was still read; from there on only power
			       readings are used */
};
struct kwhy_curve_faults kwhy_curve_faults(const struct kwhy_curve *curve);

/*
 * Default of enough_ratio: the largest half-width of the 95 % interval, as a share of the energy, with which
 * a figure counts as certain enough.
 */
#define KWHY_ENOUGH_RATIO 0.1

/* The energy of [start_ns, end_ns]. Empty windows and windows that end before they start have 0 J. */
void kwhy_window_energy(const struct kwhy_curve *curve, int64_t start_ns, int64_t end_ns, double enough_ratio,
	struct kwhy_energy *out);

/*
 * Time by which the meters have normally reported everything that a window ending at end_ns needs. Ask for
 * the window's energy after this time and after kwhy_sampler_flush(). `counter` and `power` may each be NULL.
 */
int64_t kwhy_window_ready_ns(int64_t end_ns, const struct kwhy_readings *counter,
	const struct kwhy_readings *power, const struct kwhy_response *response);

/*
 * Sum of the energies of many windows, for example of all runs of one region. Windows are added in order of
 * time and do not overlap. If several windows lie between two readings, the meters cannot tell their powers
 * apart; this widens the interval.
 */
struct kwhy_window_sum {
	/* curve for the next window, set by the caller before each kwhy_window_sum_add() */
	const struct kwhy_curve *curve;
	double joules, seconds, peak_w;
	double variance_j2; /* variance of the errors that are taken as independent: those at edges of windows
			       and at counter updates */
	double alike_j;	 /* standard uncertainty of the errors at edges of windows, if they are taken as fully
			    correlated */
	double hidden_j; /* standard uncertainty from windows that are too short for the meter to resolve */
	double drift_j, ratio_j; /* standard uncertainties that add up linearly over windows: drift_j, signed,
				    from errors of the meter's lag where the power at a window's end differs
				    from that at its start; ratio_j from errors in proportion to the energy */
	int64_t cell_start_ns, cell_end_ns; /* the interval between two knots that is being added up, to which
					       the cell_ fields below belong */
	double cell_covered_s, cell_low_w, cell_high_w, cell_mean_w;
	int64_t gap_start_ns; /* start of the interval between two counter updates that is being added up, to
				 which the gap_ fields below belong */
	double gap_j, gap_covered_j, gap_ratio;
	bool cell_hides; /* the interval has windows that are too short for the meter to resolve */
	uint64_t cell_edges, windows;
	enum kwhy_energy_state state;
	enum kwhy_energy_basis basis;
};

void kwhy_window_sum_init(struct kwhy_window_sum *sum);
void kwhy_window_sum_add(struct kwhy_window_sum *sum, int64_t start_ns, int64_t end_ns);
void kwhy_window_sum_result(
	const struct kwhy_window_sum *windows, double enough_ratio, struct kwhy_energy *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MEASURE_WINDOW_H
#define KWHY_MEASURE_WINDOW_H

#include "base/status.h"
#include "measure/response.h"
#include "sensor/channel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The energy of one device or CPU domain in any window of time, from what its meters read. Pure: no clock, no
 * I/O. Times are nanoseconds of one clock, which the caller chooses (CLOCK_MONOTONIC for live readings).
 *
 * kwhy_curve_new() makes of a counter's and a power meter's readings one curve: the energy used since its
 * first knot, the meter's lag taken back. A window's energy is the difference of two points on it, so that
 * adjacent windows add up to the whole. Between knots the curve bends as the powers to both sides say.
 */

struct kwhy_readings {
	enum kwhy_meter meter;
	const struct kwhy_reading *items; /* in order of time; borrowed for the call */
	size_t count;
	int64_t period_ns; /* between updates; 0: taken from the readings */
	int64_t wrap;	   /* of a counter: the highest value; 0: not reported */
};

/* What a figure is based on. */
enum kwhy_energy_basis {
	KWHY_ENERGY_NONE,
	KWHY_ENERGY_COUNTER_AND_POWER, /* counter inside, power samples to the edges */
	KWHY_ENERGY_COUNTER,
	KWHY_ENERGY_POWER,    /* the 20 ms ring, or another meter's power at moments */
	KWHY_ENERGY_AVERAGES, /* trailing means */
	KWHY_ENERGY_WALL,     /* a meter of the user's */
	KWHY_ENERGY_BASIS_COUNT
};

const char *kwhy_energy_basis_name(enum kwhy_energy_basis basis); /* "counter+power" */

enum kwhy_energy_state {
	KWHY_ENERGY_MEASURED,
	KWHY_ENERGY_NOT_METERED, /* no meter, or too few readings */
	KWHY_ENERGY_NOT_YET,	 /* readings that the end needs have not come */
	KWHY_ENERGY_FORGOTTEN	 /* the window begins before the first reading kept */
};

/* Why there is no energy, of a device that fell off the bus or not; NULL: it is measured. */
const char *kwhy_energy_missing(enum kwhy_energy_state state, bool is_lost);

/* NAN where unknown. The interval is the 95 % one; the meter's constant gain error is not in it. */
struct kwhy_energy {
	enum kwhy_energy_state state;
	enum kwhy_energy_basis basis;
	double joules, low_j, high_j;
	double seconds, mean_w;
	double peak_w; /* the highest reading, smoothed as the meter smooths; of a counter: the highest mean
			  between updates */
	bool enough;   /* the half-width is within the limit that was asked for */
	/* As often as this, back to back in one window, would be enough; 1 when it is, 0: cannot be
	 * determined. */
	uint64_t repetitions_needed;
};

struct kwhy_curve;

/*
 * `counter` and `power` may each be NULL; two readings are the least that give a curve. Without any,
 * the curve is there and every window is KWHY_ENERGY_NOT_METERED. Wraps are undone where `wrap` is known;
 * any other fall of a counter is a reset: what was used meanwhile comes from the power samples, or from the
 * powers to both sides.
 */
KWHY_MUST_USE enum kwhy_status kwhy_curve_new(const struct kwhy_readings *counter,
	const struct kwhy_readings *power, const struct kwhy_response *response, struct kwhy_curve **out,
	struct kwhy_error *error);
void kwhy_curve_free(struct kwhy_curve *curve);

/* Where the curve is known; both 0 when it is nowhere. */
int64_t kwhy_curve_first_ns(const struct kwhy_curve *curve);
int64_t kwhy_curve_last_ns(const struct kwhy_curve *curve);

/*
 * Up to here a counter's update holds the samples to their sum; beyond, later readings still change the
 * figure by a few tenths of a percent. Without a counter the same as kwhy_curve_last_ns().
 */
int64_t kwhy_curve_counted_ns(const struct kwhy_curve *curve);

/* What was found wrong with the readings. */
struct kwhy_curve_faults {
	uint64_t wraps, resets;
	uint64_t misread;     /* readings of the counter that left its course, which then went on: left out */
	uint64_t mistrusted;  /* rises of the counter that contradict the samples, which are used instead */
	uint64_t late;	      /* time stamps that came late and were put right */
	uint64_t unordered;   /* readings that went back in time, left out */
	double counter_ratio; /* counter against integrated power over their common time; NAN: not both */
	bool counter_stuck;   /* power was read on, the counter no longer rose: the powers alone are used */
};
struct kwhy_curve_faults kwhy_curve_faults(const struct kwhy_curve *curve);

/* What a half-width may be of its energy, so that the figure says something. */
#define KWHY_ENOUGH_RATIO 0.1

/* The energy of [start_ns, end_ns]. Windows that are empty or backwards use nothing. */
void kwhy_window_energy(const struct kwhy_curve *curve, int64_t start_ns, int64_t end_ns, double enough_ratio,
	struct kwhy_energy *out);

/*
 * When the meters will have shown what a window that ends at end_ns needs, if all goes well: ask after this
 * time and after kwhy_sampler_flush(). Both may be NULL.
 */
int64_t kwhy_window_ready_ns(int64_t end_ns, const struct kwhy_readings *counter,
	const struct kwhy_readings *power, const struct kwhy_response *response);

/*
 * The energy of many windows together, such as all the runs of one region: in order of time and not
 * overlapping. Windows so short that several lie between two readings are distinguished by their share of
 * that time alone, and the interval says so.
 */
struct kwhy_window_sum {
	const struct kwhy_curve *curve; /* of the windows added last; set by the caller before each add */
	double joules, seconds, peak_w;
	double variance_j2;		    /* of edges and updates as if they were independent */
	double alike_j;			    /* the same as if they were alike */
	double hidden_j;		    /* of runs too short for the meter to see */
	double drift_j, ratio_j;	    /* standard uncertainties that add up */
	int64_t cell_start_ns, cell_end_ns; /* the stretch between readings that is being filled */
	double cell_covered_s, cell_low_w, cell_high_w, cell_mean_w;
	int64_t gap_start_ns; /* the stretch between updates that is being filled */
	double gap_j, gap_covered_j, gap_ratio;
	bool cell_hides; /* holds such runs */
	uint64_t cell_edges, windows;
	enum kwhy_energy_state state;
	enum kwhy_energy_basis basis;
};

void kwhy_window_sum_init(struct kwhy_window_sum *sum);
void kwhy_window_sum_add(struct kwhy_window_sum *sum, int64_t start_ns, int64_t end_ns);
void kwhy_window_sum_result(
	const struct kwhy_window_sum *windows, double enough_ratio, struct kwhy_energy *out);

#endif

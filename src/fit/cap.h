/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_FIT_CAP_H
#define KWHY_FIT_CAP_H

#include "base/status.h"
#include "fit/interval.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Fits throughput T as a function of the mean power P of a device whose power limit or clock was varied, and
 * finds the power at which work takes the least energy. P is always the measured power, since a limit has no
 * effect where the device draws less. a, b, c, m and P0 are fitted, and Pmax is the highest measured power.
 * The forms are:
 * power: T = a P^b
 * shifted: T = a (P - P0)^b
 * saturating: T = a (1 - exp(-(P - P0) / c))
 * physical: T = a / (m + (1 - m) / f), f = ((P - P0) / (Pmax - P0))^(1/3). f is the relative clock, as power
 * grows with its cube; a share m of the time does not depend on the clock.
 * With b below 1 the energy per unit P / T of the power law rises with P at every P, so its optimum is always
 * the lowest power; the forms with a floor P0 have an optimum above P0. Fits are least squares of relative
 * errors. The form with the smallest error at held-out points is chosen, but another form than the power law
 * only if its error is smaller by a tenth. Powers are in watts, throughput in units per second.
 */
struct kwhy_cap_point {
	double cap_w; /* power limit that was set; NAN: unknown */
	double power_w, throughput;
};

enum kwhy_cap_form {
	KWHY_CAP_POWER,
	KWHY_CAP_SHIFTED,
	KWHY_CAP_SATURATING,
	KWHY_CAP_PHYSICAL,
	KWHY_CAP_FORM_COUNT
};

const char *kwhy_cap_form_name(enum kwhy_cap_form form); /* "saturating" */

enum { KWHY_CAP_POINTS_MIN = 5, KWHY_CAP_POINTS_MAX = 64 };

struct kwhy_cap_curve {
	enum kwhy_cap_form form;
	double most_w;	  /* Pmax, the highest measured power */
	double amplitude; /* a, the amplitude */
	double floor_w;	  /* P0, in watts; 0 for the power law */
	double shape;	  /* the parameter of the form: b, c (in watts), or m */
};

struct kwhy_cap_fit {
	struct kwhy_cap_curve curve;
	double rms_ratio, held_out_ratio;
	struct kwhy_cap_curve without[KWHY_CAP_POINTS_MAX]; /* [i] the curve fitted without point i */
};

struct kwhy_cap {
	size_t count;	      /* number of points */
	size_t unbound_count; /* number of points whose power is more than 5 % below their power limit, which
				 therefore has no effect */
	double least_w, most_w;
	struct kwhy_cap_fit fits[KWHY_CAP_FORM_COUNT];
	enum kwhy_cap_form chosen;
	bool is_alternative[KWHY_CAP_FORM_COUNT]; /* whether this form's error at held-out points is at
						     most 1.25 times the smallest one */
	struct kwhy_cap_point points[KWHY_CAP_POINTS_MAX];
};

/*
 * Fits all forms and chooses one. KWHY_E_INPUT: too few or too many points, a value that is not above 0, or a
 * highest power below 1.15 times the lowest.
 */
KWHY_MUST_USE enum kwhy_status kwhy_cap_of(
	const struct kwhy_cap_point *points, size_t count, struct kwhy_cap *out, struct kwhy_error *error);

double kwhy_cap_throughput(const struct kwhy_cap_curve *curve, double power_w);

/*
 * Quantity to minimise. ENERGY: P / T. ENERGY_DELAY: P / T^2. SLOWDOWN: P, among the powers at which work
 * takes at most slower_ratio longer than at the highest power.
 */
enum kwhy_cap_goal { KWHY_CAP_GOAL_ENERGY, KWHY_CAP_GOAL_ENERGY_DELAY, KWHY_CAP_GOAL_SLOWDOWN };

enum kwhy_cap_verdict {
	KWHY_CAP_VERDICT_INSIDE,  /* the optimum lies inside the measured range */
	KWHY_CAP_VERDICT_LOWEST,  /* the lowest measured power is best; lower ones were not measured */
	KWHY_CAP_VERDICT_HIGHEST, /* the highest measured power is best */
	KWHY_CAP_VERDICT_UNBOUND, /* the power limit has an effect at fewer than four points, so no limit is
				     recommended */
	KWHY_CAP_VERDICT_FLAT,	  /* the optimum is better than the better end of the range by less than the
				     relative error of the fit */
	KWHY_CAP_VERDICT_UNSURE	  /* the optimum is too uncertain: an alternative form has its optimum
				     elsewhere, or the interval from fits that leave out one point each is wider
				     than half the range */
};

struct kwhy_cap_advice {
	enum kwhy_cap_verdict verdict;
	/* power of the optimum; NAN unless the verdict is INSIDE, LOWEST or HIGHEST */
	struct kwhy_interval power_w;
	double cap_w; /* power limit at which the device draws power_w, interpolated between the limits that
			 were set; NAN: unknown */
	/* energy and time of a unit of work at power_w, each divided by its value at most_w */
	double energy_ratio, time_ratio;
};

void kwhy_cap_advise(const struct kwhy_cap *cap, enum kwhy_cap_goal goal, double slower_ratio,
	struct kwhy_cap_advice *out);

#endif

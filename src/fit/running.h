/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_FIT_RUNNING_H
#define KWHY_FIT_RUNNING_H

#include "base/status.h"
#include "fit/interval.h"

#define KWHY_JOULES_PER_KWH 3.6e6

/*
 * What running something costs or emits: by energy (money or grams a kWh) or by the hour, as clouds bill,
 * whose price already contains the electricity. Never both for the same joule. Pure.
 */
struct kwhy_running_question {
	struct kwhy_interval energy_j; /* of one run, at the meter; unknown: NAN */
	double seconds;		       /* of one run; NAN */
	struct kwhy_interval unit_j;   /* of a unit of work, at the meter; unknown: NAN */
	double unit_s;		       /* of a unit of work; NAN */
	double runs_per_day;	       /* NAN: not asked */
	double pue;		       /* power of the building over that of its machines, at least 1 */
	double per_kwh;		       /* amount a kWh; NAN: not by energy */
	double per_hour;	       /* amount an hour of all that was rented; NAN: not by time */
};

struct kwhy_running {
	struct kwhy_interval kwh;		     /* of one run, PUE included */
	struct kwhy_interval per_run;		     /* the amount */
	struct kwhy_interval per_unit;		     /* of work */
	struct kwhy_interval kwh_per_year, per_year; /* KWHY_DAYS_PER_YEAR */
};

/* KWHY_E_INPUT: both rates or none, a PUE below 1, a negative rate, or no energy or time to apply it to. */
KWHY_MUST_USE enum kwhy_status kwhy_running_of(
	const struct kwhy_running_question *question, struct kwhy_running *out, struct kwhy_error *error);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_FIT_RUNNING_H
#define KWHY_FIT_RUNNING_H

#include "base/status.h"
#include "fit/interval.h"

#define KWHY_JOULES_PER_KWH 3.6e6

/*
 * Cost or emissions of running something, either by energy (money or grams a kWh) or by the hour, as clouds
 * charge. An hourly price already contains the electricity, so both never apply to the same joule. Pure.
 */
struct kwhy_running_question {
	struct kwhy_interval energy_j; /* of one run, at the meter; NAN: unknown */
	double seconds;		       /* of one run; NAN: unknown */
	struct kwhy_interval unit_j;   /* of a unit of work, at the meter; NAN: unknown */
	double unit_s;		       /* of a unit of work; NAN: unknown */
	double runs_per_day;	       /* NAN: no yearly figures */
	double pue;		       /* power of the building over that of its machines (PUE), at least 1 */
	double per_kwh;		       /* amount a kWh; NAN: not charged by energy */
	double per_hour;	       /* amount an hour for all rented machines; NAN: not charged by time */
};

struct kwhy_running {
	struct kwhy_interval kwh;		     /* of one run, PUE included */
	struct kwhy_interval per_run;		     /* amount of one run */
	struct kwhy_interval per_unit;		     /* amount of a unit of work */
	struct kwhy_interval kwh_per_year, per_year; /* per year of KWHY_DAYS_PER_YEAR days */
};

/* KWHY_E_INPUT: both rates or neither, a PUE below 1, a negative rate, or unknown energy or time. */
KWHY_MUST_USE enum kwhy_status kwhy_running_of(
	const struct kwhy_running_question *question, struct kwhy_running *out, struct kwhy_error *error);

#endif

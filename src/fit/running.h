/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_FIT_RUNNING_H
#define KWHY_FIT_RUNNING_H

#include "base/status.h"
#include "fit/interval.h"

#define KWHY_JOULES_PER_KWH 3.6e6

/*
 * Cost or emissions of running something. An amount is money or grams of CO2e. It is charged per kWh or, as
 * clouds do, per hour; an hourly price already includes the electricity, so exactly one of per_kwh and
 * per_hour is given. Pure.
 */
struct kwhy_running_question {
	struct kwhy_interval energy_j; /* energy of one run, as metered (without the PUE); NAN: unknown */
	double seconds;		       /* length of one run; NAN: unknown */
	struct kwhy_interval unit_j;   /* energy of a unit of work, as metered; NAN: unknown */
	double unit_s;		       /* time of a unit of work; NAN: unknown */
	double runs_per_day;	       /* NAN: no yearly figures */
	double pue;	 /* PUE: power of the building divided by that of its machines, at least 1 */
	double per_kwh;	 /* amount per kWh; NAN: not charged by energy */
	double per_hour; /* amount per hour for all rented machines together; NAN: not charged by time */
};

struct kwhy_running {
	struct kwhy_interval kwh;      /* energy of one run, times the PUE */
	struct kwhy_interval per_run;  /* amount of one run */
	struct kwhy_interval per_unit; /* amount of a unit of work */
	/* energy and amount per year of KWHY_DAYS_PER_YEAR days */
	struct kwhy_interval kwh_per_year, per_year;
};

/*
 * Computes the amounts. KWHY_E_INPUT: both of per_kwh and per_hour are given or neither is, the one that is
 * given is negative, the PUE is below 1, or the figure to charge is unknown (energy_j for per_kwh, seconds
 * for per_hour).
 */
KWHY_MUST_USE enum kwhy_status kwhy_running_of(
	const struct kwhy_running_question *question, struct kwhy_running *out, struct kwhy_error *error);

#endif

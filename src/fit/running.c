/* SPDX-License-Identifier: Apache-2.0 */
#include "fit/running.h"

#include "fit/units.h"

#include <math.h>
#include <stdbool.h>

#define SECONDS_PER_HOUR 3600.0

static enum kwhy_status check(const struct kwhy_running_question *question, struct kwhy_error *error)
{
	bool by_energy = isfinite(question->per_kwh), by_time = isfinite(question->per_hour);

	if (by_energy == by_time)
		return kwhy_fail(error, KWHY_E_INPUT,
			by_energy ? "a price by the hour already contains the electricity: give the price of "
				    "a kWh or of an hour, not both"
				  : "neither the price of a kWh nor that of an hour is given");
	if (question->per_kwh < 0 || question->per_hour < 0)
		return kwhy_fail(error, KWHY_E_INPUT, "a price or an intensity cannot be negative");
	if (!(question->pue >= 1))
		return kwhy_fail(error, KWHY_E_INPUT,
			"a PUE is at least 1: it is the building's power over that of its machines");
	if (question->runs_per_day < 0)
		return kwhy_fail(error, KWHY_E_INPUT, "runs a day cannot be negative");
	if (question->energy_j.value < 0)
		return kwhy_fail(error, KWHY_E_INPUT, "the energy of a run cannot be negative");
	if (by_energy && !(question->energy_j.value >= 0))
		return kwhy_fail(error, KWHY_E_INPUT,
			"the energy of a run is not known; give a stat.json or report.json with measured "
			"energy");
	if (by_time && !(question->seconds >= 0))
		return kwhy_fail(error, KWHY_E_INPUT, "the duration of a run is not known");
	return KWHY_OK;
}

static struct kwhy_interval amount_of(
	const struct kwhy_running_question *question, struct kwhy_interval energy_j, double seconds)
{
	if (isfinite(question->per_kwh))
		return kwhy_interval_scaled(
			energy_j, question->pue / KWHY_JOULES_PER_KWH * question->per_kwh);
	return kwhy_interval_exact(question->per_hour * seconds / SECONDS_PER_HOUR);
}

enum kwhy_status kwhy_running_of(
	const struct kwhy_running_question *question, struct kwhy_running *out, struct kwhy_error *error)
{
	double runs_per_year = question->runs_per_day * KWHY_DAYS_PER_YEAR;
	enum kwhy_status status = check(question, error);

	if (status)
		return status;
	out->kwh = kwhy_interval_scaled(question->energy_j, question->pue / KWHY_JOULES_PER_KWH);
	out->per_run = amount_of(question, question->energy_j, question->seconds);
	out->per_unit = amount_of(question, question->unit_j, question->unit_s);
	out->kwh_per_year = kwhy_interval_scaled(out->kwh, runs_per_year);
	out->per_year = kwhy_interval_scaled(out->per_run, runs_per_year);
	return KWHY_OK;
}

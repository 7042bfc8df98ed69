/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_FIT_CARBON_H
#define KWHY_FIT_CARBON_H

#include "base/status.h"

#include <stddef.h>

/* Yearly mean emissions for a kWh of a region's electricity; the .def files state sources and licences. */
struct kwhy_carbon_region {
	const char *key;  /* "THA" (ISO 3166), "EU", "gcp:us-central1" */
	const char *name; /* "Thailand" */
	int year;
	double g_per_kwh; /* g CO2e per kWh */
	const char *source;
};

/*
 * Returns the static table of all regions, countries first, then regions of cloud providers; *out_count: its
 * number of rows.
 */
const struct kwhy_carbon_region *kwhy_carbon_regions(size_t *out_count);

/* Finds a region by key or name, ignoring case; KWHY_E_USAGE: no region has this key or name. */
KWHY_MUST_USE enum kwhy_status kwhy_carbon_find(
	const char *region, const struct kwhy_carbon_region **out, struct kwhy_error *error);

/*
 * Exhaust emissions of an average passenger car in the USA, g CO2 per mile: 4.6 t a year (EPA-420-F-23-014,
 * June 2023) over 11,500 miles.
 */
#define KWHY_CARBON_CAR_G_PER_MILE 400.0
#define KWHY_CARBON_KM_PER_MILE 1.609344

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "fit/carbon.h"

#include <strings.h>

#define COUNTRIES "Ember, Yearly Electricity Data, CC BY 4.0"
#define REGIONS "Google Cloud, region-carbon-info, Apache 2.0"

static const struct kwhy_carbon_region regions[] = {
#define X(key, name, year, g_per_kwh) {key, name, year, g_per_kwh, COUNTRIES},
#include "fit/carbon_countries.def"
#undef X
#define X(key, name, year, g_per_kwh) {key, name, year, g_per_kwh, REGIONS},
#include "fit/carbon_regions.def"
#undef X
};

const struct kwhy_carbon_region *kwhy_carbon_regions(size_t *out_count)
{
	*out_count = sizeof(regions) / sizeof(regions[0]);
	return regions;
}

enum kwhy_status kwhy_carbon_find(
	const char *region, const struct kwhy_carbon_region **out, struct kwhy_error *error)
{
	for (size_t i = 0; i < sizeof(regions) / sizeof(regions[0]); i++)
		if (strcasecmp(regions[i].key, region) == 0 || strcasecmp(regions[i].name, region) == 0) {
			*out = &regions[i];
			return KWHY_OK;
		}
	return kwhy_fail(error, KWHY_E_USAGE,
		"no carbon intensity is known for '%.60s'; 'kwhy model carbon --list' shows the places, and "
		"--intensity takes your own value",
		region);
}

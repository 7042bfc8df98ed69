/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_LIVE_OWNER_SHOW_H
#define KWHY_CLI_LIVE_OWNER_SHOW_H

#include "base/text.h"
#include "fit/carbon.h"
#include "owners/summary.h"

#include <stdbool.h>

/*
 * What a table of owners (jobs, users, containers) is made from: `items`, the energies by owner, and the
 * price and the carbon intensity of a kWh.
 */
struct kwhy_owner_table {
	const struct kwhy_stored *stored;
	const struct kwhy_owner_summary *items;
	size_t count;
	enum kwhy_summary_by by;
	double price_per_kwh; /* NAN: no cost is shown */
	const char *currency; /* currency of the price; "": it is not named */
	double g_per_kwh;     /* g of CO2 equivalent per kWh; NAN: no emissions are shown */
	const struct kwhy_carbon_region *
		region; /* region whose mean carbon intensity is g_per_kwh; NULL: the user stated g_per_kwh */
	double pue;
};

/*
 * Write the owners as text, as JSON (schema "kwhy.jobs/1") and as CSV. on_terminal: the text goes to a
 * terminal, and names are cut to its width; otherwise no name is cut.
 */
void kwhy_owners_text(const struct kwhy_owner_table *table, bool on_terminal, struct kwhy_text *out);
void kwhy_owners_json(const struct kwhy_owner_table *table, struct kwhy_text *out);
void kwhy_owners_csv(const struct kwhy_owner_table *table, struct kwhy_text *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json/parts.h"
#include "report/potential.h"

/* Writes "categories": time and energy of each category of accounts, and how much a change could save. */

static void write_category(struct kwhy_json *json, const struct kwhy_json_report *parts,
	const struct kwhy_category_sum *category)
{
	const struct kwhy_totals *totals = parts->totals;
	const struct kwhy_total *sum = &category->sum;

	kwhy_json_row(json, NULL);
	kwhy_json_string(json, "category", kwhy_category_name((enum kwhy_category)sum->category));
	kwhy_json_count(json, "account_count", category->account_count);
	kwhy_json_count(json, "count", sum->count);
	kwhy_json_int(json, "time_ns", sum->time_ns);
	kwhy_json_known(json, "gross_nj", sum->gross_nj);
	kwhy_json_known(json, "idle_nj", sum->idle_nj);
	kwhy_json_known(json, "net_nj", sum->net_nj);
	kwhy_json_real(json, "share_ratio", kwhy_totals_share(totals, sum));
	kwhy_json_string(json, "potential",
		kwhy_potential_name(kwhy_potential_of(parts->report->findings,
			(enum kwhy_category)sum->category, totals->recorded_nj, totals->span_ns)));
	kwhy_json_object_end(json);
}

void kwhy_json_categories(struct kwhy_json_report *parts)
{
	struct kwhy_category_sum sums[KWHY_CATEGORY_COUNT + 1];

	kwhy_totals_categories(parts->totals, sums);
	kwhy_json_array(&parts->json, "categories");
	for (size_t category = 0; category < KWHY_CATEGORY_COUNT; category++)
		if (sums[category].account_count)
			write_category(&parts->json, parts, &sums[category]);
	kwhy_json_array_end(&parts->json);
}

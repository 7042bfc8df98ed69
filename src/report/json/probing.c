/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json/parts.h"

enum { REASONS_MAX = 32 };

static void write_part(struct kwhy_json *json, const char *key, const struct kwhy_probing_part *part,
	const struct kwhy_probing *probing)
{
	kwhy_json_row(json, key);
	if (!key)
		kwhy_json_string(json, "reason", part->reason);
	kwhy_json_count(json, "kernels", part->accounts);
	kwhy_json_int(json, "time_ns", part->busy_ns);
	kwhy_json_real(
		json, "time_ratio", probing->busy_ns ? (double)part->busy_ns / (double)probing->busy_ns : 0);
	kwhy_json_object_end(json);
}

static void write_unprobed(struct kwhy_json *json, const struct kwhy_probing *probing)
{
	struct kwhy_probing_part parts[REASONS_MAX];
	const size_t count = kwhy_probing_list_unprobed(probing, parts, REASONS_MAX);

	kwhy_json_array(json, "not_repeated");
	for (size_t i = 0; i < count; i++)
		write_part(json, NULL, &parts[i], probing);
	kwhy_json_array_end(json);
}

void kwhy_json_probing(struct kwhy_json_report *parts)
{
	const struct kwhy_probing *probing = parts->report->probing;
	struct kwhy_json *json = &parts->json;
	struct kwhy_totals_known energy;
	struct kwhy_probing_parts sums;

	if (!probing)
		return;
	sums = kwhy_probing_count(probing, KWHY_PROBING_WITHIN_RATIO);
	energy = kwhy_totals_known_within(parts->totals, KWHY_PROBING_WITHIN_RATIO);
	kwhy_json_object(json, "probing");
	kwhy_json_count(json, "bursts", probing->bursts);
	kwhy_json_count(json, "repeats", probing->repeats);
	kwhy_json_int(json, "time_ns", probing->spent_ns);
	kwhy_json_real(json, "within_ratio", KWHY_PROBING_WITHIN_RATIO);
	write_part(json, "all", &sums.all, probing);
	write_part(json, "repeated", &sums.probed, probing);
	write_part(json, "known", &sums.known, probing);
	write_part(json, "waiting", &sums.waiting, probing);
	kwhy_json_real(json, "known_of_work_ratio", kwhy_probing_known_of_work(&sums));
	kwhy_json_int(json, "busy_nj", energy.busy_nj);
	kwhy_json_int(json, "known_nj", energy.known_nj);
	write_unprobed(json, probing);
	kwhy_json_count(json, "checked", probing->checked);
	kwhy_json_count(json, "different", probing->different);
	kwhy_json_string(json, "different_kernel",
		probing->different ? kwhy_names_get(&probing->names, probing->different_name) : NULL);
	kwhy_json_object_end(json);
}

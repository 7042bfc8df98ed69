/* SPDX-License-Identifier: Apache-2.0 */
#include "report/plan.h"

#include "report/json_writer.h"

#include <math.h>

#define NJ_PER_KWH 3.6e15

static void add_projection(struct kwhy_json *json, const char *key, const struct kwhy_projection *projection,
	const struct kwhy_report *report)
{
	double kwh = projection->energy_nj == KWHY_UNKNOWN_NJ ? NAN
							      : (double)projection->energy_nj / NJ_PER_KWH;

	kwhy_json_row(json, key);
	kwhy_json_int(json, "time_ns", projection->time_ns);
	kwhy_json_int(json, "time_low_ns", projection->time_low_ns);
	kwhy_json_int(json, "time_high_ns", projection->time_high_ns);
	kwhy_json_known(json, "energy_nj", projection->energy_nj);
	kwhy_json_known(json, "low_nj", projection->energy_low_nj);
	kwhy_json_known(json, "high_nj", projection->energy_high_nj);
	kwhy_json_real(json, "cost", kwh * report->price_per_kwh);
	kwhy_json_real(json, "g_co2e", kwh * report->intensity_g_per_kwh);
	kwhy_json_object_end(json);
}

static void add_change(
	struct kwhy_json *json, const struct kwhy_projected_change *change, const struct kwhy_report *report)
{
	kwhy_json_object(json, NULL);
	kwhy_json_string(json, "id", change->id);
	kwhy_json_string(json, "title", change->title);
	if (change->number)
		kwhy_json_count(json, "number", change->number);
	else
		kwhy_json_null(json, "number");
	kwhy_json_string(json, "finding", change->finding);
	kwhy_json_string(json, "bound", kwhy_bound_name(change->bound));
	kwhy_json_string(json, "effort", kwhy_effort_name(change->effort));
	kwhy_json_string(json, "risk", kwhy_risk_name(change->risk));
	kwhy_json_count(json, "places", change->places);
	kwhy_json_string(json, "assumption", change->assumption);
	kwhy_json_int(json, "saved_ns", change->saved_ns);
	kwhy_json_known(json, "saved_nj", change->saved_nj);
	add_projection(json, "after", &change->after, report);
	kwhy_json_object_end(json);
}

static void add_refused(struct kwhy_json *json, const struct kwhy_refused_change *refused)
{
	kwhy_json_row(json, NULL);
	kwhy_json_string(json, "id", refused->id);
	kwhy_json_string(json, "reason", refused->reason);
	kwhy_json_string(json, "premise", refused->premise);
	kwhy_json_known(json, "saved_ns", refused->saved_ns);
	kwhy_json_known(json, "saved_nj", refused->saved_nj);
	kwhy_json_object_end(json);
}

enum kwhy_status kwhy_plan_json(const struct kwhy_plan *plan, const struct kwhy_report *report,
	struct kwhy_text *out, struct kwhy_error *error)
{
	struct kwhy_json json;

	kwhy_json_init(&json, out);
	kwhy_json_object(&json, NULL);
	kwhy_json_string(&json, "schema", "kwhy.whatif/1");
	kwhy_json_string(&json, "command", report->command);
	kwhy_json_list(&json, "sources");
	for (size_t i = 0; i < report->recording->source_count; i++)
		kwhy_json_string(&json, NULL, report->recording->sources[i].path);
	kwhy_json_array_end(&json);
	kwhy_json_string(&json, "currency", report->currency);
	add_projection(&json, "before", &plan->before, report);
	add_projection(&json, "after", kwhy_plan_after(plan), report);
	kwhy_json_array(&json, "changes");
	for (size_t i = 0; i < plan->change_count; i++)
		add_change(&json, &plan->changes[i], report);
	kwhy_json_array_end(&json);
	kwhy_json_array(&json, "left_out");
	for (size_t i = 0; i < plan->refused_count; i++)
		add_refused(&json, &plan->refused[i]);
	kwhy_json_array_end(&json);
	kwhy_json_object_end(&json);
	kwhy_text_add(out, "\n");
	return kwhy_text_check(out, error);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "report/plan.h"

#include "report/json/parts.h"

#include <math.h>

#define NJ_PER_KWH 3.6e15

static void add_figures(
	struct kwhy_json *json, const struct kwhy_projection *projection, const struct kwhy_report *report)
{
	double kwh = projection->energy_nj == KWHY_UNKNOWN_NJ ? NAN
							      : (double)projection->energy_nj / NJ_PER_KWH;

	kwhy_json_int(json, "time_ns", projection->time_ns);
	kwhy_json_int(json, "time_low_ns", projection->time_low_ns);
	kwhy_json_int(json, "time_high_ns", projection->time_high_ns);
	kwhy_json_known(json, "energy_nj", projection->energy_nj);
	kwhy_json_known(json, "low_nj", projection->energy_low_nj);
	kwhy_json_known(json, "high_nj", projection->energy_high_nj);
	kwhy_json_known(json, "net_nj", projection->net_nj);
	kwhy_json_known(json, "net_low_nj", projection->net_low_nj);
	kwhy_json_known(json, "net_high_nj", projection->net_high_nj);
	kwhy_json_real(json, "cost", kwh * report->price_per_kwh);
	kwhy_json_real(json, "g_co2e", kwh * report->intensity_g_per_kwh);
}

static void add_whole(struct kwhy_json *json, const char *key, const struct kwhy_projection *projection,
	double busy_ratio, const struct kwhy_report *report)
{
	kwhy_json_row(json, key);
	add_figures(json, projection, report);
	kwhy_json_real(json, "busy_ratio", busy_ratio);
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
	kwhy_json_row(json, "after");
	add_figures(json, &change->after, report);
	kwhy_json_object_end(json);
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

/*
 * Categories of activities by kind, and of API calls by class, as numbers of enum kwhy_timeline_category
 * (docs/formats/page.md). Kinds that are not listed have 0, compute.
 */
static const uint8_t category_of_kind[KWHY_ACTIVITY_KIND_COUNT] = {
	[KWHY_ACTIVITY_COLLECTIVE] = 1, [KWHY_ACTIVITY_COPY] = 2, [KWHY_ACTIVITY_MEMSET] = 3};
static const uint8_t category_of_class[KWHY_CALL_CLASS_COUNT] = {[KWHY_CALL_OTHER] = 7,
	[KWHY_CALL_LAUNCH] = 4,
	[KWHY_CALL_COPY] = 5,
	[KWHY_CALL_SYNC] = 5,
	[KWHY_CALL_ALLOC] = 6,
	[KWHY_CALL_FREE] = 6};

static void add_lane(
	struct kwhy_json *json, const struct kwhy_recording *recording, const struct kwhy_stretch_item *item)
{
	if (item->activity == KWHY_NONE) {
		kwhy_json_null(json, "device");
		kwhy_json_null(json, "rank");
		kwhy_json_int(json, "thread", recording->threads[recording->calls.thread[item->call]].tid);
	} else {
		const struct kwhy_stream
			*stream = &recording->streams[recording->activities.stream[item->activity]];

		kwhy_json_int(json, "device", recording->devices[stream->device].index);
		kwhy_json_index(json, "rank", recording->devices[stream->device].rank);
		kwhy_json_int(json, "stream", stream->id);
	}
}

static void add_item(
	struct kwhy_json *json, const struct kwhy_recording *recording, const struct kwhy_stretch_item *item)
{
	bool is_call = item->activity == KWHY_NONE, stays = item->after_start_ns != KWHY_UNKNOWN_TIME;
	uint32_t name = is_call ? recording->calls.name[item->call]
				: recording->activities.name[item->activity];

	kwhy_json_row(json, NULL);
	add_lane(json, recording, item);
	kwhy_json_string(json, "name", kwhy_names_get(&recording->names, name));
	kwhy_json_int(json, "category",
		is_call ? category_of_class[recording->calls.class[item->call]]
			: category_of_kind[recording->activities.kind[item->activity]]);
	kwhy_json_list(json, "before_ns");
	kwhy_json_int(json, NULL, item->before_start_ns);
	kwhy_json_int(json, NULL, item->before_end_ns);
	kwhy_json_array_end(json);
	if (stays) {
		kwhy_json_list(json, "after_ns");
		kwhy_json_int(json, NULL, item->after_start_ns);
		kwhy_json_int(json, NULL, item->after_end_ns);
		kwhy_json_array_end(json);
	} else {
		kwhy_json_null(json, "after_ns");
	}
	kwhy_json_object_end(json);
}

static void add_stretch(
	struct kwhy_json *json, const struct kwhy_recording *recording, const struct kwhy_stretch *stretch)
{
	if (!stretch) {
		kwhy_json_null(json, "stretch");
		return;
	}
	kwhy_json_object(json, "stretch");
	kwhy_json_count(json, "first_step", stretch->first_step);
	kwhy_json_count(json, "end_step", stretch->end_step);
	kwhy_json_count(json, "step_count", stretch->step_count);
	kwhy_json_int(json, "before_ns", stretch->before_ns);
	kwhy_json_int(json, "after_ns", stretch->after_ns);
	kwhy_json_count(json, "left_out", stretch->left_out_count);
	kwhy_json_array(json, "items");
	for (size_t i = 0; i < stretch->item_count; i++)
		add_item(json, recording, &stretch->items[i]);
	kwhy_json_array_end(json);
	kwhy_json_object_end(json);
}

static void add_plan(struct kwhy_json *json, const char *key, const struct kwhy_plan *plan,
	const struct kwhy_report *report)
{
	kwhy_json_object(json, key);
	kwhy_json_string(json, "schema", "kwhy.whatif/1");
	kwhy_json_string(json, "command", report->command);
	kwhy_json_list(json, "sources");
	for (size_t i = 0; i < report->recording->source_count; i++)
		kwhy_json_string(json, NULL, report->recording->sources[i].path);
	kwhy_json_array_end(json);
	kwhy_json_string(json, "currency", report->currency);
	kwhy_json_string(json, "no_energy", kwhy_plan_no_energy(plan, report));
	kwhy_json_string(json, "lost", kwhy_plan_lost(report));
	add_whole(json, "before", &plan->before, plan->busy_before_ratio, report);
	add_whole(json, "after", kwhy_plan_after(plan), plan->busy_after_ratio, report);
	kwhy_json_string(json, "bound", kwhy_bound_name(kwhy_plan_bound(plan)));
	kwhy_json_array(json, "changes");
	for (size_t i = 0; i < plan->change_count; i++)
		add_change(json, &plan->changes[i], report);
	kwhy_json_array_end(json);
	kwhy_json_array(json, "left_out");
	for (size_t i = 0; i < plan->refused_count; i++)
		add_refused(json, &plan->refused[i]);
	kwhy_json_array_end(json);
	add_stretch(json, report->recording, plan->stretch);
	kwhy_json_object_end(json);
}

enum kwhy_status kwhy_plan_json(const struct kwhy_plan *plan, const struct kwhy_report *report,
	struct kwhy_text *out, struct kwhy_error *error)
{
	struct kwhy_json json;

	kwhy_json_init(&json, out);
	add_plan(&json, NULL, plan, report);
	kwhy_text_add(out, "\n");
	return kwhy_text_check(out, error);
}

void kwhy_json_plan(struct kwhy_json_report *parts)
{
	if (parts->report->plan)
		add_plan(&parts->json, "plan", parts->report->plan, parts->report);
	else
		kwhy_json_null(&parts->json, "plan");
	kwhy_json_string(&parts->json, "no_plan", parts->report->no_plan);
}

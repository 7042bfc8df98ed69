/* SPDX-License-Identifier: Apache-2.0 */
#include "report/compare.h"
#include "report/json/writer.h"
#include "report/projection_check.h"

#include <math.h>
#include <string.h>

static void write_side(struct kwhy_json *json, const char *key, const struct kwhy_side *side)
{
	kwhy_json_row(json, key);
	kwhy_json_string(json, "path", side->label);
	kwhy_json_string(json, "device_name", *side->device ? side->device : NULL);
	kwhy_json_bool(json, "modelled", side->modelled);
	kwhy_json_known(json, "energy_nj", side->energy_nj);
	kwhy_json_known(json, "run_nj", side->run_nj);
	kwhy_json_known(json, "idle_nj", side->idle_nj);
	kwhy_json_int(json, "span_ns", side->span_ns);
	kwhy_json_int(json, "idle_ns", side->idle_ns);
	kwhy_json_object_end(json);
}

static void write_figures(struct kwhy_json *json, const struct kwhy_comparison *comparison)
{
	kwhy_json_array(json, "figures");
	for (int i = 0; i < KWHY_FIGURE_COUNT; i++) {
		double a = kwhy_figure_of(comparison->a, (enum kwhy_figure)i);
		double b = kwhy_figure_of(comparison->b, (enum kwhy_figure)i);

		kwhy_json_row(json, NULL);
		kwhy_json_string(json, "name", kwhy_figure_name((enum kwhy_figure)i));
		kwhy_json_string(json, "unit", kwhy_figure_unit((enum kwhy_figure)i));
		kwhy_json_real(json, "a", a);
		kwhy_json_real(json, "b", b);
		kwhy_json_real(json, "change", b - a);
		kwhy_json_real(json, "change_ratio", a != 0 ? (b - a) / fabs(a) : NAN);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

/* Writes joules a unit, for each unit of work that both sides have. */
static void write_work(struct kwhy_json *json, const struct kwhy_comparison *comparison)
{
	kwhy_json_array(json, "work");
	for (size_t i = 0; i < comparison->a->work_count; i++) {
		const struct kwhy_side_work *a = &comparison->a->work[i];
		const struct kwhy_side_work *b = kwhy_side_work_of(comparison->b, a->unit);

		if (!b)
			continue;
		kwhy_json_row(json, NULL);
		kwhy_json_string(json, "unit", a->unit);
		kwhy_json_real(json, "a_each_j", a->each_j);
		kwhy_json_real(json, "b_each_j", b->each_j);
		kwhy_json_real(json, "change_ratio", a->each_j != 0 ? b->each_j / a->each_j - 1 : NAN);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

static void write_account(struct kwhy_json *json, const char *key, const struct kwhy_side_account *account)
{
	if (!account) {
		kwhy_json_null(json, key);
		return;
	}
	kwhy_json_row(json, key);
	kwhy_json_count(json, "count", account->count);
	kwhy_json_int(json, "time_ns", account->time_ns);
	kwhy_json_known(json, "gross_nj", account->gross_nj);
	kwhy_json_known(json, "low_nj", account->low_nj);
	kwhy_json_known(json, "high_nj", account->high_nj);
	kwhy_json_object_end(json);
}

static void write_pair(struct kwhy_json *json, const struct kwhy_account_pair *pair)
{
	kwhy_json_row(json, NULL);
	kwhy_json_string(json, "category", pair->category);
	kwhy_json_string(json, "name", pair->name);
	write_account(json, "a", pair->a);
	write_account(json, "b", pair->b);
	kwhy_json_known(json, "change_nj", pair->change_nj);
	kwhy_json_known(json, "half_width_nj", pair->half_width_nj);
	kwhy_json_int(json, "change_ns", pair->change_ns);
	if (pair->half_width_nj == KWHY_UNKNOWN_NJ)
		kwhy_json_null(json, "significant");
	else
		kwhy_json_bool(json, "significant", pair->significant);
	kwhy_json_object_end(json);
}

static bool has_finding(const struct kwhy_side *side, const char *id)
{
	for (size_t i = 0; i < side->finding_count; i++)
		if (strcmp(side->findings[i].id, id) == 0)
			return true;
	return false;
}

static void write_findings(
	struct kwhy_json *json, const char *key, const struct kwhy_side *of, const struct kwhy_side *other)
{
	kwhy_json_array(json, key);
	for (size_t i = 0; i < of->finding_count; i++) {
		const struct kwhy_side_finding *finding = &of->findings[i];

		if (has_finding(other, finding->id))
			continue;
		kwhy_json_row(json, NULL);
		kwhy_json_string(json, "id", finding->id);
		kwhy_json_string(json, "title", finding->title);
		kwhy_json_int(json, "time_ns", finding->time_ns);
		kwhy_json_known(json, "energy_nj", finding->energy_nj);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

static void write_conditions(struct kwhy_json *json, const struct kwhy_conditions *conditions)
{
	kwhy_json_array(json, "conditions");
	for (size_t i = 0; i < conditions->count; i++) {
		kwhy_json_row(json, NULL);
		kwhy_json_string(json, "text", conditions->items[i].text);
		kwhy_json_real(json, "value", conditions->verdicts[i].value);
		kwhy_json_real(json, "limit", conditions->items[i].limit);
		kwhy_json_bool(json, "exceeded", conditions->verdicts[i].exceeded);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

enum kwhy_status kwhy_compare_json(const struct kwhy_comparison *comparison,
	const struct kwhy_conditions *conditions, struct kwhy_text *out, struct kwhy_error *error)
{
	struct kwhy_json json;

	kwhy_json_init(&json, out);
	kwhy_json_object(&json, NULL);
	kwhy_json_string(&json, "schema", "kwhy.compare/1");
	write_side(&json, "a", comparison->a);
	write_side(&json, "b", comparison->b);
	write_figures(&json, comparison);
	write_work(&json, comparison);
	kwhy_projection_check_json(comparison, &json);
	kwhy_json_array(&json, "accounts");
	for (size_t i = 0; i < comparison->pair_count; i++)
		write_pair(&json, &comparison->pairs[i]);
	kwhy_json_array_end(&json);
	write_findings(&json, "findings_gone", comparison->a, comparison->b);
	write_findings(&json, "findings_new", comparison->b, comparison->a);
	write_conditions(&json, conditions);
	kwhy_json_object_end(&json);
	return kwhy_text_check(out, error);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/model/cap.h"

#include "base/quantity.h"

#include <math.h>

static const char *const goal_names[KWHY_MODEL_CAP_GOALS] = {
	[KWHY_CAP_GOAL_ENERGY] = "least energy",
	[KWHY_CAP_GOAL_ENERGY_DELAY] = "least energy times delay",
	[KWHY_CAP_GOAL_SLOWDOWN] = "least power",
};

static const char *const verdict_names[] = {
	[KWHY_CAP_VERDICT_INSIDE] = "recommended",
	[KWHY_CAP_VERDICT_LOWEST] = "the lowest measured; lower was not measured",
	[KWHY_CAP_VERDICT_HIGHEST] = "the highest measured; higher was not measured",
	[KWHY_CAP_VERDICT_UNBOUND] = "no recommendation: too few of the limits bind",
	[KWHY_CAP_VERDICT_FLAT] = "no recommendation: the gain is within the error of the fit",
	[KWHY_CAP_VERDICT_UNSURE] = "no recommendation: the data do not support one",
};

static const char *const verdict_keys[] = {
	[KWHY_CAP_VERDICT_INSIDE] = "inside",
	[KWHY_CAP_VERDICT_LOWEST] = "lowest",
	[KWHY_CAP_VERDICT_HIGHEST] = "highest",
	[KWHY_CAP_VERDICT_UNBOUND] = "unbound",
	[KWHY_CAP_VERDICT_FLAT] = "flat",
	[KWHY_CAP_VERDICT_UNSURE] = "unsure",
};

static void write_forms(const struct kwhy_cap *cap, struct kwhy_model_page *page)
{
	static const struct kwhy_table_column columns[] = {{"form", KWHY_COLUMN_LEFT},
		{"floor", KWHY_COLUMN_RIGHT}, {"shape", KWHY_COLUMN_RIGHT}, {"error", KWHY_COLUMN_RIGHT},
		{"held out", KWHY_COLUMN_RIGHT}, {"", KWHY_COLUMN_LEFT}};
	char shape[KWHY_QUANTITY_BYTES];
	struct kwhy_table table;

	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (int form = 0; form < KWHY_CAP_FORM_COUNT; form++) {
		const struct kwhy_cap_fit *fit = &cap->fits[form];

		kwhy_table_cell(&table, kwhy_cap_form_name((enum kwhy_cap_form)form));
		kwhy_table_real(&table, form == KWHY_CAP_POWER ? NAN : fit->curve.floor_w, "W");
		if (form == KWHY_CAP_SATURATING)
			kwhy_table_real(&table, fit->curve.shape, "W");
		else
			kwhy_table_cell(&table, kwhy_quantity_number(shape, fit->curve.shape));
		kwhy_table_percent(&table, fit->rms_ratio);
		kwhy_table_percent(&table, fit->held_out_ratio);
		kwhy_table_cell(&table,
			form == (int)cap->chosen	    ? "chosen"
				: cap->is_alternative[form] ? "almost as good"
							    : "");
	}
	kwhy_table_write(&table, &page->style, &page->text);
}

static void write_advice(const struct kwhy_model_cap *answer, struct kwhy_model_page *page)
{
	for (int goal = 0; goal < KWHY_MODEL_CAP_GOALS; goal++) {
		const struct kwhy_cap_advice *advice = &answer->advice[goal];
		const char *verdict = verdict_names[advice->verdict];

		if (goal == KWHY_CAP_GOAL_SLOWDOWN)
			kwhy_text_context_linef(
				&page->context, "", "at most %g %% slower:", answer->slower_percent);
		else
			kwhy_text_context_linef(&page->context, "", "%s:", goal_names[goal]);
		if (isnan(advice->power_w.value)) {
			kwhy_text_context_linef(&page->context, "  ", "%s", verdict);
			continue;
		}
		kwhy_text_context_linef(&page->context, "  ",
			"%.4g W mean power (%.4g to %.4g), %s; energy %+.1f %%, time %+.1f %% against %.4g W",
			advice->power_w.value, advice->power_w.low, advice->power_w.high, verdict,
			100 * (advice->energy_ratio - 1), 100 * (advice->time_ratio - 1), answer->cap.most_w);
		if (isfinite(advice->cap_w))
			kwhy_text_context_linef(
				&page->context, "  ", "a limit of %.4g W gives that power", advice->cap_w);
	}
}

static void write_text(const struct kwhy_model_cap *answer, struct kwhy_model_page *page)
{
	const struct kwhy_cap *cap = &answer->cap;

	write_forms(cap, page);
	kwhy_text_add(&page->text, "\n");
	write_advice(answer, page);
	kwhy_text_context_linef(&page->context, "",
		"holds from %.4g to %.4g W mean power, where it was measured", cap->least_w, cap->most_w);
	if (cap->unbound_count)
		kwhy_text_context_linef(&page->context, "",
			"%zu of %zu limits do not bind: the device draws 5 %% or more below them",
			cap->unbound_count, cap->count);
}

static void write_fits_json(const struct kwhy_cap *cap, struct kwhy_json *json)
{
	kwhy_json_string(json, "chosen", kwhy_cap_form_name(cap->chosen));
	kwhy_json_real(json, "least_w", cap->least_w);
	kwhy_json_real(json, "most_w", cap->most_w);
	kwhy_json_count(json, "points", cap->count);
	kwhy_json_count(json, "unbound_points", cap->unbound_count);
	kwhy_json_array(json, "fits");
	for (int form = 0; form < KWHY_CAP_FORM_COUNT; form++) {
		const struct kwhy_cap_fit *fit = &cap->fits[form];

		kwhy_json_row(json, NULL);
		kwhy_json_string(json, "form", kwhy_cap_form_name((enum kwhy_cap_form)form));
		kwhy_json_real(json, "amplitude", fit->curve.amplitude);
		kwhy_json_real(json, "floor_w", fit->curve.floor_w);
		kwhy_json_real(json, "shape", fit->curve.shape);
		kwhy_json_real(json, "rms_ratio", fit->rms_ratio);
		kwhy_json_real(json, "held_out_ratio", fit->held_out_ratio);
		kwhy_json_bool(json, "rival", cap->is_alternative[form]);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

static void write_json(const struct kwhy_model_cap *answer, struct kwhy_json *json)
{
	static const char *const keys[KWHY_MODEL_CAP_GOALS] = {"energy", "energy_delay", "slowdown"};

	write_fits_json(&answer->cap, json);
	kwhy_json_real(json, "slower_ratio", answer->slower_percent / 100);
	kwhy_json_object(json, "advice");
	for (int goal = 0; goal < KWHY_MODEL_CAP_GOALS; goal++) {
		const struct kwhy_cap_advice *advice = &answer->advice[goal];

		kwhy_json_object(json, keys[goal]);
		kwhy_json_string(json, "verdict", verdict_keys[advice->verdict]);
		kwhy_interval_json(json, "power_w", advice->power_w);
		kwhy_json_real(json, "cap_w", advice->cap_w);
		kwhy_json_real(json, "energy_ratio", advice->energy_ratio);
		kwhy_json_real(json, "time_ratio", advice->time_ratio);
		kwhy_json_object_end(json);
	}
	kwhy_json_object_end(json);
}

void kwhy_model_cap_advise(struct kwhy_model_cap *answer)
{
	for (int goal = 0; goal < KWHY_MODEL_CAP_GOALS; goal++)
		kwhy_cap_advise(&answer->cap, (enum kwhy_cap_goal)goal, answer->slower_percent / 100,
			&answer->advice[goal]);
}

void kwhy_model_cap_write(const struct kwhy_model_cap *answer, struct kwhy_model_page *page)
{
	if (page->is_json)
		write_json(answer, &page->json);
	else
		write_text(answer, page);
}

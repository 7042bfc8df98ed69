/* SPDX-License-Identifier: Apache-2.0 */
#include "report/compare/parts.h"

#include "base/quantity.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void kwhy_compare_add_ratio(struct kwhy_table *table, double a, double b)
{
	char text[KWHY_QUANTITY_BYTES];

	if (!isfinite(a) || !isfinite(b)) {
		kwhy_table_cell(table, NULL);
		return;
	}
	if (a == 0)
		snprintf(text, sizeof(text), "%s", b == 0 ? "0 %" : "new");
	else
		snprintf(text, sizeof(text), "%+.1f %%", (b / a - 1) * 100);
	kwhy_table_cell(table, text);
}

const char *kwhy_compare_value(char out[KWHY_QUANTITY_BYTES], double value, const char *unit, int digits)
{
	char number[KWHY_QUANTITY_BYTES];

	if (!isfinite(value))
		return NULL;
	if (!*unit)
		return kwhy_quantity_percent(out, value);
	/*
	 * below 999, a rate gets no SI prefix, because 0.0164 per second would be written "16.4 m/s", which
	 * reads as metres per second
	 */
	if (strcmp(unit, "/s") != 0 || fabs(value) >= 999)
		return kwhy_quantity_si(out, value, unit, digits);
	snprintf(number, sizeof(number), "%.*g", digits, value);
	snprintf(out, KWHY_QUANTITY_BYTES, "%.20s /s", number);
	return out;
}

const char *kwhy_compare_count(char out[KWHY_QUANTITY_BYTES], double count)
{
	if ((count == floor(count) || count >= 999.5) && count >= 0 && count < 1e15)
		kwhy_quantity_count(out, (uint64_t)llround(count));
	else
		snprintf(out, KWHY_QUANTITY_BYTES, "%.4g", count);
	return out;
}

void kwhy_compare_add_change(struct kwhy_table *table, double change, const char *unit)
{
	char number[KWHY_QUANTITY_BYTES], text[KWHY_QUANTITY_BYTES + 2];

	if (isfinite(change) && *unit)
		snprintf(text, sizeof(text), "%s%s", change > 0 ? "+" : "",
			kwhy_compare_value(number, change, unit, 3));
	else
		snprintf(text, sizeof(text), "%+.1f points", change * 100);
	kwhy_table_cell(table, isfinite(change) ? text : NULL);
}

/*
 * Writes a ratio in percent with its sign and without the sign %: "+12.3", from 100 % on without decimals:
 * "+1234".
 */
static const char *show_percent(char out[KWHY_QUANTITY_BYTES], double ratio)
{
	snprintf(out, KWHY_QUANTITY_BYTES, "%+.*f", fabs(ratio) < 1 ? 1 : 0, 100 * ratio);
	return out;
}

void kwhy_compare_add_interval(
	struct kwhy_table *table, const struct kwhy_difference *difference, bool in_points)
{
	const double ends[2] = {in_points ? difference->low : difference->ratio_low,
		in_points ? difference->high : difference->ratio_high};
	char low[KWHY_QUANTITY_BYTES], high[KWHY_QUANTITY_BYTES], text[2 * KWHY_QUANTITY_BYTES + 4] = "";

	if (isfinite(ends[0]) && isfinite(ends[1]))
		snprintf(text, sizeof(text), "%s to %s", show_percent(low, ends[0]),
			show_percent(high, ends[1]));
	kwhy_table_cell(table, text);
	kwhy_table_cell(table,
		!kwhy_difference_is_known(difference)		     ? ""
			: kwhy_difference_is_significant(difference) ? "yes"
								     : "no");
}

const char *kwhy_compare_unit_words(char out[80], const struct kwhy_comparison *comparison)
{
	if (comparison->unit == KWHY_FOR_WORK)
		snprintf(out, 80, "one of %.60s", comparison->unit_name);
	else
		snprintf(out, 80, "%s",
			comparison->unit == KWHY_FOR_STEP ? "a step (run over steps)" : "the run");
	return out;
}

/*
 * Writes a value to which a condition is applied, in the unit of its figure; with `relative`, a change in
 * percent.
 */
static const char *show_value(
	char out[KWHY_QUANTITY_BYTES], const struct kwhy_condition *condition, double value, bool relative)
{
	if (relative)
		snprintf(out, KWHY_QUANTITY_BYTES, "%+.2f %%", value * 100);
	else if (!*condition->unit) /* a figure that is a ratio is written as a fraction, as limits of such
				       figures are in --fail-if */
		snprintf(out, KWHY_QUANTITY_BYTES, "%.4g", value);
	else
		kwhy_compare_value(out, value, condition->unit, 4);
	return out;
}

/* Adds the values of both sides, and the interval of the change, to the sentence about a condition. */
static void add_evidence(
	struct kwhy_text *out, const struct kwhy_condition *condition, const struct kwhy_verdict *verdict)
{
	char first[KWHY_QUANTITY_BYTES], second[KWHY_QUANTITY_BYTES];

	if (verdict->part)
		kwhy_text_addf(out, " at %s", verdict->part);
	if (condition->change)
		kwhy_text_addf(out, " (%s to %s)", show_value(first, condition, verdict->a, false),
			show_value(second, condition, verdict->b, false));
	if (isfinite(verdict->low) && isfinite(verdict->high))
		kwhy_text_addf(out, ", 95 %%: %s to %s",
			show_value(first, condition, verdict->low, condition->relative),
			show_value(second, condition, verdict->high, condition->relative));
	if (verdict->is_chance)
		kwhy_text_add(out, ", which cannot be distinguished from no change");
}

void kwhy_compare_conditions_text(
	const struct kwhy_text_context *context, const struct kwhy_conditions *conditions)
{
	if (conditions->count)
		kwhy_text_context_heading(context, "Conditions", NULL);
	for (size_t i = 0; i < conditions->count; i++) {
		const struct kwhy_condition *condition = &conditions->items[i];
		const struct kwhy_verdict *verdict = &conditions->verdicts[i];
		struct kwhy_text words = {0};
		char value[KWHY_QUANTITY_BYTES];

		if (condition->kind == KWHY_CONDITION_FINDING)
			kwhy_text_addf(&words, "%.0f new %s", verdict->value,
				verdict->value == 1 ? "kind" : "kinds");
		else
			kwhy_text_add(
				&words, show_value(value, condition, verdict->value, condition->relative));
		add_evidence(&words, condition, verdict);
		kwhy_text_context_linef(context, context->style->markdown ? "- " : "  ", "%s: %s, %s",
			condition->text, words.failed ? "" : words.data,
			verdict->exceeded ? "EXCEEDED" : "kept");
		context->out->failed |= words.failed;
		kwhy_text_done(&words);
	}
	if (conditions->count && context->style->markdown)
		kwhy_text_add(context->out, "\n"); /* ends the list */
}

void kwhy_compare_conditions_json(struct kwhy_json *json, const struct kwhy_conditions *conditions)
{
	kwhy_json_array(json, "conditions");
	for (size_t i = 0; i < conditions->count; i++) {
		const struct kwhy_verdict *verdict = &conditions->verdicts[i];

		kwhy_json_row(json, NULL);
		kwhy_json_string(json, "text", conditions->items[i].text);
		if (verdict->part)
			kwhy_json_string(json, "of", verdict->part);
		kwhy_json_real(json, "value", verdict->value);
		kwhy_json_real(json, "limit", conditions->items[i].limit);
		kwhy_json_real(json, "low", verdict->low);
		kwhy_json_real(json, "high", verdict->high);
		kwhy_json_bool(json, "exceeded", verdict->exceeded);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

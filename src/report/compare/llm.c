/* SPDX-License-Identifier: Apache-2.0 */
#include "report/compare/llm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- Comparison --- */

static const struct kwhy_read_llm_figure *figure_of(
	const struct kwhy_read_llm *run, const char *of, const char *name)
{
	for (size_t i = 0; i < run->figure_count; i++)
		if (strcmp(run->figures[i].of, of) == 0 && strcmp(run->figures[i].name, name) == 0)
			return &run->figures[i];
	return NULL;
}

/*
 * Sets the estimate of the figure `like` (its name and load) for a side: of a single run its own estimate, of
 * several runs the mean over the runs, or a count of 0 if the figure is unknown in one of the runs. `values`
 * is scratch memory for one number per run. Returns false if a run does not have the figure at all.
 */
static bool estimate_side(const struct kwhy_llm_side *side, const struct kwhy_read_llm_figure *like,
	struct kwhy_estimate *out, double *values)
{
	bool is_known = true;

	for (size_t i = 0; i < side->count; i++) {
		const struct kwhy_read_llm_figure *figure = figure_of(&side->items[i], like->of, like->name);

		if (!figure)
			return false;
		values[i] = figure->estimate.mean;
		is_known &= figure->estimate.count > 0;
		*out = figure->estimate;
	}
	if (side->count > 1)
		kwhy_estimate_of(values, side->count, out);
	if (!is_known)
		*out = (struct kwhy_estimate){0, NAN, NAN, NAN, NAN, NAN, NAN};
	return true;
}

static bool is_unpaired(const struct kwhy_llm_comparison *comparison, const char *of)
{
	for (size_t i = 0; i < comparison->unpaired_count; i++)
		if (strcmp(comparison->unpaired[i], of) == 0)
			return true;
	return false;
}

/* Adds to `unpaired` the loads and request lengths that `other` has and `run` lacks, each once. */
static void find_unpaired(
	struct kwhy_llm_comparison *out, const struct kwhy_read_llm *run, const struct kwhy_read_llm *other)
{
	for (size_t i = 0; i < other->figure_count; i++) {
		const struct kwhy_read_llm_figure *figure = &other->figures[i];
		bool found = false;

		for (size_t k = 0; k < run->figure_count && !found; k++)
			found = strcmp(run->figures[k].of, figure->of) == 0;
		if (!found && !is_unpaired(out, figure->of))
			out->unpaired[out->unpaired_count++] = figure->of;
	}
}

/*
 * Appends to out->changes the figures that both sides know (`known` is true) or those that at least one side
 * does not know (false). Figures of loads that not all runs have are left out.
 */
static void add_changes(struct kwhy_llm_comparison *out, bool known, double *values)
{
	const struct kwhy_read_llm *first = &out->sides[0].items[0];

	for (size_t i = 0; i < first->figure_count; i++) {
		const struct kwhy_read_llm_figure *figure = &first->figures[i];
		size_t at = out->change_count + out->unknown_count;
		struct kwhy_figure_change change = {
			.name = figure->name, .of = figure->of, .unit = figure->unit};

		if (is_unpaired(out, figure->of) ||
			!estimate_side(&out->sides[0], figure, &change.a, values) ||
			!estimate_side(&out->sides[1], figure, &change.b, values) ||
			(change.a.count && change.b.count) != known)
			continue;
		kwhy_difference_of(&change.a, &change.b, &change.difference);
		out->changes[at] = change;
		out->is_main[at] = figure->is_main;
		*(known ? &out->change_count : &out->unknown_count) += 1;
	}
}

static enum kwhy_status reserve(struct kwhy_llm_comparison *out, struct kwhy_error *error)
{
	size_t figures = 0, count = out->sides[0].items[0].figure_count;

	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; i < out->sides[side].count; i++)
			figures += out->sides[side].items[i].figure_count;
	out->changes = kwhy_arena_alloc(&out->arena, count, sizeof(*out->changes));
	out->is_main = kwhy_arena_alloc(&out->arena, count, sizeof(*out->is_main));
	out->unpaired = kwhy_arena_alloc(&out->arena, figures, sizeof(*out->unpaired));
	return out->changes && out->is_main && out->unpaired ? KWHY_OK
							     : kwhy_fail_memory(error, "the comparison");
}

/* Whether at least one load of the first run of A is in all other runs of both sides. */
static bool shares_load(const struct kwhy_llm_comparison *comparison)
{
	const struct kwhy_read_llm *first = &comparison->sides[0].items[0];

	for (size_t i = 0; i < first->load_count; i++)
		if (!is_unpaired(comparison, first->loads[i]))
			return true;
	return false;
}

enum kwhy_status kwhy_compare_llm(
	struct kwhy_llm_comparison *out, const struct kwhy_llm_side sides[2], struct kwhy_error *error)
{
	const struct kwhy_read_llm *first = &sides[0].items[0];
	size_t most = sides[0].count > sides[1].count ? sides[0].count : sides[1].count;
	enum kwhy_status status;
	double *values;

	*out = (struct kwhy_llm_comparison){.sides = {sides[0], sides[1]}};
	status = reserve(out, error);
	if (status)
		return status;
	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; i < sides[side].count; i++) {
			find_unpaired(out, &sides[side].items[i], first);
			find_unpaired(out, first, &sides[side].items[i]);
		}
	if (!shares_load(out))
		return kwhy_fail(error, KWHY_E_INPUT,
			"no load is in all results: %.200s has '%.60s', for example; give kwhy llm the same "
			"loads",
			first->label, first->loads[0]);
	values = calloc(most, sizeof(*values));
	if (!values)
		return kwhy_fail_memory(error, "the comparison");
	add_changes(out, true, values);
	add_changes(out, false, values);
	free(values);
	return KWHY_OK;
}

void kwhy_compare_llm_done(struct kwhy_llm_comparison *comparison)
{
	kwhy_arena_done(&comparison->arena);
	*comparison = (struct kwhy_llm_comparison){0};
}

/* --- Conditions --- */

enum kwhy_status kwhy_compare_llm_condition(
	const char *text, struct kwhy_condition *out, struct kwhy_error *error)
{
	struct kwhy_named_figure *figures;
	enum kwhy_status status;
	size_t count = 0;

	while (kwhy_read_llm_name_at(count).name)
		count++;
	figures = calloc(count, sizeof(*figures));
	if (!figures)
		return kwhy_fail_memory(error, "the conditions");
	for (size_t i = 0; i < count; i++)
		figures[i] = (struct kwhy_named_figure){
			kwhy_read_llm_name_at(i).name, kwhy_read_llm_name_at(i).unit};
	status = kwhy_condition_parse_named(text, figures, count, out, error);
	free(figures);
	return status;
}

/*
 * By how much a verdict's value is beyond the limit of its condition, in the limit's unit; at most 0: the
 * condition does not hold. If the change may be chance, the result is at most 0.
 */
static double excess_of(const struct kwhy_condition *condition, const struct kwhy_verdict *verdict)
{
	double excess = condition->above ? verdict->value - condition->limit
					 : condition->limit - verdict->value;

	return verdict->is_chance ? fmin(excess, 0) : excess;
}

enum kwhy_status kwhy_compare_llm_check(const struct kwhy_condition *condition,
	const struct kwhy_llm_comparison *comparison, struct kwhy_verdict *out, struct kwhy_error *error)
{
	size_t count = comparison->change_count + comparison->unknown_count, found = 0;

	for (size_t i = 0; i < count; i++) {
		const struct kwhy_figure_change *figure = &comparison->changes[i];
		const struct kwhy_change change = {figure->a, figure->b, figure->difference};
		struct kwhy_verdict verdict;
		bool lacks_a = condition->change && !figure->a.count;

		if (strcmp(figure->name, condition->name) != 0 ||
			(*condition->part && strcmp(figure->of, condition->part) != 0))
			continue;
		if (lacks_a || !figure->b.count)
			return kwhy_fail(error, KWHY_E_INPUT,
				"--fail-if '%.100s' cannot be decided: %s of '%.60s' is not known in %.200s; "
				"run "
				"more --seconds, or name another load, as in '%s:8 concurrent'",
				condition->text, figure->name, figure->of,
				comparison->sides[!lacks_a].items[0].label, figure->name);
		verdict = kwhy_condition_judge(condition, &change, true);
		verdict.part = figure->of;
		if (!found++ || excess_of(condition, &verdict) > excess_of(condition, out))
			*out = verdict;
	}
	if (found)
		return KWHY_OK;
	return kwhy_fail(error, KWHY_E_USAGE, "--fail-if '%.100s': the results have no %s%s%.60s%s in common",
		condition->text, condition->name, *condition->part ? " of '" : "", condition->part,
		*condition->part ? "'" : "");
}

/* --- Text --- */

/* Whether a list of items, separated by "; ", has `text` as an item. */
static bool has_item(const struct kwhy_text *list, const char *text)
{
	size_t length = strlen(text);

	for (const char *at = list->data; at; at = strstr(at, "; "), at += at ? 2 : 0)
		if (strncmp(at, text, length) == 0 && (!at[length] || at[length] == ';'))
			return true;
	return false;
}

static void add_once(struct kwhy_text *list, const char *text)
{
	if (*text && !has_item(list, text))
		kwhy_text_addf(list, "%s%s", list->length ? "; " : "", text);
}

static void write_side(
	const struct kwhy_text_context *context, const struct kwhy_llm_side *side, const char *label)
{
	struct kwhy_text models = {0}, urls = {0}, files = {0};

	for (size_t i = 0; i < side->count; i++) {
		add_once(&models, side->items[i].model);
		add_once(&urls, side->items[i].url);
	}
	kwhy_text_addf(&files, "%s", side->items[0].label);
	if (side->count > 1)
		kwhy_text_addf(&files, " and %zu more", side->count - 1);
	kwhy_text_context_linef(context, label, "%s: model %s at %s", files.failed ? "" : files.data,
		models.data ? models.data : "unknown", urls.data ? urls.data : "an unknown server");
	kwhy_text_done(&models);
	kwhy_text_done(&urls);
	kwhy_text_done(&files);
}

/*
 * Warns if the runs sent different requests or used different latency limits for good answers (SLO), and
 * lists the loads that are not compared.
 */
static void write_warnings(
	const struct kwhy_llm_comparison *comparison, const struct kwhy_text_context *context)
{
	struct kwhy_text asked = {0}, limits = {0}, unpaired = {0};

	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; i < comparison->sides[side].count; i++) {
			add_once(&asked, comparison->sides[side].items[i].asked);
			add_once(&limits, comparison->sides[side].items[i].slo);
		}
	for (size_t i = 0; i < comparison->unpaired_count; i++)
		kwhy_text_addf(&unpaired, "%s%s", i ? ", " : "", comparison->unpaired[i]);
	if (asked.data && strchr(asked.data, ';'))
		kwhy_text_context_linef(context, "!  ", "the requests differ: %s", asked.data);
	if (limits.data && strchr(limits.data, ';'))
		kwhy_text_context_linef(context, "!  ", "the limits of good answers differ: %s", limits.data);
	if (unpaired.data)
		kwhy_text_context_linef(
			context, "!  ", "not compared, since not all results have it: %s", unpaired.data);
	context->out->failed |= asked.failed || limits.failed || unpaired.failed;
	kwhy_text_done(&asked);
	kwhy_text_done(&limits);
	kwhy_text_done(&unpaired);
}

/*
 * Writes the changes of the main figures (is_main) or, with --verbose, of all figures, under one heading for
 * each load.
 */
static enum kwhy_status write_changes(const struct kwhy_llm_comparison *comparison,
	const struct kwhy_text_context *context, struct kwhy_error *error)
{
	struct kwhy_figure_change *shown = calloc(comparison->change_count + 1, sizeof(*shown));
	size_t count = 0;

	if (!shown)
		return kwhy_fail_memory(error, "the comparison");
	for (size_t i = 0; i < comparison->change_count; i++)
		if (comparison->is_main[i] || context->style->verbose)
			shown[count++] = comparison->changes[i];
	for (size_t at = 0, length; at < count; at += length) {
		for (length = 1; at + length < count && strcmp(shown[at].of, shown[at + length].of) == 0;
			length++)
			;
		kwhy_text_context_heading(context, shown[at].of, NULL);
		kwhy_compare_changes_text(shown + at, length, false, context);
	}
	free(shown);
	kwhy_text_add(context->out, "\n");
	kwhy_text_context_paragraph(context, "  ",
		comparison->sides[0].count + comparison->sides[1].count > 2
			? "means over the runs of each side; the interval is that of the change, by Welch's "
			  "t over "
			  "the runs; of a single run compared with several, their scatter and its meter"
			: "single runs: intervals are those of the meters and of the fit, where there are "
			  "any; they "
			  "do not show how much runs of one server differ. Several runs of each side do: A1 "
			  "A2 -- "
			  "B1 B2");
	return KWHY_OK;
}

enum kwhy_status kwhy_compare_llm_text(const struct kwhy_llm_comparison *comparison,
	const struct kwhy_conditions *conditions, const struct kwhy_text_style *style, struct kwhy_text *out,
	struct kwhy_error *error)
{
	struct kwhy_text_context context = {.style = style, .out = out};
	enum kwhy_status status;

	write_side(&context, &comparison->sides[0], "A  ");
	write_side(&context, &comparison->sides[1], "B  ");
	write_warnings(comparison, &context);
	if (style->markdown)
		kwhy_compare_conditions_text(&context, conditions);
	status = write_changes(comparison, &context, error);
	if (!status && !style->markdown)
		kwhy_compare_conditions_text(&context, conditions);
	return status ? status : kwhy_text_check(out, error);
}

/* --- JSON --- */

static void write_json_side(struct kwhy_json *json, const char *key, const struct kwhy_llm_side *side)
{
	kwhy_json_array(json, key);
	for (size_t i = 0; i < side->count; i++) {
		kwhy_json_row(json, NULL);
		kwhy_json_string(json, "path", side->items[i].label);
		kwhy_json_string(json, "url", side->items[i].url);
		kwhy_json_string(json, "model", side->items[i].model);
		kwhy_json_string(json, "asked", side->items[i].asked);
		kwhy_json_string(json, "slo", *side->items[i].slo ? side->items[i].slo : NULL);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

enum kwhy_status kwhy_compare_llm_json(const struct kwhy_llm_comparison *comparison,
	const struct kwhy_conditions *conditions, struct kwhy_text *out, struct kwhy_error *error)
{
	struct kwhy_json json;

	kwhy_json_init(&json, out);
	kwhy_json_object(&json, NULL);
	kwhy_json_string(&json, "schema", "kwhy.compare-llm/1");
	write_json_side(&json, "a", &comparison->sides[0]);
	write_json_side(&json, "b", &comparison->sides[1]);
	kwhy_compare_changes_json(&json, comparison->changes, comparison->change_count, "of");
	kwhy_json_array(&json, "not_compared");
	for (size_t i = 0; i < comparison->unpaired_count; i++)
		kwhy_json_string(&json, NULL, comparison->unpaired[i]);
	kwhy_json_array_end(&json);
	kwhy_compare_conditions_json(&json, conditions);
	kwhy_json_object_end(&json);
	return kwhy_text_check(out, error);
}

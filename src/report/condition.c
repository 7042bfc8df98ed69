/* SPDX-License-Identifier: Apache-2.0 */
#include "report/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Conditions of --fail-if: FIGURE, then '>' or '<', then a limit with its unit; or "finding:new". The table
 * lists the units in which a limit may be written, each with the unit of the figure (base) and the factor
 * that converts the number to it.
 */

static const struct {
	const char *unit, *base;
	double factor;
} units[] = {
	{"J", "J", 1},
	{"mJ", "J", 1e-3},
	{"kJ", "J", 1e3},
	{"uJ", "J", 1e-6},
	{"nJ", "J", 1e-9},
	{"pJ", "J", 1e-12},
	{"Wh", "J", 3600},
	{"kWh", "J", 3.6e6},
	{"s", "s", 1},
	{"ms", "s", 1e-3},
	{"us", "s", 1e-6},
	{"W", "W", 1},
	{"mW", "W", 1e-3},
	{"kW", "W", 1e3},
	{"/s", "/s", 1},
	{"", "/s", 1},
	{"points", "", 0.01},
	{"", "", 1},
};

/*
 * What a condition may begin with, besides the names of figures. A name that ends in ':' is followed by the
 * name of an account or by a unit of work. `unit` is the unit of the figure, `argument` the word for what
 * follows in messages; `cure` says what makes an unknown figure known.
 */
static const struct gate {
	const char *name;
	enum kwhy_condition_kind kind;
	const char *unit, *argument, *cure;
} gates[] = {
	{"throughput:", KWHY_CONDITION_RATE, "/s", "UNIT", ""},
	{"account-time:", KWHY_CONDITION_ACCOUNT_TIME, "s", "NAME", ""},
	{"account-energy:", KWHY_CONDITION_ACCOUNT_ENERGY, "J", "NAME", "give its power readings"},
	{"account:", KWHY_CONDITION_ACCOUNT, "J", "NAME", "give its power readings"},
	{"each:", KWHY_CONDITION_EACH, "J", "UNIT", "give its power readings"},
};

/* For each figure: why it is unknown, or what makes it known; written after "not known in 'FILE': ". */
static const char *const cures[KWHY_FIGURE_COUNT] = {
	[KWHY_FIGURE_THROUGHPUT] = "kernels do not agree on how much was done; state --work or --steps",
	[KWHY_FIGURE_STEP] = "it has no steps; name its ranges with --steps",
	[KWHY_FIGURE_STEP_ENERGY] = "name the ranges of its steps with --steps, and give its power readings",
	[KWHY_FIGURE_TIME] = "it has no activities",
	[KWHY_FIGURE_ENERGY] = "give its power readings",
	[KWHY_FIGURE_RUN] = "give its power readings",
	[KWHY_FIGURE_IDLE] = "give its power readings",
	[KWHY_FIGURE_POWER] = "give its power readings",
	[KWHY_FIGURE_BUSY_RATIO] = "it has no activities",
	[KWHY_FIGURE_IDLE_RATIO] = "it has no activities",
};

static const char finding_new[] = "finding:new";

/*
 * Fails with KWHY_E_USAGE, as the first `length` bytes of `text` name no figure. `list` has the names of all
 * figures for the message, and is freed.
 */
static enum kwhy_status fail_name(
	const char *text, size_t length, struct kwhy_text *list, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_fail(error, KWHY_E_USAGE,
		"--fail-if '%.100s': there is no figure '%.*s'; there are %s", text,
		(int)(length > 60 ? 60 : length), text, list->failed ? "" : list->data);

	kwhy_text_done(list);
	return status;
}

static enum kwhy_status fail_run_name(const char *text, size_t length, struct kwhy_error *error)
{
	struct kwhy_text list = {0};

	for (int i = 0; i < KWHY_FIGURE_COUNT; i++)
		kwhy_text_addf(&list, "%s, ", kwhy_figure_name((enum kwhy_figure)i));
	for (size_t i = 0; i < sizeof(gates) / sizeof(gates[0]); i++)
		kwhy_text_addf(&list, "%s%s, ", gates[i].name, gates[i].argument);
	kwhy_text_add(&list, finding_new);
	return fail_name(text, length, &list, error);
}

/*
 * The last '>' or '<' in the text, which separates the figure from its limit; NULL: there is none. The name
 * of an account may contain such characters, too, as in "h2d pageable->device".
 */
static const char *find_sign(const char *text)
{
	const char *sign = NULL;

	for (; *text; text++)
		if (*text == '>' || *text == '<')
			sign = text;
	return sign;
}

static bool read_figure(struct kwhy_condition *condition, const char *text, size_t length)
{
	for (size_t i = 0; i < sizeof(gates) / sizeof(gates[0]); i++) {
		size_t skip = strlen(gates[i].name);

		if (length <= skip || strncmp(text, gates[i].name, skip) != 0)
			continue;
		condition->kind = gates[i].kind;
		condition->unit = gates[i].unit;
		snprintf(condition->name, sizeof(condition->name), "%.*s", (int)(length - skip), text + skip);
		return length - skip < sizeof(condition->name);
	}
	for (int i = 0; i < KWHY_FIGURE_COUNT; i++)
		if (strlen(kwhy_figure_name((enum kwhy_figure)i)) == length &&
			strncmp(kwhy_figure_name((enum kwhy_figure)i), text, length) == 0) {
			condition->figure = (enum kwhy_figure)i;
			condition->unit = kwhy_figure_unit((enum kwhy_figure)i);
			return true;
		}
	return false;
}

static bool read_limit(struct kwhy_condition *condition, const char *text)
{
	char *end;
	double number = strtod(text, &end);

	if (end == text || !isfinite(number))
		return false;
	end += strspn(end, " ");
	condition->relative = strcmp(end, "%") == 0;
	condition->change = *text == '+' || *text == '-' || condition->relative;
	condition->limit = number / 100;
	if (condition->relative)
		return true;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(units[i].unit, end) == 0 && strcmp(units[i].base, condition->unit) == 0) {
			condition->limit = number * units[i].factor;
			return true;
		}
	return false;
}

/*
 * Fails with KWHY_E_USAGE, as what follows '>' or '<' is no number with a unit of the figure; the message
 * lists these units.
 */
static enum kwhy_status fail_limit(const struct kwhy_condition *condition, struct kwhy_error *error)
{
	struct kwhy_text list = {0};
	enum kwhy_status status;

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (*units[i].unit && strcmp(units[i].base, condition->unit) == 0)
			kwhy_text_addf(&list, "%s, ", units[i].unit);
	status = kwhy_fail(error, KWHY_E_USAGE,
		"--fail-if '%.100s': after '%c' comes a number with its unit, one of %s%%%s; a sign, as in "
		"'+3%%', makes it a change from A to B",
		condition->text, condition->above ? '>' : '<', list.failed ? "" : list.data,
		*condition->unit ? "" : ", or none");
	kwhy_text_done(&list);
	return status;
}

/*
 * Length in bytes of the figure's name: of the text before the last '>' or '<' or, without one, of the whole
 * text, less spaces at its end.
 */
static size_t name_length(const char *text)
{
	const char *sign = find_sign(text), *end = sign ? sign : text + strlen(text);

	while (end > text && end[-1] == ' ')
		end--;
	return (size_t)(end - text);
}

/* Reads '>' or '<' and the limit. KWHY_E_USAGE: one of them is missing or the limit has a wrong unit. */
static enum kwhy_status read_rest(struct kwhy_condition *condition, struct kwhy_error *error)
{
	const char *sign = find_sign(condition->text);

	if (!sign)
		return kwhy_fail(error, KWHY_E_USAGE,
			"--fail-if '%.100s': has no '>' or '<'; write it like 'step>+3%%' or 'power>300W'",
			condition->text);
	condition->above = *sign == '>';
	if (!read_limit(condition, sign + 1 + strspn(sign + 1, " ")))
		return fail_limit(condition, error);
	return KWHY_OK;
}

enum kwhy_status kwhy_condition_parse_named(const char *text, const struct kwhy_named_figure *figures,
	size_t count, struct kwhy_condition *out, struct kwhy_error *error)
{
	struct kwhy_text list = {0};
	size_t length = name_length(text), part = strcspn(text, ":");

	*out = (struct kwhy_condition){.text = text, .unit = "", .kind = KWHY_CONDITION_NAMED};
	part = part < length ? part : length;
	snprintf(out->name, sizeof(out->name), "%.*s", (int)(part < 100 ? part : 100), text);
	if (part < length)
		snprintf(out->part, sizeof(out->part), "%.*s",
			(int)(length - part - 1 < 99 ? length - part - 1 : 99), text + part + 1);
	for (size_t i = 0; i < count; i++) {
		if (strcmp(figures[i].name, out->name) == 0) {
			kwhy_text_done(&list);
			out->unit = figures[i].unit;
			return read_rest(out, error);
		}
		kwhy_text_addf(&list, "%s%s", i ? ", " : "", figures[i].name);
	}
	return fail_name(text, part, &list, error);
}

enum kwhy_status kwhy_condition_parse(const char *text, struct kwhy_condition *out, struct kwhy_error *error)
{
	struct kwhy_condition condition = {.text = text, .unit = ""};
	enum kwhy_status status;

	if (strcmp(text, finding_new) == 0) {
		condition.kind = KWHY_CONDITION_FINDING;
		condition.above = true;
		*out = condition;
		return KWHY_OK;
	}
	if (!read_figure(&condition, text, name_length(text)))
		return fail_run_name(text, name_length(text), error);
	status = read_rest(&condition, error);
	if (!status)
		*out = condition;
	return status;
}

/*
 * Finds the account that the condition names: the first with exactly this name or, if there is none, the only
 * one whose name contains it. KWHY_E_USAGE: no account or several accounts contain it.
 */
static enum kwhy_status find_pair(const struct kwhy_condition *condition,
	const struct kwhy_comparison *comparison, const struct kwhy_account_pair **out,
	struct kwhy_error *error)
{
	size_t parts = 0;

	for (size_t i = 0; i < comparison->pair_count; i++)
		if (strcmp(comparison->pairs[i].name, condition->name) == 0) {
			*out = &comparison->pairs[i];
			return KWHY_OK;
		}
	for (size_t i = 0; i < comparison->pair_count; i++)
		if (strstr(comparison->pairs[i].name, condition->name)) {
			*out = &comparison->pairs[i];
			parts++;
		}
	if (parts == 1)
		return KWHY_OK;
	return kwhy_fail(error, KWHY_E_USAGE,
		"--fail-if '%.100s': %s; kwhy report --csv accounts lists the names", condition->text,
		parts ? "several accounts have that in their names" : "no account has that name");
}

/*
 * The throughput in the unit of work that the condition names, or in steps found from ranges if it names
 * "steps" and B states no such work. KWHY_E_USAGE: the throughput of B is unknown, as B does not state the
 * work or has no steps; or that of A is unknown and the condition is on a change.
 */
static enum kwhy_status read_rate(const struct kwhy_condition *condition,
	const struct kwhy_comparison *comparison, struct kwhy_change *out, struct kwhy_error *error)
{
	const bool steps = strcmp(condition->name, "steps") == 0 &&
		!kwhy_side_work_of(comparison->b, condition->name);
	const struct kwhy_rate rate = {steps ? KWHY_RATE_STEPS : KWHY_RATE_WORK, condition->name, NULL};

	*out = kwhy_change_of_rate(comparison, &rate);
	if (isfinite(out->b.mean) && (isfinite(out->a.mean) || !condition->change))
		return KWHY_OK;
	return kwhy_fail(error, KWHY_E_USAGE, "--fail-if '%.100s': '%.200s' %s", condition->text,
		isfinite(out->b.mean) ? comparison->a->label : comparison->b->label,
		steps ? "has no steps; name its ranges with --steps"
		      : "has no work in that unit; kwhy report and kwhy stat take it with --work");
}

static enum kwhy_status read_each(const struct kwhy_condition *condition,
	const struct kwhy_comparison *comparison, struct kwhy_change *out, struct kwhy_error *error)
{
	const struct kwhy_side *const sides[2] = {comparison->a, comparison->b};

	for (size_t i = 0; i < 2; i++) {
		if (i == 0 && !condition->change)
			continue; /* a condition on B's value alone needs no work of A */
		if (!kwhy_side_work_of(sides[i], condition->name))
			return kwhy_fail(error, KWHY_E_USAGE,
				"--fail-if '%.100s': '%.200s' has no work in that unit; kwhy report and kwhy "
				"stat take it with --work",
				condition->text, sides[i]->label);
	}
	*out = kwhy_change_of_each(comparison, condition->name);
	return KWHY_OK;
}

static enum kwhy_status read_change(const struct kwhy_condition *condition,
	const struct kwhy_comparison *comparison, struct kwhy_change *out, struct kwhy_error *error)
{
	const struct kwhy_account_pair *pair = NULL;
	enum kwhy_status status;

	if (condition->kind == KWHY_CONDITION_FIGURE) {
		*out = kwhy_change_of_figure(comparison, condition->figure);
		return KWHY_OK;
	}
	if (condition->kind == KWHY_CONDITION_EACH)
		return read_each(condition, comparison, out, error);
	if (condition->kind == KWHY_CONDITION_RATE)
		return read_rate(condition, comparison, out, error);
	status = find_pair(condition, comparison, &pair, error);
	if (status)
		return status;
	*out = condition->kind == KWHY_CONDITION_ACCOUNT	 ? kwhy_change_of_account(comparison, pair)
		: condition->kind == KWHY_CONDITION_ACCOUNT_TIME ? pair->time
								 : pair->energy;
	return KWHY_OK;
}

static const char *cure_of(const struct kwhy_condition *condition)
{
	if (condition->kind == KWHY_CONDITION_FIGURE)
		return cures[condition->figure];
	for (size_t i = 0; i < sizeof(gates) / sizeof(gates[0]); i++)
		if (gates[i].kind == condition->kind)
			return gates[i].cure;
	return "";
}

/*
 * The verdict on "finding:new": its value is the number of kinds of findings (ids) that B has and A lacks;
 * the condition holds if that is above 0.
 */
static struct kwhy_verdict check_findings(const struct kwhy_comparison *comparison)
{
	const struct kwhy_side *a = comparison->a, *b = comparison->b;
	double fresh = 0;

	for (size_t i = 0; i < b->finding_count; i++)
		fresh += !kwhy_side_has_finding(a, b->findings[i].id) &&
			(!i || strcmp(b->findings[i].id, b->findings[i - 1].id) != 0);
	return (struct kwhy_verdict){fresh, NAN, NAN, NAN, NAN, false, fresh > 0, NULL};
}

struct kwhy_verdict kwhy_condition_judge(
	const struct kwhy_condition *condition, const struct kwhy_change *change, bool with_interval)
{
	const struct kwhy_difference *difference = &change->difference;
	double a = change->a.mean, b = change->b.mean, value = condition->change ? b - a : b;
	struct kwhy_verdict verdict;

	if (condition->relative && value != 0)
		value = a != 0 ? value / fabs(a) : copysign(INFINITY, value);
	verdict = (struct kwhy_verdict){value, a, b, NAN, NAN, false,
		condition->above ? value > condition->limit : value < condition->limit, NULL};
	if (!condition->change || !with_interval || !kwhy_difference_is_known(difference))
		return verdict;
	verdict.low = condition->relative ? difference->ratio_low : difference->low;
	verdict.high = condition->relative ? difference->ratio_high : difference->high;
	verdict.is_chance = !kwhy_difference_is_significant(difference);
	verdict.exceeded &= !verdict.is_chance;
	return verdict;
}

enum kwhy_status kwhy_condition_check(const struct kwhy_condition *condition,
	const struct kwhy_comparison *comparison, struct kwhy_verdict *out, struct kwhy_error *error)
{
	struct kwhy_change change;
	enum kwhy_status status;
	double a, b;

	if (condition->kind == KWHY_CONDITION_FINDING) {
		*out = check_findings(comparison);
		return KWHY_OK;
	}
	status = read_change(condition, comparison, &change, error);
	if (status)
		return status;
	a = change.a.mean;
	b = change.b.mean;
	if ((condition->change && !isfinite(a)) || !isfinite(b))
		return kwhy_fail(error, KWHY_E_INPUT,
			"--fail-if '%.100s' cannot be decided: not known in '%.200s': %s", condition->text,
			condition->change && !isfinite(a) ? comparison->a->label : comparison->b->label,
			cure_of(condition));
	*out = kwhy_condition_judge(condition, &change, kwhy_comparison_is_repeated(comparison));
	return KWHY_OK;
}

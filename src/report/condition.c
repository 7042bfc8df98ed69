/* SPDX-License-Identifier: Apache-2.0 */
#include "report/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Figures and units of the conditions of --fail-if. A condition is FIGURE, then '>' or '<', then a number
 * with its unit.
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
	{"", "", 1},
};

static enum kwhy_status fail(const char *text, const char *why, struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_USAGE,
		"--fail-if '%.100s': %s; write it like 'energy>+3%%', 'time>+0.5s', 'power>300W', "
		"'account:NAME>+1J' or 'each:tokens>+3%%' (figures: energy, run, time, power, busy_ratio, "
		"idle)",
		text, why);
}

/*
 * Position of the '>' or '<' after the name. The name may itself contain such signs, as in h2d
 * pageable->device.
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
	static const struct {
		const char *lead;
		enum kwhy_condition_kind kind;
	} named[] = {{"account:", KWHY_CONDITION_ACCOUNT}, {"each:", KWHY_CONDITION_EACH}};

	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
		size_t skip = strlen(named[i].lead);

		if (length <= skip || strncmp(text, named[i].lead, skip) != 0)
			continue;
		condition->kind = named[i].kind;
		snprintf(condition->name, sizeof(condition->name), "%.*s", (int)(length - skip), text + skip);
		return length - skip < sizeof(condition->name);
	}
	for (int i = 0; i < KWHY_FIGURE_COUNT; i++)
		if (strlen(kwhy_figure_name((enum kwhy_figure)i)) == length &&
			strncmp(kwhy_figure_name((enum kwhy_figure)i), text, length) == 0) {
			condition->figure = (enum kwhy_figure)i;
			return true;
		}
	return false;
}

static bool read_limit(struct kwhy_condition *condition, const char *text)
{
	const char *base = condition->kind == KWHY_CONDITION_FIGURE ? kwhy_figure_unit(condition->figure)
								    : "J";
	char *end;
	double number = strtod(text, &end);

	if (end == text || !isfinite(number))
		return false;
	end += strspn(end, " ");
	condition->change = *text == '+' || *text == '-' || *end == '%';
	condition->relative = strcmp(end, "%") == 0;
	condition->limit = number / 100;
	if (condition->relative)
		return true;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(units[i].unit, end) == 0 && strcmp(units[i].base, base) == 0) {
			condition->limit = number * units[i].factor;
			return true;
		}
	return false;
}

enum kwhy_status kwhy_condition_parse(const char *text, struct kwhy_condition *out, struct kwhy_error *error)
{
	struct kwhy_condition condition = {.text = text};
	const char *sign = find_sign(text), *end = sign;

	if (!sign)
		return fail(text, "has no '>' or '<'", error);
	while (end > text && end[-1] == ' ')
		end--;
	if (!read_figure(&condition, text, (size_t)(end - text)))
		return fail(text, "names no figure", error);
	condition.above = *sign == '>';
	if (!read_limit(&condition, sign + 1 + strspn(sign + 1, " ")))
		return fail(text,
			"states no number in J, mJ, uJ, nJ, pJ, kJ, Wh, kWh, s, ms, us, W, mW, kW or %, as "
			"fits",
			error);
	*out = condition;
	return KWHY_OK;
}

/*
 * Finds the account with exactly that name or, if there is none, the only account whose name contains it.
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

static double account_joules(const struct kwhy_side *side, const struct kwhy_side_account *account)
{
	if (!account)
		return side->energy_nj == KWHY_UNKNOWN_NJ ? NAN : 0;
	return account->gross_nj == KWHY_UNKNOWN_NJ ? NAN : (double)account->gross_nj * 1e-9;
}

static enum kwhy_status read_each(const struct kwhy_condition *condition,
	const struct kwhy_comparison *comparison, double values[2], struct kwhy_error *error)
{
	const struct kwhy_side *const sides[2] = {comparison->a, comparison->b};

	for (size_t i = 0; i < 2; i++) {
		const struct kwhy_side_work *work = kwhy_side_work_of(sides[i], condition->name);

		if (!work && i == 0 && !condition->change)
			continue; /* such a condition needs no value of A */
		if (!work)
			return kwhy_fail(error, KWHY_E_USAGE,
				"--fail-if '%.100s': '%.200s' has no work in that unit; kwhy report and kwhy "
				"stat take it with --work",
				condition->text, sides[i]->label);
		values[i] = work->each_j;
	}
	return KWHY_OK;
}

static enum kwhy_status read_values(const struct kwhy_condition *condition,
	const struct kwhy_comparison *comparison, double values[2], struct kwhy_error *error)
{
	const struct kwhy_account_pair *pair = NULL;
	enum kwhy_status status;

	if (condition->kind == KWHY_CONDITION_FIGURE) {
		values[0] = kwhy_figure_of(comparison->a, condition->figure);
		values[1] = kwhy_figure_of(comparison->b, condition->figure);
		return KWHY_OK;
	}
	if (condition->kind == KWHY_CONDITION_EACH)
		return read_each(condition, comparison, values, error);
	status = find_pair(condition, comparison, &pair, error);
	if (status)
		return status;
	values[0] = account_joules(comparison->a, pair->a);
	values[1] = account_joules(comparison->b, pair->b);
	return KWHY_OK;
}

enum kwhy_status kwhy_condition_check(const struct kwhy_condition *condition,
	const struct kwhy_comparison *comparison, struct kwhy_verdict *out, struct kwhy_error *error)
{
	double values[2] = {NAN, NAN}, value;
	enum kwhy_status status = read_values(condition, comparison, values, error);
	bool a_unknown = condition->change && !isfinite(values[0]);

	if (status)
		return status;
	if (a_unknown || !isfinite(values[1]))
		return kwhy_fail(error, KWHY_E_INPUT,
			"--fail-if '%.100s' cannot be decided: not known in '%.200s'; give its power "
			"readings",
			condition->text, a_unknown ? comparison->a->label : comparison->b->label);
	value = condition->change ? values[1] - values[0] : values[1];
	if (condition->relative && value != 0)
		value = values[0] != 0 ? value / fabs(values[0]) : copysign(INFINITY, value);
	*out = (struct kwhy_verdict){
		value, condition->above ? value > condition->limit : value < condition->limit};
	return KWHY_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "report/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name, *unit;
} figures[KWHY_FIGURE_COUNT] = {
	[KWHY_FIGURE_ENERGY] = {"energy", "J"},
	[KWHY_FIGURE_RUN] = {"run", "J"},
	[KWHY_FIGURE_TIME] = {"time", "s"},
	[KWHY_FIGURE_POWER] = {"power", "W"},
	[KWHY_FIGURE_BUSY_RATIO] = {"busy_ratio", ""},
	[KWHY_FIGURE_IDLE] = {"idle", "J"},
};

const char *kwhy_figure_name(enum kwhy_figure figure)
{
	return figures[figure].name;
}

const char *kwhy_figure_unit(enum kwhy_figure figure)
{
	return figures[figure].unit;
}

static double joules(int64_t energy_nj)
{
	return energy_nj == KWHY_UNKNOWN_NJ ? NAN : (double)energy_nj * 1e-9;
}

double kwhy_figure_of(const struct kwhy_side *side, enum kwhy_figure figure)
{
	switch (figure) {
	case KWHY_FIGURE_ENERGY:
		return joules(side->energy_nj);
	case KWHY_FIGURE_RUN:
		return joules(side->run_nj);
	case KWHY_FIGURE_TIME:
		return side->span_ns ? (double)side->span_ns * 1e-9 : NAN;
	case KWHY_FIGURE_POWER:
		return side->power_w;
	case KWHY_FIGURE_BUSY_RATIO:
		return side->busy_ratio;
	default:
		return joules(side->idle_nj);
	}
}

const struct kwhy_side_work *kwhy_side_work_of(const struct kwhy_side *side, const char *unit)
{
	for (size_t i = 0; i < side->work_count; i++)
		if (strcmp(side->work[i].unit, unit) == 0)
			return &side->work[i];
	return NULL;
}

/*
 * Energy of an account on one side, nJ. A side that lacks the account used 0 nJ in it, if that side's energy
 * is known.
 */
static int64_t energy_of(const struct kwhy_side *side, const struct kwhy_side_account *account)
{
	if (account)
		return account->gross_nj;
	return side->energy_nj == KWHY_UNKNOWN_NJ ? KWHY_UNKNOWN_NJ : 0;
}

static double half_width(const struct kwhy_side_account *account)
{
	if (!account)
		return 0;
	if (account->low_nj == KWHY_UNKNOWN_NJ || account->high_nj == KWHY_UNKNOWN_NJ)
		return NAN;
	return ((double)account->high_nj - (double)account->low_nj) / 2;
}

static struct kwhy_account_pair pair_of(const struct kwhy_comparison *comparison,
	const struct kwhy_side_account *a, const struct kwhy_side_account *b)
{
	int64_t a_nj = energy_of(comparison->a, a), b_nj = energy_of(comparison->b, b);
	double width_nj = hypot(half_width(a), half_width(b));
	struct kwhy_account_pair pair = {
		.a = a, .b = b, .change_nj = KWHY_UNKNOWN_NJ, .half_width_nj = KWHY_UNKNOWN_NJ};

	pair.change_ns = (b ? b->time_ns : 0) - (a ? a->time_ns : 0);
	if (a_nj == KWHY_UNKNOWN_NJ || b_nj == KWHY_UNKNOWN_NJ ||
		__builtin_sub_overflow(b_nj, a_nj, &pair.change_nj)) {
		pair.change_nj = KWHY_UNKNOWN_NJ;
		return pair;
	}
	if (width_nj < 9e18) {
		pair.half_width_nj = llround(width_nj);
		pair.significant = fabs((double)pair.change_nj) > width_nj;
	}
	return pair;
}

static double size_of(const struct kwhy_account_pair *pair)
{
	return fabs(pair->change_nj == KWHY_UNKNOWN_NJ ? 0 : (double)pair->change_nj);
}

static int compare_sizes(const void *a, const void *b)
{
	const struct kwhy_account_pair *x = a, *y = b;
	double more = size_of(y) - size_of(x),
	       later = fabs((double)y->change_ns) - fabs((double)x->change_ns);

	if (more != 0)
		return more > 0 ? 1 : -1;
	if (later != 0)
		return later > 0 ? 1 : -1;
	return strcmp(x->name, y->name) ? strcmp(x->name, y->name) : strcmp(x->category, y->category);
}

static int compare_keys(const struct kwhy_side_account *a, const struct kwhy_side_account *b)
{
	int order = strcmp(a->category, b->category);

	return order ? order : strcmp(a->name, b->name);
}

enum kwhy_status kwhy_compare(struct kwhy_comparison *comparison, const struct kwhy_side *a,
	const struct kwhy_side *b, struct kwhy_error *error)
{
	struct kwhy_comparison made = {.a = a, .b = b};
	size_t i = 0, j = 0;

	made.pairs = calloc(a->account_count + b->account_count + 1, sizeof(*made.pairs));
	if (!made.pairs)
		return kwhy_fail_memory(error, "the comparison");
	while (i < a->account_count || j < b->account_count) {
		int order = i == a->account_count ? 1
			: j == b->account_count	  ? -1
						  : compare_keys(&a->accounts[i], &b->accounts[j]);

		const struct kwhy_side_account *named = order <= 0 ? &a->accounts[i] : &b->accounts[j];
		struct kwhy_account_pair *pair = &made.pairs[made.pair_count++];

		*pair = pair_of(&made, order <= 0 ? named : NULL, order >= 0 ? &b->accounts[j] : NULL);
		pair->category = named->category;
		pair->name = named->name;
		i += order <= 0;
		j += order >= 0;
	}
	qsort(made.pairs, made.pair_count, sizeof(*made.pairs), compare_sizes);
	*comparison = made;
	return KWHY_OK;
}

void kwhy_comparison_done(struct kwhy_comparison *comparison)
{
	free(comparison->pairs);
	*comparison = (struct kwhy_comparison){0};
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "report/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Gross energy of an account on one side, nJ. `account` is NULL if the side has no such account; the energy
 * is then 0 if the side has work and a known energy, else KWHY_UNKNOWN_NJ.
 */
static int64_t energy_of(const struct kwhy_side *side, const struct kwhy_side_account *account)
{
	if (account)
		return account->gross_nj;
	return side->energy_nj == KWHY_UNKNOWN_NJ || !kwhy_side_has_work(side) ? KWHY_UNKNOWN_NJ : 0;
}

static double half_width(const struct kwhy_side_account *account)
{
	if (!account)
		return 0;
	if (account->low_nj == KWHY_UNKNOWN_NJ || account->high_nj == KWHY_UNKNOWN_NJ)
		return NAN;
	return ((double)account->high_nj - (double)account->low_nj) / 2;
}

/*
 * Sets change_nj, change_ns, half_width_nj and `significant`, which compare an account's energy and time
 * summed over all runs of each side.
 */
static void set_totals(struct kwhy_account_pair *pair, const struct kwhy_comparison *comparison)
{
	int64_t a_nj = energy_of(comparison->a, pair->a), b_nj = energy_of(comparison->b, pair->b);
	double width_nj = hypot(half_width(pair->a), half_width(pair->b));

	pair->change_nj = pair->half_width_nj = KWHY_UNKNOWN_NJ;
	pair->change_ns = (pair->b ? pair->b->time_ns : 0) - (pair->a ? pair->a->time_ns : 0);
	if (a_nj == KWHY_UNKNOWN_NJ || b_nj == KWHY_UNKNOWN_NJ ||
		__builtin_sub_overflow(b_nj, a_nj, &pair->change_nj)) {
		pair->change_nj = KWHY_UNKNOWN_NJ;
		return;
	}
	if (width_nj < 9e18) {
		pair->half_width_nj = llround(width_nj);
		pair->significant = fabs((double)pair->change_nj) > width_nj;
	}
}

static double known_size(double change)
{
	return isfinite(change) ? fabs(change) : 0;
}

static int compare_sizes(const void *a, const void *b)
{
	const struct kwhy_account_pair *x = a, *y = b;
	double more = known_size(y->energy.difference.change) - known_size(x->energy.difference.change),
	       later = known_size(y->time.difference.change) - known_size(x->time.difference.change);

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

static void pair_up(struct kwhy_comparison *comparison)
{
	const struct kwhy_side *a = comparison->a, *b = comparison->b;
	size_t i = 0, j = 0;

	while (i < a->account_count || j < b->account_count) {
		int order = i == a->account_count ? 1
			: j == b->account_count	  ? -1
						  : compare_keys(&a->accounts[i], &b->accounts[j]);

		const struct kwhy_side_account *named = order <= 0 ? &a->accounts[i] : &b->accounts[j];
		struct kwhy_account_pair *pair = &comparison->pairs[comparison->pair_count++];

		pair->a = order <= 0 ? named : NULL;
		pair->b = order >= 0 ? &b->accounts[j] : NULL;
		pair->category = named->category;
		pair->name = named->name;
		i += order <= 0;
		j += order >= 0;
	}
}

/*
 * Whether the unit counts what the hardware did (FLOP or bytes) and not what the program achieved. How many
 * FLOP or bytes the same result takes depends on how the program is written.
 */
static bool is_effort(const char *unit)
{
	return strncmp(unit, "flop", 4) == 0 || strcmp(unit, "bytes") == 0;
}

/*
 * The first unit in A's list of stated work in which B states work, too; NULL: there is none. `effort`: true
 * considers only FLOP and bytes, false only other units.
 */
static const char *common_work(const struct kwhy_comparison *comparison, bool effort)
{
	for (size_t i = 0; i < comparison->a->work_count; i++) {
		const char *unit = comparison->a->work[i].unit;

		if (is_effort(unit) == effort && kwhy_side_work_of(comparison->b, unit))
			return unit;
	}
	return NULL;
}

static bool all_have_steps(const struct kwhy_comparison *comparison)
{
	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; i < comparison->runs[side].count; i++)
			if (!comparison->runs[side].items[i].step_count)
				return false;
	return true;
}

static void choose_unit(struct kwhy_comparison *comparison)
{
	const char *work = common_work(comparison, false);

	comparison->unit = all_have_steps(comparison) ? KWHY_FOR_STEP : work ? KWHY_FOR_WORK : KWHY_FOR_RUN;
	comparison->unit_name = comparison->unit == KWHY_FOR_STEP ? "step" : work ? work : "run";
	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; i < comparison->runs[side].count; i++)
			comparison->unit_counts[side] += kwhy_compare_units_of(
				comparison, &comparison->runs[side].items[i]);
}

bool kwhy_pair_is_kernel(const struct kwhy_account_pair *pair)
{
	return strcmp(pair->category, "compute") == 0 || strcmp(pair->category, "collective") == 0;
}

/*
 * A kernel that both sides launched: its launches in B divided by those in A, and its time in A plus that in
 * B, each for one unit of the comparison. `pair` is its index in comparison->pairs.
 */
struct launches {
	double ratio, time_s;
	size_t pair;
};

static int compare_ratios(const void *a, const void *b)
{
	const struct launches *x = a, *y = b;

	if (x->ratio != y->ratio)
		return x->ratio < y->ratio ? -1 : 1;
	return x->pair < y->pair ? -1 : x->pair > y->pair;
}

/*
 * Finds a kernel whose number of launches shows how much work each side did. Kernels agree if the ratio of
 * their launches in B to those in A is within 2 % (AGREE_RATIO) of the median ratio, weighted by time. If the
 * kernels that agree take at least half of the time of all kernels (all_s), the function returns the longest
 * of them. Otherwise it returns NULL, because it is unknown how much work each side did.
 */
#define AGREE_RATIO 0.02
static const struct kwhy_account_pair *agreed_kernel(
	const struct kwhy_comparison *comparison, struct launches *launches, size_t count, double all_s)
{
	double common_s = 0, below_s = 0, agreed_s = 0, median = NAN;
	const struct launches *longest = NULL;

	for (size_t i = 0; i < count; i++)
		common_s += launches[i].time_s;
	qsort(launches, count, sizeof(*launches), compare_ratios);
	for (size_t i = 0; i < count && isnan(median); i++) {
		below_s += launches[i].time_s;
		if (2 * below_s >= common_s)
			median = launches[i].ratio;
	}
	for (size_t i = 0; i < count; i++) {
		if (!(fabs(launches[i].ratio / median - 1) <= AGREE_RATIO))
			continue;
		agreed_s += launches[i].time_s;
		if (!longest || launches[i].time_s > longest->time_s)
			longest = &launches[i];
	}
	return longest && 2 * agreed_s >= all_s ? &comparison->pairs[longest->pair] : NULL;
}

static enum kwhy_status choose_launches(struct kwhy_comparison *comparison, struct kwhy_error *error)
{
	struct launches *launches = calloc(comparison->pair_count + 1, sizeof(*launches));
	const struct kwhy_account_pair *kernel;
	double all_s = 0;
	size_t count = 0;

	if (!launches)
		return kwhy_fail_memory(error, "the comparison");
	for (size_t i = 0; i < comparison->pair_count; i++) {
		const struct kwhy_account_pair *pair = &comparison->pairs[i];
		double time_s = pair->time.a.mean + pair->time.b.mean;

		if (!kwhy_pair_is_kernel(pair))
			continue;
		all_s += time_s;
		if (pair->counts[0] > 0 && pair->counts[1] > 0)
			launches[count++] = (struct launches){pair->counts[1] / pair->counts[0], time_s, i};
	}
	kernel = agreed_kernel(comparison, launches, count, all_s);
	free(launches);
	if (kernel)
		comparison->rate = (struct kwhy_rate){KWHY_RATE_LAUNCHES, kernel->name, kernel->category};
	return KWHY_OK;
}

/*
 * Chooses what throughput counts: the first of the following that both sides have. These are units of work
 * other than FLOP and bytes, steps, FLOP or bytes, and the launches of a kernel by which agreed_kernel()
 * compares the work of both sides. Without any of them, throughput is unknown. The choice may differ from the
 * unit in which accounts are compared, as a step may do more work in recording B than in A.
 */
static enum kwhy_status choose_rate(struct kwhy_comparison *comparison, struct kwhy_error *error)
{
	const char *work = common_work(comparison, false), *effort = common_work(comparison, true);

	if (work)
		comparison->rate = (struct kwhy_rate){KWHY_RATE_WORK, work, NULL};
	else if (all_have_steps(comparison))
		comparison->rate = (struct kwhy_rate){KWHY_RATE_STEPS, "steps", NULL};
	else if (effort)
		comparison->rate = (struct kwhy_rate){KWHY_RATE_WORK, effort, NULL};
	else
		return choose_launches(comparison, error);
	return KWHY_OK;
}

static void set_pairs(struct kwhy_comparison *comparison)
{
	for (size_t i = 0; i < comparison->pair_count; i++) {
		struct kwhy_account_pair *pair = &comparison->pairs[i];

		set_totals(pair, comparison);
		kwhy_pair_set_changes(pair, comparison);
	}
	qsort(comparison->pairs, comparison->pair_count, sizeof(*comparison->pairs), compare_sizes);
}

/*
 * Points a and b of the comparison to the only run of their side or, for a side of several runs, to the sum
 * of these runs.
 */
static enum kwhy_status sum_sides(struct kwhy_comparison *comparison, struct kwhy_error *error)
{
	const struct kwhy_side **const sides[2] = {&comparison->a, &comparison->b};
	enum kwhy_status status = KWHY_OK;

	for (size_t side = 0; !status && side < 2; side++) {
		const struct kwhy_side_runs *runs = &comparison->runs[side];

		*sides[side] = runs->items;
		if (runs->count < 2)
			continue;
		status = kwhy_side_sum(&comparison->sums[side], runs->items, runs->count, error);
		*sides[side] = &comparison->sums[side];
	}
	return status;
}

enum kwhy_status kwhy_compare_runs(
	struct kwhy_comparison *comparison, const struct kwhy_side_runs runs[2], struct kwhy_error *error)
{
	enum kwhy_status status;

	*comparison = (struct kwhy_comparison){.runs = {runs[0], runs[1]}};
	status = sum_sides(comparison, error);
	if (!status) {
		comparison->pairs = calloc(comparison->a->account_count + comparison->b->account_count + 1,
			sizeof(*comparison->pairs));
		status = comparison->pairs ? KWHY_OK : kwhy_fail_memory(error, "the comparison");
	}
	if (!status) {
		choose_unit(comparison);
		pair_up(comparison);
		set_pairs(comparison);
		status = choose_rate(comparison, error);
	}
	if (status)
		kwhy_comparison_done(comparison);
	return status;
}

enum kwhy_status kwhy_compare(struct kwhy_comparison *comparison, const struct kwhy_side *a,
	const struct kwhy_side *b, struct kwhy_error *error)
{
	return kwhy_compare_runs(comparison, (const struct kwhy_side_runs[2]){{a, 1}, {b, 1}}, error);
}

bool kwhy_comparison_is_repeated(const struct kwhy_comparison *comparison)
{
	return comparison->runs[0].count > 1 || comparison->runs[1].count > 1;
}

void kwhy_comparison_done(struct kwhy_comparison *comparison)
{
	free(comparison->pairs);
	kwhy_side_done(&comparison->sums[0]);
	kwhy_side_done(&comparison->sums[1]);
	*comparison = (struct kwhy_comparison){0};
}

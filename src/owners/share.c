/* SPDX-License-Identifier: Apache-2.0 */
#include "owners/share.h"

#include <math.h>

enum { PERCENT = 100, PERMILLE = 1000 };
/* Weights are multiplied by this and rounded down, because shares are computed in integers. */
#define WEIGHT_STEPS 1e9

/*
 * energy_nj times part / whole, rounded down, without overflow. `whole` is above 0; `part` is at most
 * `whole`.
 */
static int64_t part_of(int64_t energy_nj, uint64_t part, uint64_t whole)
{
	return (int64_t)((__int128)energy_nj * (__int128)part / (__int128)whole);
}

void kwhy_share_add(struct kwhy_share *sum, const struct kwhy_share *share)
{
	sum->energy_nj += share->energy_nj;
	sum->low_nj += share->low_nj;
	sum->high_nj += share->high_nj;
	sum->idle_nj += share->idle_nj;
	sum->held_ns += share->held_ns;
	sum->busy_ns += share->busy_ns;
	sum->unknown_ns += share->unknown_ns;
}

/* Rounds to whole nanojoules, and limits the result to 0 to whole_nj. NAN: 0. */
static int64_t rounded(double energy_nj, int64_t whole_nj)
{
	if (!(energy_nj > 0))
		return 0;
	return energy_nj < (double)whole_nj ? (int64_t)llround(energy_nj) : whole_nj;
}

static size_t give_to_one(
	const struct kwhy_share_window *window, uint32_t owner, bool is_held, struct kwhy_share_of *out)
{
	const bool is_idle = window->busy_permille == 0;
	const int64_t busy_permille = window->busy_permille > 0 ? window->busy_permille : 0;

	out->owner = owner;
	out->rule = KWHY_SHARE_WHOLE;
	out->share = (struct kwhy_share){
		.energy_nj = window->energy_nj,
		.low_nj = window->energy_nj,
		.high_nj = window->energy_nj,
		.idle_nj = is_idle ? window->energy_nj : 0,
		.held_ns = is_held ? window->length_ns : 0,
		.busy_ns = is_held ? part_of(window->length_ns, (uint64_t)busy_permille, PERMILLE) : 0,
		.unknown_ns = is_held && window->busy_permille < 0 ? window->length_ns : 0,
	};
	return 1;
}

static uint64_t steps_of(const struct kwhy_share_window *window, size_t holder)
{
	return (uint64_t)(fmax(window->weights[holder], 0) * WEIGHT_STEPS);
}

static bool has_weight(const struct kwhy_share_window *window)
{
	for (size_t i = 0; window->weights && i < window->holder_count; i++)
		if (steps_of(window, i))
			return true;
	return false;
}

static enum kwhy_share_rule rule_of(const struct kwhy_share_window *window)
{
	uint64_t used = 0;

	for (size_t i = 0; i < window->holder_count; i++)
		used += window->holders[i].busy_percent;
	/* if all weights are 0, as in a window without energy, they give no ratio */
	if (window->uses_known && (used || window->busy_permille > 0) && has_weight(window))
		return KWHY_SHARE_BY_POWER;
	if (window->uses_known && used)
		return KWHY_SHARE_BY_USE;
	return window->busy_permille == 0 ? KWHY_SHARE_IN_EQUAL_PARTS : KWHY_SHARE_BY_PART;
}

static uint64_t weight_of(enum kwhy_share_rule rule, const struct kwhy_share_window *window, size_t holder)
{
	switch (rule) {
	case KWHY_SHARE_BY_POWER:
		return steps_of(window, holder);
	case KWHY_SHARE_BY_USE:
		return window->holders[holder].busy_percent;
	case KWHY_SHARE_BY_PART:
		return window->holders[holder].part;
	default:
		return 1;
	}
}

/*
 * Sets the hard bounds of a share by use or by power. Lower bound: the share if the device drew low_w while
 * the owner's kernels ran and high_w while kernels of other owners ran; upper bound: the share if it drew
 * high_w and low_w. The uses are rounded to whole percents, so the bounds allow for an error of 1 in each.
 * The bounds are 0 and the whole energy if low_w or high_w is unknown.
 */
static void set_bounds(
	const struct kwhy_share_window *window, double used, double others, struct kwhy_share *share)
{
	const double whole_nj = (double)window->energy_nj;
	const double ratio = window->low_w > 0 && window->high_w >= window->low_w
		? window->high_w / window->low_w
		: INFINITY;
	const double least = used > 1 ? used - 1 : 0, most = used + 1;

	share->low_nj = 0;
	share->high_nj = window->energy_nj;
	if (!isfinite(ratio) || !(used + others > 0))
		return;
	share->low_nj = rounded(whole_nj * least / (least + (others + 1) * ratio), share->energy_nj);
	share->high_nj = rounded(
		whole_nj * most * ratio / (most * ratio + (others > 1 ? others - 1 : 0)), window->energy_nj);
	if (share->high_nj < share->energy_nj)
		share->high_nj = share->energy_nj;
}

static double used_of(const struct kwhy_share_window *window, size_t holder)
{
	return window->mean_percent ? window->mean_percent[holder] : window->holders[holder].busy_percent;
}

static double used_of_all(const struct kwhy_share_window *window)
{
	double used = 0;

	for (size_t i = 0; i < window->holder_count; i++)
		used += used_of(window, i);
	return used;
}

static void set_rest(const struct kwhy_share_window *window, enum kwhy_share_rule rule, size_t at,
	struct kwhy_share *share)
{
	const struct kwhy_share_holder *holder = &window->holders[at];
	const uint32_t busy = holder->busy_percent < PERCENT ? holder->busy_percent : PERCENT;

	share->held_ns = window->length_ns;
	switch (rule) {
	case KWHY_SHARE_BY_POWER:
	case KWHY_SHARE_BY_USE:
		share->busy_ns = part_of(window->length_ns, busy, PERCENT);
		set_bounds(window, used_of(window, at), used_of_all(window) - used_of(window, at), share);
		break;
	case KWHY_SHARE_BY_PART:
		share->unknown_ns = window->length_ns;
		share->low_nj = 0;
		share->high_nj = window->energy_nj;
		break;
	default:
		share->low_nj = share->high_nj = share->idle_nj = share->energy_nj;
		break;
	}
}

/* Whether the energy of a window without holders is the unknown owner's; otherwise it is the idle owner's. */
static bool is_of_unknown(const struct kwhy_share_window *window)
{
	return window->busy_permille > 0 || (window->busy_permille < 0 && window->is_unseen);
}

size_t kwhy_share_divide(const struct kwhy_share_window *window, struct kwhy_share_of *out)
{
	const enum kwhy_share_rule rule = rule_of(window);
	uint64_t whole = 0, sum = 0;
	int64_t before_nj = 0;

	if (!window->holder_count)
		return give_to_one(window, is_of_unknown(window) ? window->unknown_owner : window->idle_owner,
			false, out);
	if (window->holder_count == 1)
		return give_to_one(window, window->holders[0].owner, true, out);
	for (size_t i = 0; i < window->holder_count; i++)
		whole += weight_of(rule, window, i);
	for (size_t i = 0; i < window->holder_count; i++) {
		int64_t until_nj;

		/*
		 * Each share is the difference of two successive cumulative shares, each rounded down, so
		 * that all shares add up to energy_nj.
		 */
		sum += weight_of(rule, window, i);
		until_nj = part_of(window->energy_nj, sum, whole);
		out[i].owner = window->holders[i].owner;
		out[i].rule = rule;
		out[i].share = (struct kwhy_share){.energy_nj = until_nj - before_nj};
		set_rest(window, rule, i, &out[i].share);
		before_nj = until_nj;
	}
	return window->holder_count;
}

void kwhy_share_divide_host(const struct kwhy_share_host *host, struct kwhy_share_of *out)
{
	int64_t used_ns = 0, before_nj = 0, busy_ns, sum_ns = 0;

	for (size_t i = 0; i < host->count; i++)
		used_ns += host->used_ns[i];
	/*
	 * the owners' CPU times may add up to more than the machine's, because the kernel counts the former
	 * and the latter at different times and in different steps
	 */
	busy_ns = host->busy_ns > used_ns ? host->busy_ns : used_ns;
	for (size_t i = 0; i < host->count; i++) {
		struct kwhy_share *share = &out[i].share;
		int64_t until_nj, capacity_ns = host->capacity_ns > busy_ns ? host->capacity_ns : busy_ns;

		sum_ns += host->used_ns[i];
		until_nj = busy_ns ? part_of(host->energy_nj, (uint64_t)sum_ns, (uint64_t)busy_ns) : 0;
		out[i].owner = host->owners[i];
		*share = (struct kwhy_share){.energy_nj = until_nj - before_nj,
			.high_nj = until_nj - before_nj,
			.held_ns = host->length_ns,
			.busy_ns = host->used_ns[i]};
		if (capacity_ns)
			share->low_nj = part_of(
				host->energy_nj, (uint64_t)host->used_ns[i], (uint64_t)capacity_ns);
		if (share->low_nj > share->energy_nj)
			share->low_nj = share->energy_nj;
		before_nj = until_nj;
	}
	out[host->count].owner = host->idle_owner;
	out[host->count].share = (struct kwhy_share){.energy_nj = host->energy_nj - before_nj,
		.low_nj = host->energy_nj - before_nj,
		.high_nj = host->energy_nj};
}

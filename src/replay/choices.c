/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/choices.h"

#include <string.h>

#define MIN_RATIO 0.05
#define ALIKE_RATIO 1.25

/*
 * Distance of two grids: the difference of the logarithms of their thread counts plus that of the logarithms
 * of their kernel lengths, both as absolute values. Lengths above KWHY_PROXY_LONG_NS count as equal, because
 * the power of such long kernels does not depend on their length.
 */
static double distance(const struct kwhy_proxy_grid *a, const struct kwhy_proxy_grid *b)
{
	return fabs(log((double)a->blocks * a->threads_per_block /
		       ((double)b->blocks * b->threads_per_block))) +
		fabs(log(fmin(a->length_ns, KWHY_PROXY_LONG_NS) / fmin(b->length_ns, KWHY_PROXY_LONG_NS)));
}

static bool is_like_one(
	const struct kwhy_proxy_grid *grids, const uint32_t *list, size_t count, uint32_t grid)
{
	for (size_t i = 0; i < count; i++)
		if (distance(&grids[list[i]], &grids[grid]) < log(ALIKE_RATIO))
			return true;
	return false;
}

const struct kwhy_proxy_grid *kwhy_replay_alike(
	const struct kwhy_proxy_grid *grids, size_t count, const struct kwhy_proxy_grid *grid)
{
	for (size_t i = 0; i < count; i++)
		if (distance(&grids[i], grid) < log(ALIKE_RATIO))
			return &grids[i];
	return NULL;
}

/*
 * Energy in nJ that the account's recorded kernels drew above idle_w; 0: it has no kernels, draws less than
 * idle_w, or its power is unknown.
 */
static double above_idle_nj(const struct kwhy_replay_account *account, double idle_w)
{
	return account->count ? fmax((account->power_w - idle_w) * (double)account->time_ns, 0) : 0;
}

size_t kwhy_replay_grids_that_matter(const struct kwhy_replay_pattern *pattern,
	const struct kwhy_proxy_grid *grids, double idle_w, uint32_t *out)
{
	size_t count = 0;
	double sum_nj = 0;

	for (size_t i = 0; i < pattern->account_count; i++)
		sum_nj += above_idle_nj(&pattern->accounts[i], idle_w);
	while (count < KWHY_REPLAY_GRIDS_MEASURED && sum_nj > 0) {
		double most_nj = MIN_RATIO * sum_nj;
		uint32_t best = UINT32_MAX;

		for (size_t i = 0; i < pattern->account_count; i++) {
			const struct kwhy_replay_account *account = &pattern->accounts[i];
			double net_nj = above_idle_nj(account, idle_w);

			if (net_nj >= most_nj && !is_like_one(grids, out, count, account->grid)) {
				most_nj = net_nj;
				best = account->grid;
			}
		}
		if (best == UINT32_MAX)
			break;
		out[count++] = best;
	}
	return count;
}

void kwhy_replay_spread_powers(
	struct kwhy_proxy_grid *grids, size_t grid_count, const uint32_t *measured, size_t measured_count)
{
	for (size_t i = 0; measured_count && i < grid_count; i++) {
		uint32_t best = measured[0];

		for (size_t k = 1; k < measured_count; k++)
			if (distance(&grids[measured[k]], &grids[i]) < distance(&grids[best], &grids[i]))
				best = measured[k];
		if (best != i)
			memcpy(grids[i].power_w, grids[best].power_w, sizeof(grids[i].power_w));
	}
}

struct kwhy_proxy_choice kwhy_replay_choose(const struct kwhy_proxy_grid *grid, double wanted_w)
{
	double wait_w = grid->power_w[KWHY_PROXY_WAIT];
	struct kwhy_proxy_choice choice = {KWHY_PROXY_WAIT, KWHY_PROXY_BUSY, wait_w};
	double share;

	if (!isfinite(wanted_w) || !isfinite(wait_w) || wanted_w <= wait_w)
		return choice;
	for (uint32_t class = KWHY_PROXY_FMA; class < KWHY_PROXY_CLASS_COUNT; class ++) {
		double here_w = grid->power_w[class];
		bool enough = choice.power_w >= wanted_w;

		if (here_w > choice.power_w ? !enough : here_w >= wanted_w && enough)
			choice = (struct kwhy_proxy_choice){class, KWHY_PROXY_BUSY, here_w};
	}
	if (choice.power_w <= wanted_w)
		return choice;
	share = (wanted_w - wait_w) / (choice.power_w - wait_w);
	choice.busy = (uint32_t)(share * KWHY_PROXY_BUSY + 0.5);
	choice.power_w = wanted_w;
	return choice;
}

static double strongest_w(const struct kwhy_proxy_grid *grid)
{
	double most_w = NAN;

	for (uint32_t class = 0; class < KWHY_PROXY_CLASS_COUNT; class ++)
		most_w = fmax(most_w, grid->power_w[class]);
	return most_w;
}

bool kwhy_replay_is_at(enum kwhy_replay_bound bound, const struct kwhy_replay_pattern *pattern,
	const struct kwhy_proxy_grid *grids, const struct kwhy_proxy_choice *choices)
{
	for (size_t i = 0; i < pattern->account_count; i++) {
		const struct kwhy_replay_account *account = &pattern->accounts[i];

		if (!account->count || !isfinite(account->power_w))
			continue;
		if (bound == KWHY_REPLAY_ALL_WAIT ? choices[i].class != KWHY_PROXY_WAIT
						  : choices[i].power_w < strongest_w(&grids[account->grid]))
			return false;
	}
	return true;
}

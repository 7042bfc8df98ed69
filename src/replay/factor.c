/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/factor.h"

#include <math.h>

#define STEP_MOST 4.0

/* The nearest on one side; NULL: none. */
static const struct kwhy_replay_try *nearest(
	const struct kwhy_replay_try *tries, size_t count, double wanted_j, int side)
{
	const struct kwhy_replay_try *best = NULL;

	for (size_t i = 0; i < count; i++)
		if ((tries[i].net_j - wanted_j) * side >= 0 &&
			(!best || (tries[i].factor - best->factor) * side < 0))
			best = &tries[i];
	return best;
}

static double on_line(const struct kwhy_replay_try *a, const struct kwhy_replay_try *b, double wanted_j)
{
	return a->factor + (wanted_j - a->net_j) / (b->net_j - a->net_j) * (b->factor - a->factor);
}

double kwhy_replay_next_factor(const struct kwhy_replay_try *tries, size_t count, double wanted_j)
{
	const struct kwhy_replay_try *last = &tries[count - 1], *low = nearest(tries, count, wanted_j, -1),
				     *high = nearest(tries, count, wanted_j, 1);
	double factor = last->factor * wanted_j / fmax(last->net_j, wanted_j / STEP_MOST);

	if (low && high && low->factor < high->factor)
		return on_line(low, high, wanted_j);
	if (count > 1 &&
		(last->net_j - tries[count - 2].net_j) * (last->factor - tries[count - 2].factor) > 0)
		factor = on_line(&tries[count - 2], last, wanted_j);
	return fmin(fmax(factor, last->factor / STEP_MOST), last->factor * STEP_MOST);
}

double kwhy_replay_carried_factor(double factor, double first_off_ratio)
{
	double needed = 1 / fmax(1 + first_off_ratio, 1 / STEP_MOST);

	return fmin(fmax(factor, fmin(needed, 1)), fmax(needed, 1));
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/factor.h"

#include <math.h>

#define STEP_MAX 4.0

/*
 * `side` 1: of the attempts that drew at least wanted_j, the one with the smallest factor. `side` -1: of
 * those that drew at most wanted_j, the one with the largest factor. NULL: there is no such attempt.
 */
static const struct kwhy_replay_attempt *nearest(
	const struct kwhy_replay_attempt *attempts, size_t count, double wanted_j, int side)
{
	const struct kwhy_replay_attempt *best = NULL;

	for (size_t i = 0; i < count; i++)
		if ((attempts[i].net_j - wanted_j) * side >= 0 &&
			(!best || (attempts[i].factor - best->factor) * side < 0))
			best = &attempts[i];
	return best;
}

static double on_line(
	const struct kwhy_replay_attempt *a, const struct kwhy_replay_attempt *b, double wanted_j)
{
	return a->factor + (wanted_j - a->net_j) / (b->net_j - a->net_j) * (b->factor - a->factor);
}

double kwhy_replay_next_factor(const struct kwhy_replay_attempt *attempts, size_t count, double wanted_j)
{
	const struct kwhy_replay_attempt *last = &attempts[count - 1],
					 *low = nearest(attempts, count, wanted_j, -1),
					 *high = nearest(attempts, count, wanted_j, 1);
	double factor = last->factor * wanted_j / fmax(last->net_j, wanted_j / STEP_MAX);

	if (low && high && low->factor < high->factor)
		return on_line(low, high, wanted_j);
	if (count > 1 &&
		(last->net_j - attempts[count - 2].net_j) * (last->factor - attempts[count - 2].factor) > 0)
		factor = on_line(&attempts[count - 2], last, wanted_j);
	return fmin(fmax(factor, last->factor / STEP_MAX), last->factor * STEP_MAX);
}

double kwhy_replay_carried_factor(double factor, double first_off_ratio)
{
	double needed = 1 / fmax(1 + first_off_ratio, 1 / STEP_MAX);

	return fmin(fmax(factor, fmin(needed, 1)), fmax(needed, 1));
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/windows.h"

#include "base/random.h"

#include <math.h>

/*
 * The random lengths are drawn from a time on that is this many times the mean length of a window and its gap
 * before the origin, so that times shortly after the origin are covered with the same probability as later
 * times.
 */
enum { WINDOWS_BEFORE = 32 };

/* Number `n` of the sequence of random numbers in [0, 1) that the seed gives. */
static double draw(uint64_t seed, uint64_t n)
{
	return kwhy_random_share(kwhy_random_of(seed + (n + 1) * KWHY_RANDOM_STEP));
}

static int64_t draw_length(struct kwhy_inject_windows *windows, double mean_ns)
{
	return (int64_t)(mean_ns * (0.5 + draw(windows->plan.seed, windows->drawn++)));
}

static double mean_gap_ns(const struct kwhy_inject_plan *plan)
{
	return (double)plan->window_ns * (1 - plan->share_ratio) / plan->share_ratio;
}

/*
 * Draws the lengths of the next gap and the next window, and clips the window to from_mono_ns and
 * until_mono_ns. A window before from_mono_ns is then empty (its end is not after its start); after
 * until_mono_ns there are no more windows.
 */
static void draw_window(struct kwhy_inject_windows *windows)
{
	const struct kwhy_inject_plan *plan = &windows->plan;
	const int64_t start_ns = windows->drawn_until_mono_ns + draw_length(windows, mean_gap_ns(plan));
	const int64_t end_ns = start_ns + draw_length(windows, (double)plan->window_ns);

	windows->drawn_until_mono_ns = end_ns;
	windows->start_mono_ns = start_ns > plan->from_mono_ns ? start_ns : plan->from_mono_ns;
	windows->end_mono_ns = end_ns < plan->until_mono_ns ? end_ns : plan->until_mono_ns;
	if (start_ns >= plan->until_mono_ns)
		windows->start_mono_ns = windows->end_mono_ns = INT64_MAX;
}

static bool has_share(const struct kwhy_inject_plan *plan)
{
	return plan->share_ratio > 0 && plan->share_ratio < 1;
}

void kwhy_inject_windows_init(struct kwhy_inject_windows *windows, const struct kwhy_inject_plan *plan)
{
	*windows = (struct kwhy_inject_windows){
		.plan = *plan, .start_mono_ns = plan->from_mono_ns, .end_mono_ns = plan->until_mono_ns};
	if (!has_share(plan))
		return;
	windows->drawn_until_mono_ns = plan->origin_mono_ns -
		(int64_t)(WINDOWS_BEFORE * ((double)plan->window_ns + mean_gap_ns(plan)));
	draw_window(windows);
	kwhy_inject_windows_pass(windows, plan->origin_mono_ns);
}

void kwhy_inject_windows_pass(struct kwhy_inject_windows *windows, int64_t mono_ns)
{
	while (windows->end_mono_ns <= mono_ns && windows->end_mono_ns != INT64_MAX) {
		if (has_share(&windows->plan))
			draw_window(windows);
		else
			windows->start_mono_ns = windows->end_mono_ns = INT64_MAX;
	}
}

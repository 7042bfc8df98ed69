/* SPDX-License-Identifier: Apache-2.0 */
#include "fit/cap.h"

#include "base/statistics.h"

#include <math.h>

enum { STEPS = 2000, BOUND_MIN = 4 };

/*
 * NEAR_END: distance from an end of the range, as a share of the range, up to which an optimum counts as at
 * that end. WIDTH_MAX: width of the optimum's interval, as a share of the range, above which the optimum is
 * too uncertain.
 */
#define NEAR_END 0.03
#define WIDTH_MAX 0.5
#define SHARE_BELOW 0.975
#define UNBOUND_BELOW 0.95

/* Parameters of the search for the optimum. */
struct target {
	const struct kwhy_cap *cap;
	enum kwhy_cap_goal goal;
	double slower_ratio;
};

/*
 * Value at power_w of the quantity to minimise (enum kwhy_cap_goal); for SLOWDOWN, INFINITY if the work takes
 * too long at that power.
 */
static double price_of(const struct target *target, const struct kwhy_cap_curve *curve, double power_w)
{
	double throughput = kwhy_cap_throughput(curve, power_w);
	double most = kwhy_cap_throughput(curve, target->cap->most_w);

	if (target->goal == KWHY_CAP_GOAL_ENERGY_DELAY)
		return power_w / throughput / throughput;
	if (target->goal == KWHY_CAP_GOAL_SLOWDOWN)
		return most > throughput * (1 + target->slower_ratio) ? INFINITY : power_w;
	return power_w / throughput;
}

static double best_w(const struct target *target, const struct kwhy_cap_curve *curve)
{
	const struct kwhy_cap *cap = target->cap;
	double best = INFINITY, found_w = cap->most_w;

	for (int i = 0; i <= STEPS; i++) {
		double power_w = cap->least_w + (cap->most_w - cap->least_w) * i / STEPS;
		double price = price_of(target, curve, power_w);

		if (price < best) {
			best = price;
			found_w = power_w;
		}
	}
	return found_w;
}

static enum kwhy_cap_verdict place_of(const struct target *target, double power_w)
{
	const struct kwhy_cap *cap = target->cap;
	double near_w = NEAR_END * (cap->most_w - cap->least_w);

	if (power_w < cap->least_w + near_w)
		return KWHY_CAP_VERDICT_LOWEST;
	return power_w > cap->most_w - near_w ? KWHY_CAP_VERDICT_HIGHEST : KWHY_CAP_VERDICT_INSIDE;
}

/*
 * The optimum power_w with its 95 % interval, limited to the measured range. The interval is a jackknife
 * estimate (optima of the fits that leave out one point each) with Student's t.
 */
static struct kwhy_interval interval_of(const struct target *target, double power_w)
{
	const struct kwhy_cap *cap = target->cap;
	const struct kwhy_cap_fit *fit = &cap->fits[cap->chosen];
	double n = (double)cap->count, sum = 0, squares = 0, half_w;

	for (size_t i = 0; i < cap->count; i++) {
		double without_w = best_w(target, &fit->without[i]);

		sum += without_w;
		squares += without_w * without_w;
	}
	half_w = kwhy_student_quantile(SHARE_BELOW, n - 1) *
		sqrt((n - 1) / n * fmax(squares - sum * sum / n, 0));
	return (struct kwhy_interval){
		power_w, fmax(power_w - half_w, cap->least_w), fmin(power_w + half_w, cap->most_w)};
}

static bool alternatives_agree(
	const struct target *target, enum kwhy_cap_verdict verdict, struct kwhy_interval power_w)
{
	const struct kwhy_cap *cap = target->cap;
	double allowed_w = fmax(NEAR_END * 3 * (cap->most_w - cap->least_w), power_w.high - power_w.low);

	for (int form = 0; form < KWHY_CAP_FORM_COUNT; form++) {
		double alternative_w = best_w(target, &cap->fits[form].curve);

		if (cap->is_alternative[form] &&
			(place_of(target, alternative_w) != verdict ||
				fabs(alternative_w - power_w.value) > allowed_w))
			return false;
	}
	return true;
}

/*
 * Whether the quantity to minimise is lower at the optimum than at the better end of the range by more than
 * the curve's relative error at held-out points.
 */
static bool is_worth_it(const struct target *target, double power_w)
{
	const struct kwhy_cap *cap = target->cap;
	const struct kwhy_cap_fit *fit = &cap->fits[cap->chosen];
	double best = price_of(target, &fit->curve, power_w);
	double ends = fmin(
		price_of(target, &fit->curve, cap->least_w), price_of(target, &fit->curve, cap->most_w));

	return ends / best - 1 > fit->held_out_ratio;
}

/*
 * Power limit at which the device draws a given power, interpolated between the two nearest points whose
 * limits have an effect (UNBOUND_BELOW); NAN: the power is not between two such points.
 */
static double cap_for(const struct kwhy_cap *cap, double power_w)
{
	double below_w = -INFINITY, above_w = INFINITY, below_cap_w = NAN, above_cap_w = NAN;

	for (size_t i = 0; i < cap->count; i++) {
		const struct kwhy_cap_point *point = &cap->points[i];

		if (isnan(point->cap_w) || point->power_w < UNBOUND_BELOW * point->cap_w)
			continue;
		if (point->power_w <= power_w && point->power_w > below_w) {
			below_w = point->power_w;
			below_cap_w = point->cap_w;
		}
		if (point->power_w >= power_w && point->power_w < above_w) {
			above_w = point->power_w;
			above_cap_w = point->cap_w;
		}
	}
	if (above_w == below_w)
		return above_cap_w;
	return below_cap_w + (above_cap_w - below_cap_w) * (power_w - below_w) / (above_w - below_w);
}

static enum kwhy_cap_verdict judge(const struct target *target, struct kwhy_interval power_w)
{
	const struct kwhy_cap *cap = target->cap;
	enum kwhy_cap_verdict verdict = place_of(target, power_w.value);

	if (cap->unbound_count && cap->count - cap->unbound_count < BOUND_MIN)
		return KWHY_CAP_VERDICT_UNBOUND;
	if (!alternatives_agree(target, verdict, power_w) ||
		power_w.high - power_w.low > WIDTH_MAX * (cap->most_w - cap->least_w))
		return KWHY_CAP_VERDICT_UNSURE;
	if (verdict == KWHY_CAP_VERDICT_INSIDE && target->goal != KWHY_CAP_GOAL_SLOWDOWN &&
		!is_worth_it(target, power_w.value))
		return KWHY_CAP_VERDICT_FLAT;
	return verdict;
}

void kwhy_cap_advise(
	const struct kwhy_cap *cap, enum kwhy_cap_goal goal, double slower_ratio, struct kwhy_cap_advice *out)
{
	const struct target target = {cap, goal, slower_ratio};
	const struct kwhy_cap_curve *curve = &cap->fits[cap->chosen].curve;
	struct kwhy_interval power_w = interval_of(&target, best_w(&target, curve));
	double throughput = kwhy_cap_throughput(curve, power_w.value);
	double most = kwhy_cap_throughput(curve, cap->most_w);

	*out = (struct kwhy_cap_advice){judge(&target, power_w), power_w, cap_for(cap, power_w.value),
		power_w.value / throughput / (cap->most_w / most), most / throughput};
	if (out->verdict <= KWHY_CAP_VERDICT_HIGHEST)
		return;
	out->power_w = kwhy_interval_unknown();
	out->cap_w = out->energy_ratio = out->time_ratio = NAN;
}

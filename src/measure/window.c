/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/window.h"

#include "measure/curve.h"

#include <math.h>

#define QUANTILE_95 1.96
#define EDGES_WORSE 1.5
/*
 * Energies by counter and by samples are compared only between updates at least APART_S seconds apart, and
 * only that part of their difference counts which APART_SPREADS standard deviations of the updates' time
 * stamps do not explain.
 */
#define APART_S 1
#define APART_SPREADS 3
/*
 * Standard uncertainty of the energy at one edge of a window, divided by the energy of one interval between
 * readings at the window's mean power; found with simulated steps of the power.
 */
#define EDGE_STRETCHES 0.35
/*
 * The power inside an interval between two knots is bounded by the lowest and highest of its mean power and
 * those of this many intervals on each side of it, with the margins below.
 */
#define NEIGHBOURS 3
/*
 * Margins below the lowest and above the highest power, as shares of the mean power, with power samples
 * (POWER) and without (COUNTER). Margins are needed as samples are 20 ms apart or more; they are larger
 * without samples, as counter updates show nothing of the time between them.
 */
#define BELOW_POWER_RATIO 0.2
#define ABOVE_POWER_RATIO 0.3
#define BELOW_COUNTER_RATIO 0.6
#define ABOVE_COUNTER_RATIO 1.0
/*
 * A window shorter than this many intervals between readings may have had powers that no reading shows: from
 * HIDDEN_LOW_RATIO to HIDDEN_HIGH_RATIO times the interval's mean power.
 */
#define HIDING_STRETCHES 2
#define HIDDEN_LOW_RATIO 0.3
#define HIDDEN_HIGH_RATIO 5.0
/*
 * The runs of one region resemble each other, so the errors at their edges are partly correlated. The
 * variance that they would have if they were fully correlated, times this ratio, is added to that of
 * independent errors.
 */
#define ALIKE_RATIO 0.5

const char *kwhy_energy_basis_name(enum kwhy_energy_basis basis)
{
	static const char *const names[KWHY_ENERGY_BASIS_COUNT] = {
		[KWHY_ENERGY_NONE] = "none",
		[KWHY_ENERGY_COUNTER_AND_POWER] = "counter+power",
		[KWHY_ENERGY_COUNTER] = "counter",
		[KWHY_ENERGY_POWER] = "power",
		[KWHY_ENERGY_AVERAGES] = "averages",
		[KWHY_ENERGY_WALL] = "wall",
	};

	return names[basis];
}

const char *kwhy_energy_missing(enum kwhy_energy_state state, bool is_lost)
{
	static const char *const reasons[] = {
		[KWHY_ENERGY_NOT_METERED] = "the meter gave fewer than two readings",
		[KWHY_ENERGY_NOT_YET] = "the meter's readings ended before the window did",
		[KWHY_ENERGY_FORGOTTEN] = "the meter's first reading came after the window's start",
	};

	if (state != KWHY_ENERGY_MEASURED && is_lost)
		return "the device fell off the bus";
	return reasons[state];
}

/* An interval between two knots of a curve, with the mean powers before, in and after it. */
struct cell {
	int64_t start_ns, end_ns;
	double start_j, length_s;
	double before_w, mean_w, after_w;
	double low_w, high_w; /* lowest and highest of the three mean powers */
};

static double mean_between(const struct kwhy_curve *curve, size_t i)
{
	return (curve->joules[i + 1] - curve->joules[i]) /
		((double)(curve->time_ns[i + 1] - curve->time_ns[i]) * 1e-9);
}

static size_t cell_index(const struct kwhy_curve *curve, int64_t time_ns)
{
	size_t low = 0, high = curve->count - 1;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (curve->time_ns[middle] <= time_ns)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static struct cell cell_of(const struct kwhy_curve *curve, size_t i)
{
	struct cell cell = {
		.start_ns = curve->time_ns[i],
		.end_ns = curve->time_ns[i + 1],
		.start_j = curve->joules[i],
		.length_s = (double)(curve->time_ns[i + 1] - curve->time_ns[i]) * 1e-9,
		.mean_w = mean_between(curve, i),
	};

	cell.before_w = i > 0 ? mean_between(curve, i - 1) : cell.mean_w;
	cell.after_w = i + 2 < curve->count ? mean_between(curve, i + 1) : cell.mean_w;
	cell.low_w = fmin(cell.mean_w, fmin(cell.before_w, cell.after_w));
	cell.high_w = fmax(cell.mean_w, fmax(cell.before_w, cell.after_w));
	return cell;
}

/*
 * Least energy in the first part of an interval, whose length is `share` times length_s, if the mean power of
 * the whole interval is mean_w and the power stays between low_w and high_w. most_j() gives the most.
 */
static double least_j(double share, double length_s, double mean_w, double low_w, double high_w)
{
	return length_s * fmax(low_w * share, mean_w - high_w * (1 - share));
}

static double most_j(double share, double length_s, double mean_w, double low_w, double high_w)
{
	return length_s * fmin(high_w * share, mean_w - low_w * (1 - share));
}

/*
 * Energy from the start of the curve to time_ns. Between two knots it assumes that the power steps at
 * time_ns, from about the level before the interval to that after it, because windows often begin and end
 * with such steps. If these levels are equal, the curve is a straight line. The result is limited to what
 * powers between cell.low_w and cell.high_w allow.
 */
static double used_up_to(const struct kwhy_curve *curve, int64_t time_ns)
{
	struct cell cell = cell_of(curve, cell_index(curve, time_ns));
	double share = (double)(time_ns - cell.start_ns) * 1e-9 / cell.length_s;
	double bent_j = cell.length_s *
		(cell.mean_w * share - (cell.after_w - cell.before_w) * share * (1 - share));
	double least = least_j(share, cell.length_s, cell.mean_w, cell.low_w, cell.high_w);
	double most = most_j(share, cell.length_s, cell.mean_w, cell.low_w, cell.high_w);

	return cell.start_j + fmin(fmax(bent_j, least), most);
}

/*
 * Peak power of a window: its highest power reading, or, if it has none, the highest mean power between two
 * knots inside it.
 */
static double peak_between(const struct kwhy_curve *curve, int64_t start_ns, int64_t end_ns)
{
	double peak_w = NAN, mean_w = NAN;

	for (size_t i = cell_index(curve, start_ns); i < curve->count && curve->time_ns[i] <= end_ns; i++) {
		if (curve->time_ns[i] < start_ns)
			continue;
		peak_w = fmax(peak_w, curve->reading_w[i]);
		if (i + 1 < curve->count && curve->time_ns[i + 1] <= end_ns)
			mean_w = fmax(mean_w, mean_between(curve, i));
	}
	return isnan(peak_w) ? mean_w : peak_w;
}

void kwhy_window_sum_init(struct kwhy_window_sum *sum)
{
	*sum = (struct kwhy_window_sum){
		.peak_w = NAN, .gap_start_ns = INT64_MIN, .state = KWHY_ENERGY_MEASURED};
}

/*
 * Standard uncertainty of the energy of the part of an interval that windows cover. That energy is taken to
 * be uniformly distributed between the least and the most that the bounds of the power allow.
 */
static double cell_sd_j(const struct kwhy_window_sum *sum)
{
	double length_s = (double)(sum->cell_end_ns - sum->cell_start_ns) * 1e-9;
	double share = length_s > 0 ? fmin(sum->cell_covered_s / length_s, 1) : 0;
	double range_j = most_j(share, length_s, sum->cell_mean_w, sum->cell_low_w, sum->cell_high_w) -
		least_j(share, length_s, sum->cell_mean_w, sum->cell_low_w, sum->cell_high_w);

	return fmax(range_j, 0) / sqrt(12);
}

static void flush_cell(struct kwhy_window_sum *sum)
{
	double sd_j = cell_sd_j(sum);

	if (sum->cell_hides) {
		sum->hidden_j += sd_j;
	} else {
		sum->alike_j += sd_j;
		sum->variance_j2 += sd_j * sd_j;
	}
	sum->cell_hides = false;
	sum->cell_edges = 0;
	sum->cell_covered_s = 0;
}

/*
 * Begins to add up the interval after knot i, in which a window has an edge, and sets the bounds of the power
 * in that interval (NEIGHBOURS and the margins).
 */
static void begin_cell(struct kwhy_window_sum *sum, size_t i)
{
	const struct kwhy_curve *curve = sum->curve;
	bool counter_alone = curve->basis == KWHY_ENERGY_COUNTER;
	double mean_w = mean_between(curve, i);
	size_t first = i > NEIGHBOURS ? i - NEIGHBOURS : 0;

	sum->cell_start_ns = curve->time_ns[i];
	sum->cell_end_ns = curve->time_ns[i + 1];
	sum->cell_low_w = sum->cell_high_w = sum->cell_mean_w = mean_w;
	for (size_t k = first; k <= i + NEIGHBOURS && k + 1 < curve->count; k++) {
		sum->cell_low_w = fmin(sum->cell_low_w, mean_between(curve, k));
		sum->cell_high_w = fmax(sum->cell_high_w, mean_between(curve, k));
	}
	sum->cell_low_w -= mean_w * (counter_alone ? BELOW_COUNTER_RATIO : BELOW_POWER_RATIO);
	sum->cell_low_w = fmax(sum->cell_low_w, 0);
	sum->cell_high_w += mean_w * (counter_alone ? ABOVE_COUNTER_RATIO : ABOVE_POWER_RATIO);
}

/*
 * Widens the bounds of the power if a window of window_s is shorter than HIDING_STRETCHES intervals, because
 * it may then have had powers that no reading shows.
 */
static void hide_levels(struct kwhy_window_sum *sum, double window_s)
{
	double length_s = (double)(sum->cell_end_ns - sum->cell_start_ns) * 1e-9;

	if (window_s >= HIDING_STRETCHES * length_s)
		return;
	sum->cell_hides = true;
	sum->cell_low_w = fmin(sum->cell_low_w, HIDDEN_LOW_RATIO * sum->cell_mean_w);
	sum->cell_high_w = fmax(sum->cell_high_w, HIDDEN_HIGH_RATIO * sum->cell_mean_w);
}

/*
 * Notes that a window covers a part of interval i, in which it has an edge. If another interval was being
 * added up, its uncertainty is added first.
 */
static void cover(struct kwhy_window_sum *sum, size_t i, int64_t start_ns, int64_t end_ns)
{
	const struct kwhy_curve *curve = sum->curve;
	int64_t from_ns = start_ns > curve->time_ns[i] ? start_ns : curve->time_ns[i];
	int64_t to_ns = end_ns < curve->time_ns[i + 1] ? end_ns : curve->time_ns[i + 1];

	if (curve->time_ns[i] != sum->cell_start_ns || sum->cell_edges == 0) {
		flush_cell(sum);
		begin_cell(sum, i);
	}
	hide_levels(sum, (double)(end_ns - start_ns) * 1e-9);
	sum->cell_covered_s += (double)(to_ns - from_ns) * 1e-9;
	sum->cell_edges++;
}

static void cover_edges(struct kwhy_window_sum *sum, int64_t start_ns, int64_t end_ns)
{
	size_t first = cell_index(sum->curve, start_ns), last = cell_index(sum->curve, end_ns);

	cover(sum, first, start_ns, end_ns);
	if (last != first)
		cover(sum, last, start_ns, end_ns);
}

/* Power around an edge of a window: mean of the powers before, in and after the edge's interval. */
static double watts_near(const struct kwhy_curve *curve, int64_t time_ns)
{
	struct cell cell = cell_of(curve, cell_index(curve, time_ns));

	return (cell.before_w + cell.mean_w + cell.after_w) / 3;
}

static size_t ticks_before(const struct kwhy_curve *curve, int64_t time_ns)
{
	size_t low = 0, high = curve->update_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (curve->ticks_ns[middle] <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Variance in J^2 of a window's energy by errors of the times of counter updates (stamp_sd_s) and by the
 * counter's resolution. An error occurs at both ends of the window. If no update lies inside, the error is
 * that between the two updates around the window, in proportion to the window's length.
 */
static double update_variance_j2(
	const struct kwhy_curve *curve, int64_t start_ns, int64_t end_ns, double joules)
{
	size_t first = ticks_before(curve, start_ns), last = ticks_before(curve, end_ns);
	double seconds = (double)(end_ns - start_ns) * 1e-9, part = 1;
	double update_j = curve->response.stamp_sd_s * joules / seconds;

	if (first == last && first > 0 && last < curve->update_count)
		part = seconds / ((double)(curve->ticks_ns[last] - curve->ticks_ns[first - 1]) * 1e-9);
	return 2 * part * part * update_j * update_j + curve->quantum_j * curve->quantum_j / 6;
}

/*
 * Adds the uncertainty of the energy that windows cover in an interval between two counter updates. There the
 * samples, scaled to the counter, may be wrong in parts, but not in sum. The errors of the covered part and
 * of the rest are therefore equal and opposite, and the smaller of these two parts determines them.
 */
static void flush_gap(struct kwhy_window_sum *sum)
{
	double rest_j = fmax(sum->gap_j - sum->gap_covered_j, 0);

	sum->ratio_j += sum->gap_ratio * fmin(sum->gap_covered_j, rest_j);
	sum->gap_covered_j = 0;
	sum->gap_start_ns = INT64_MIN;
}

/*
 * How much the ratio of the counter's to the samples' energy from update `i` to the next differs from 1,
 * beyond what errors of the time stamps explain; 0 if the updates are less than APART_S apart.
 */
static double apart_ratio(const struct kwhy_curve *curve, size_t i)
{
	double length_s = (double)(curve->ticks_ns[i + 1] - curve->ticks_ns[i]) * 1e-9;

	if (length_s < APART_S)
		return 0;
	return fmax(0, fabs(curve->gains[i] - 1) - APART_SPREADS * curve->response.stamp_sd_s / length_s);
}

static void begin_gap(struct kwhy_window_sum *sum, size_t i)
{
	const struct kwhy_curve *curve = sum->curve;

	sum->gap_start_ns = curve->ticks_ns[i];
	sum->gap_j = used_up_to(curve, curve->ticks_ns[i + 1]) - used_up_to(curve, curve->ticks_ns[i]);
	sum->gap_ratio = hypot(curve->response.power_ratio, apart_ratio(curve, i));
}

/*
 * Adds the uncertainty of the part of the window between counter updates `next` - 1 and `next`. Before the
 * first update (`next` 0) and after the last, all of the samples' uncertainty counts.
 */
static void cover_gap(struct kwhy_window_sum *sum, size_t next, int64_t start_ns, int64_t end_ns)
{
	const struct kwhy_curve *curve = sum->curve;
	bool begun = next > 0, ends = next < curve->update_count;
	int64_t from_ns = begun && curve->ticks_ns[next - 1] > start_ns ? curve->ticks_ns[next - 1]
									: start_ns;
	int64_t to_ns = ends && curve->ticks_ns[next] < end_ns ? curve->ticks_ns[next] : end_ns;
	double joules = used_up_to(curve, to_ns) - used_up_to(curve, from_ns);

	if (!begun || !ends) {
		sum->ratio_j += curve->response.power_ratio * joules;
		return;
	}
	if (sum->gap_start_ns != curve->ticks_ns[next - 1]) {
		flush_gap(sum);
		begin_gap(sum, next - 1);
	}
	sum->gap_covered_j += joules;
}

static void add_spreads(struct kwhy_window_sum *sum, int64_t start_ns, int64_t end_ns, double joules)
{
	const struct kwhy_curve *curve = sum->curve;
	const struct kwhy_response *response = &curve->response;
	size_t first = ticks_before(curve, start_ns), last = ticks_before(curve, end_ns);

	if (curve->update_count < 2) {
		sum->ratio_j += response->power_alone_ratio * joules;
	} else {
		sum->ratio_j += response->counter_ratio * joules;
		sum->variance_j2 += update_variance_j2(curve, start_ns, end_ns, joules);
		cover_gap(sum, first, start_ns, end_ns);
		if (last != first)
			cover_gap(sum, last, start_ns, end_ns);
	}
	sum->drift_j += (watts_near(curve, end_ns) - watts_near(curve, start_ns)) *
		hypot(response->delay_sd_s,
			hypot(response->time_constant_sd_s, response->average_window_s / sqrt(12)));
}

static enum kwhy_energy_state state_of(const struct kwhy_curve *curve, int64_t start_ns, int64_t end_ns)
{
	if (curve->count == 0)
		return KWHY_ENERGY_NOT_METERED;
	if (start_ns < curve->time_ns[0])
		return KWHY_ENERGY_FORGOTTEN;
	return end_ns > curve->last_ns ? KWHY_ENERGY_NOT_YET : KWHY_ENERGY_MEASURED;
}

static enum kwhy_energy_basis basis_of(const struct kwhy_curve *curve, int64_t end_ns)
{
	return curve->faults.counter_stuck && end_ns > kwhy_curve_counted_ns(curve) ? KWHY_ENERGY_POWER
										    : curve->basis;
}

void kwhy_window_sum_add(struct kwhy_window_sum *sum, int64_t start_ns, int64_t end_ns)
{
	enum kwhy_energy_state state = state_of(sum->curve, start_ns, end_ns);
	double joules;

	if (end_ns <= start_ns)
		return;
	sum->seconds += (double)(end_ns - start_ns) * 1e-9;
	if (state != KWHY_ENERGY_MEASURED) {
		sum->state = state;
		return;
	}
	joules = used_up_to(sum->curve, end_ns) - used_up_to(sum->curve, start_ns);
	sum->joules += joules;
	sum->windows++;
	sum->basis = basis_of(sum->curve, end_ns);
	sum->peak_w = fmax(sum->peak_w, peak_between(sum->curve, start_ns, end_ns));
	cover_edges(sum, start_ns, end_ns);
	add_spreads(sum, start_ns, end_ns, joules);
}

/*
 * Number of repetitions in one window with which the half-width of the 95 % interval would be at most
 * enough_ratio times the energy; 0: no number suffices. Errors in proportion to the energy do not shrink with
 * repetition, so they leave less of the limit to the errors at edges. The edges of a longer window may be
 * worse than those seen (EDGES_WORSE). For windows not much longer than an interval between readings, the
 * number is at least what typical edges need (EDGE_STRETCHES), as such windows do not show how high the power
 * went between readings.
 */
static uint64_t repetitions(const struct kwhy_window_sum *sum, double edges_j, double enough_ratio)
{
	double ratio = QUANTILE_95 * sum->ratio_j / sum->joules,
	       space = enough_ratio * enough_ratio - ratio * ratio;
	double stretch_s = (double)(sum->cell_end_ns - sum->cell_start_ns) * 1e-9, times;

	if (!(sum->joules > 0) || space <= 0)
		return 0;
	times = EDGES_WORSE * edges_j / sum->joules / sqrt(space);
	times = fmax(times, EDGE_STRETCHES * stretch_s * (double)sum->windows / sum->seconds / sqrt(space));
	return times > 1e15 ? 0 : (uint64_t)ceil(times);
}

/* Standard uncertainty of the summed energy, except the errors in proportion to the energy (ratio_j). */
static double edges_sd_j(const struct kwhy_window_sum *sum)
{
	double alike_j2 = sum->windows > 1 ? ALIKE_RATIO * sum->alike_j * sum->alike_j : 0;

	return sqrt(
		sum->variance_j2 + alike_j2 + sum->hidden_j * sum->hidden_j + sum->drift_j * sum->drift_j);
}

void kwhy_window_sum_result(
	const struct kwhy_window_sum *windows, double enough_ratio, struct kwhy_energy *out)
{
	struct kwhy_window_sum sum = *windows;
	double edges_j, half_j;

	*out = (struct kwhy_energy){.state = sum.state,
		.joules = NAN,
		.low_j = NAN,
		.high_j = NAN,
		.seconds = sum.seconds,
		.mean_w = NAN,
		.peak_w = NAN};
	if (sum.state != KWHY_ENERGY_MEASURED)
		return;
	flush_cell(&sum);
	flush_gap(&sum);
	edges_j = QUANTILE_95 * edges_sd_j(&sum);
	half_j = hypot(edges_j, QUANTILE_95 * sum.ratio_j);
	out->basis = sum.basis;
	out->joules = sum.joules;
	out->low_j = fmax(sum.joules - half_j, fmin(0, sum.joules));
	out->high_j = sum.joules + half_j;
	out->mean_w = sum.seconds > 0 ? sum.joules / sum.seconds : NAN;
	out->peak_w = sum.peak_w;
	out->enough = half_j <= enough_ratio * sum.joules;
	out->repetitions_needed = out->enough ? 1 : repetitions(&sum, edges_j, enough_ratio);
}

void kwhy_window_energy(const struct kwhy_curve *curve, int64_t start_ns, int64_t end_ns, double enough_ratio,
	struct kwhy_energy *out)
{
	struct kwhy_window_sum sum;

	kwhy_window_sum_init(&sum);
	sum.curve = curve;
	if (curve->count == 0)
		sum.state = KWHY_ENERGY_NOT_METERED;
	kwhy_window_sum_add(&sum, start_ns, end_ns);
	kwhy_window_sum_result(&sum, enough_ratio, out);
}

int64_t kwhy_window_ready_ns(int64_t end_ns, const struct kwhy_readings *counter,
	const struct kwhy_readings *power, const struct kwhy_response *response)
{
	const int64_t slack_ns = 10000000; /* allowance for late time stamps and late reads */
	const int64_t update_most_ns =
		150000000; /* if the period is longer, the driver updates the counter only when it is read */
	int64_t update_ns = counter ? counter->period_ns : 0, sample_ns = power ? 2 * power->period_ns : 0;
	double lag_s = response->delay_s + response->average_window_s / 2;

	update_ns = update_ns < update_most_ns ? update_ns : update_most_ns;
	return end_ns + (int64_t)(lag_s * 1e9) + (update_ns > sample_ns ? update_ns : sample_ns) + slack_ns;
}

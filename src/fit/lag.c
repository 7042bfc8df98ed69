/* SPDX-License-Identifier: Apache-2.0 */
#include "fit/lag.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum { SIDE = 21, ROUNDS = 8, REWEIGHTS = 12, READINGS_MIN = 12, LAGS_MAX = 50 };

#define FREEDOM 4.0	 /* degrees of freedom of the Student-t errors */
#define NOISE_MIN_W 0.02 /* lower bound of the noise in watts, since meters resolve milliwatts */

/* Power levels of one series of readings, fitted for one width and delay of the meter's response. */
struct point {
	double off_w, rise_w, scale_w; /* rise_w: power of a pulse above off_w */
	double off_var, on_var;
	double log_likelihood;
	double log_volume; /* logarithm of the volume, up to a constant, of the uncertainty of off_w, rise_w
			      and scale_w; adding it to log_likelihood marginalises these three (Laplace's
			      approximation) */
};

/*
 * Grid over width and centre, in seconds. The centre is the meter's mean lag: the delay plus the lag by
 * smoothing, which is a share of the width. A grid over the centre needs fewer points than one over the
 * delay, because the readings determine the centre almost independently of the width.
 */
struct grid {
	double width_low, width_high, centre_low, centre_high;
	double log_weight[SIDE][SIDE]; /* [width][centre] logarithm of each grid point's weight */
};

struct work {
	const struct kwhy_lag_data *data;
	double *shown; /* [reading_count of the longest series] what a meter of the assumed width and delay
			  would show if the power were 1 in pulses and 0 otherwise */
	double temper[KWHY_LAG_STRETCHES_MAX];
	struct grid grid;
};

static double seconds_between(int64_t from_ns, int64_t to_ns)
{
	return (double)(to_ns - from_ns) * 1e-9;
}

static void show_low_pass(const struct kwhy_lag_stretch *stretch, double width_s, double delay_s, double *out)
{
	int64_t delay_ns = (int64_t)(delay_s * 1e9), at_ns = INT64_MIN;
	double level = 0;
	size_t edge = 0, edges = 2 * stretch->pulse_count;

	for (size_t k = 0; k < stretch->reading_count; k++) {
		int64_t time_ns = stretch->readings[k].time_ns - delay_ns;

		for (;; edge++) {
			const struct kwhy_pulse *pulse = &stretch->pulses[edge / 2];
			int64_t edge_ns = edge >= edges ? INT64_MAX
				: edge % 2		? pulse->end_ns
							: pulse->start_ns;
			int64_t to_ns = edge_ns < time_ns ? edge_ns : time_ns;

			if (at_ns != INT64_MIN && to_ns > at_ns)
				level = edge % 2 +
					(level - edge % 2) * exp(-seconds_between(at_ns, to_ns) / width_s);
			at_ns = to_ns > at_ns ? to_ns : at_ns;
			if (edge_ns >= time_ns)
				break;
		}
		out[k] = level;
	}
}

/*
 * Total time in s of pulses up to time_ns. The search continues at pulse `*from`, before which pulses took
 * `*before_s`; both are 0 at first, and times must not fall from call to call.
 */
static double on_until(
	const struct kwhy_lag_stretch *stretch, int64_t time_ns, size_t *from, double *before_s)
{
	while (*from < stretch->pulse_count && stretch->pulses[*from].end_ns <= time_ns) {
		*before_s += seconds_between(stretch->pulses[*from].start_ns, stretch->pulses[*from].end_ns);
		++*from;
	}
	if (*from < stretch->pulse_count && stretch->pulses[*from].start_ns < time_ns)
		return *before_s + seconds_between(stretch->pulses[*from].start_ns, time_ns);
	return *before_s;
}

static void show_mean(const struct kwhy_lag_stretch *stretch, double width_s, double delay_s, double *out)
{
	int64_t delay_ns = (int64_t)(delay_s * 1e9), width_ns = (int64_t)(width_s * 1e9);
	double begin_s = 0, end_s = 0;
	size_t begin = 0, end = 0;

	for (size_t k = 0; k < stretch->reading_count; k++) {
		int64_t time_ns = stretch->readings[k].time_ns - delay_ns;

		out[k] = (on_until(stretch, time_ns, &end, &end_s) -
				 on_until(stretch, time_ns - width_ns, &begin, &begin_s)) /
			width_s;
	}
}

void kwhy_lag_shown(enum kwhy_lag_kind kind, const struct kwhy_lag_stretch *stretch, double width_s,
	double delay_s, double *out)
{
	if (kind == KWHY_LAG_MEAN)
		show_mean(stretch, width_s, delay_s, out);
	else
		show_low_pass(stretch, width_s, delay_s, out);
}

/*
 * Weighted sums for fitting a line: y, the readings in watts, as a function of x, what the meter would show
 * of pulses of power 1.
 */
struct sums {
	double w, x, y, xx, xy;
};

static double left_of(
	const struct kwhy_lag_stretch *stretch, const double *shown, const struct point *point, size_t k)
{
	return stretch->readings[k].power_w - point->off_w - point->rise_w * shown[k];
}

/* Weight of a residual for Student-t errors; 1 as long as their scale is unknown. */
static double weight_of(double left_w, double scale_w)
{
	double ratio = left_w / scale_w;

	return isfinite(scale_w) ? (FREEDOM + 1) / (FREEDOM + ratio * ratio) : 1;
}

static struct sums add_up(
	const struct kwhy_lag_stretch *stretch, const double *shown, const struct point *point)
{
	struct sums sums = {0};

	for (size_t k = 0; k < stretch->reading_count; k++) {
		double x = shown[k], y = stretch->readings[k].power_w,
		       weight = weight_of(left_of(stretch, shown, point, k), point->scale_w);

		sums.w += weight;
		sums.x += weight * x;
		sums.y += weight * y;
		sums.xx += weight * x * x;
		sums.xy += weight * x * y;
	}
	return sums;
}

static double scale_of(const struct kwhy_lag_stretch *stretch, const double *shown, const struct point *point)
{
	double sum = 0;

	for (size_t k = 0; k < stretch->reading_count; k++) {
		double left = left_of(stretch, shown, point, k);

		sum += left * left * weight_of(left, point->scale_w);
	}
	return fmax(sqrt(sum / (double)stretch->reading_count), NOISE_MIN_W);
}

static double log_likelihood(
	const struct kwhy_lag_stretch *stretch, const double *shown, const struct point *point)
{
	double sum = 0;

	for (size_t k = 0; k < stretch->reading_count; k++) {
		double left = left_of(stretch, shown, point, k) / point->scale_w;

		sum -= (FREEDOM + 1) / 2 * log1p(left * left / FREEDOM) + log(point->scale_w);
	}
	return sum;
}

/*
 * Fits off_w, rise_w and scale_w to a series by iterative reweighting, which maximises the Student-t
 * likelihood. False: the series cannot show its pulses, because what the meter would show of them is the same
 * in all readings.
 */
static bool fit_point(const struct kwhy_lag_stretch *stretch, const double *shown, struct point *out)
{
	struct point point = {.scale_w = INFINITY};
	struct sums sums = {0};
	double determinant = 0, unit;

	for (int i = 0; i < REWEIGHTS; i++) {
		sums = add_up(stretch, shown, &point);
		determinant = sums.w * sums.xx - sums.x * sums.x;
		if (!(determinant > 1e-9 * sums.w * sums.w))
			return false;
		point.rise_w = (sums.w * sums.xy - sums.x * sums.y) / determinant;
		point.off_w = (sums.y - point.rise_w * sums.x) / sums.w;
		point.scale_w = scale_of(stretch, shown, &point);
	}
	unit = point.scale_w * point.scale_w * (FREEDOM + 3) / (FREEDOM + 1) / determinant;
	point.off_var = unit * sums.xx;
	point.on_var = unit * (sums.xx - 2 * sums.x + sums.w);
	point.log_volume = 2 * log(point.scale_w) - log(determinant) / 2;
	point.log_likelihood = log_likelihood(stretch, shown, &point);
	*out = point;
	return true;
}

static bool fit_stretch(struct work *work, size_t which, double width_s, double delay_s, struct point *out)
{
	const struct kwhy_lag_stretch *stretch = &work->data->stretches[which];

	kwhy_lag_shown(work->data->kind, stretch, width_s, delay_s, work->shown);
	return fit_point(stretch, work->shown, out);
}

/*
 * Mean lag that smoothing causes, divided by the width: half the window of a mean, or the time constant of a
 * low-pass.
 */
static double smoothing_share(const struct work *work)
{
	return work->data->kind == KWHY_LAG_MEAN ? 0.5 : 1;
}

static double log_weight_at(struct work *work, double width_s, double delay_s)
{
	double sum = 0;

	if (delay_s < work->data->delay_low_s || delay_s > work->data->delay_high_s)
		return -INFINITY;
	for (size_t i = 0; i < work->data->stretch_count; i++) {
		struct point point;

		if (!fit_stretch(work, i, width_s, delay_s, &point))
			return -INFINITY;
		sum += work->temper[i] * point.log_likelihood + point.log_volume;
	}
	return sum;
}

static double width_at(const struct grid *grid, int step)
{
	return grid->width_low + (grid->width_high - grid->width_low) * step / (SIDE - 1);
}

static double centre_at(const struct grid *grid, int step)
{
	return grid->centre_low + (grid->centre_high - grid->centre_low) * step / (SIDE - 1);
}

/*
 * Fills the grid with log weights and returns the highest one; -INFINITY: at no point of the grid do all
 * series show their pulses.
 */
static double fit_grid(struct work *work)
{
	struct grid *grid = &work->grid;
	double highest = -INFINITY;

	for (int i = 0; i < SIDE; i++)
		for (int j = 0; j < SIDE; j++) {
			double width_s = width_at(grid, i),
			       delay_s = centre_at(grid, j) - smoothing_share(work) * width_s;

			grid->log_weight[i][j] = log_weight_at(work, width_s, delay_s);
			highest = fmax(highest, grid->log_weight[i][j]);
		}
	return highest;
}

/* Weighted sums over the grid, for mean and standard deviation of a figure. */
struct moments {
	double weight, sum, squares;
};

static void add_moment(struct moments *moments, double weight, double value)
{
	moments->weight += weight;
	moments->sum += weight * value;
	moments->squares += weight * value * value;
}

static double sd_of(const struct moments *moments)
{
	double mean = moments->sum / moments->weight;

	return sqrt(fmax(moments->squares / moments->weight - mean * mean, 0));
}

static double mean_of(const struct moments *moments)
{
	return moments->sum / moments->weight;
}

/*
 * Writes the weighted means and standard deviations of width and delay over the grid to `out`; returns the
 * sums from which the mean and standard deviation of the centre follow.
 */
static struct moments summarise(const struct work *work, double highest, struct kwhy_lag *out)
{
	const struct grid *grid = &work->grid;
	struct moments width = {0}, centre = {0}, delay = {0};

	for (int i = 0; i < SIDE; i++)
		for (int j = 0; j < SIDE; j++) {
			double weight = exp(grid->log_weight[i][j] - highest), width_s = width_at(grid, i),
			       centre_s = centre_at(grid, j);

			add_moment(&width, weight, width_s);
			add_moment(&centre, weight, centre_s);
			add_moment(&delay, weight, centre_s - smoothing_share(work) * width_s);
		}
	out->width_s = mean_of(&width);
	out->width_sd_s = sd_of(&width);
	out->delay_s = mean_of(&delay);
	out->delay_sd_s = sd_of(&delay);
	return centre;
}

/*
 * Narrows a range of the grid to `mean` +- 4 `sd`, or +- 2.5 steps of the present grid if that is more,
 * within `least` and `most`.
 */
static void narrow(double *low, double *high, double mean, double sd, double least, double most)
{
	double half = fmax(4 * sd, 2.5 * (*high - *low) / (SIDE - 1));

	*low = fmax(mean - half, least);
	*high = fmin(mean + half, most);
}

/*
 * Exponent of a series' likelihood, so that correlated residuals do not count as independent: 1 / (1 + 2 *
 * sum of the residuals' autocorrelations), from lag 1 up to the first that is not significant. It overwrites
 * `shown` with the residuals, limited to +- 4 scale_w.
 */
static double temper_of(const struct kwhy_lag_stretch *stretch, double *shown, const struct point *point)
{
	size_t count = stretch->reading_count;
	double squares = 0, sum = 0, limit = 4 * point->scale_w;

	for (size_t k = 0; k < count; k++) {
		shown[k] = fmin(fmax(left_of(stretch, shown, point, k), -limit), limit);
		squares += shown[k] * shown[k];
	}
	for (size_t lag = 1; lag <= LAGS_MAX && lag < count && squares > 0; lag++) {
		double product = 0;

		for (size_t k = lag; k < count; k++)
			product += shown[k] * shown[k - lag];
		if (product / squares < 2 / sqrt((double)count))
			break;
		sum += product / squares;
	}
	return 1 / (1 + 2 * sum);
}

/*
 * Fits the levels of every series for the width and delay in `out`, and sets the exponent of its likelihood
 * (temper_of()) for the next grid.
 */
static void settle_levels(struct work *work, struct kwhy_lag *out)
{
	out->log_likelihood = 0;
	for (size_t i = 0; i < work->data->stretch_count; i++) {
		struct kwhy_lag_levels *levels = &out->levels[i];
		struct point point;

		if (!fit_stretch(work, i, out->width_s, out->delay_s, &point))
			continue;
		out->log_likelihood += point.log_likelihood;
		work->temper[i] = temper_of(&work->data->stretches[i], work->shown, &point);
		*levels = (struct kwhy_lag_levels){
			.off_w = point.off_w,
			.off_sd_w = sqrt(point.off_var / work->temper[i]),
			.on_w = point.off_w + point.rise_w,
			.on_sd_w = sqrt(point.on_var / work->temper[i]),
			.noise_w = point.scale_w,
			.temper = work->temper[i],
		};
	}
}

static void zoom(struct work *work, const struct kwhy_lag *lag, const struct moments *centre)
{
	const struct kwhy_lag_data *data = work->data;
	double share = smoothing_share(work);

	narrow(&work->grid.width_low, &work->grid.width_high, lag->width_s, lag->width_sd_s,
		data->width_low_s, data->width_high_s);
	narrow(&work->grid.centre_low, &work->grid.centre_high, mean_of(centre), sd_of(centre),
		data->delay_low_s + share * data->width_low_s,
		data->delay_high_s + share * data->width_high_s);
}

static enum kwhy_status search(struct work *work, struct kwhy_lag *out, struct kwhy_error *error)
{
	for (int round = 0; round < ROUNDS; round++) {
		double highest = fit_grid(work);
		struct moments centre;

		if (!isfinite(highest))
			return kwhy_fail(error, KWHY_E_INPUT,
				"the meter shows nothing of the load: its readings lie outside it");
		centre = summarise(work, highest, out);
		settle_levels(work, out);
		if (round + 1 < ROUNDS)
			zoom(work, out, &centre);
	}
	return KWHY_OK;
}

static enum kwhy_status check(const struct kwhy_lag_data *data, size_t *out_longest, struct kwhy_error *error)
{
	*out_longest = 0;
	if (!data->stretch_count || data->stretch_count > KWHY_LAG_STRETCHES_MAX)
		return kwhy_fail(error, KWHY_E_INPUT, "%zu loads are none, or too many, to see a lag from",
			data->stretch_count);
	for (size_t i = 0; i < data->stretch_count; i++) {
		const struct kwhy_lag_stretch *stretch = &data->stretches[i];

		if (stretch->reading_count < READINGS_MIN || !stretch->pulse_count)
			return kwhy_fail(error, KWHY_E_INPUT,
				"%zu readings of %zu pulses are too few to see a meter's lag",
				stretch->reading_count, stretch->pulse_count);
		if (stretch->reading_count > *out_longest)
			*out_longest = stretch->reading_count;
	}
	return KWHY_OK;
}

enum kwhy_status kwhy_lag_fit(
	const struct kwhy_lag_data *data, struct kwhy_lag *out, struct kwhy_error *error)
{
	struct kwhy_lag lag = {0};
	struct work *work;
	size_t longest;
	enum kwhy_status status = check(data, &longest, error);

	if (status)
		return status;
	work = calloc(1, sizeof(*work) + longest * sizeof(double));
	if (!work)
		return kwhy_fail_memory(error, "the fit of a meter's lag");
	work->data = data;
	work->shown = (double *)(void *)(work + 1);
	work->grid = (struct grid){.width_low = data->width_low_s,
		.width_high = data->width_high_s,
		.centre_low = data->delay_low_s + smoothing_share(work) * data->width_low_s,
		.centre_high = data->delay_high_s + smoothing_share(work) * data->width_high_s};
	for (size_t i = 0; i < data->stretch_count; i++)
		work->temper[i] = 1;
	status = search(work, &lag, error);
	free(work);
	if (!status)
		*out = lag;
	return status;
}

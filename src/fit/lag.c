/* SPDX-License-Identifier: Apache-2.0 */
#include "fit/lag.h"

#include <math.h>
#include <stdlib.h>

enum { SIDE = 21, ROUNDS = 5, REWEIGHTS = 12, READINGS_LEAST = 12, LAGS_MOST = 50 };

#define FREEDOM 4.0	   /* of the Student-t errors */
#define NOISE_LEAST_W 0.02 /* meters tell milliwatts */

/* Off and on at one width and delay. */
struct point {
	double off_w, rise_w, scale_w; /* rise: on less off */
	double off_var, on_var;
	double log_weight; /* before tempering: the likelihood; `log_volume` is of the levels */
	double log_volume;
};

struct work {
	const struct kwhy_lag_data *data;
	double *shown, *watts; /* [reading_count] */
	double temper;
	double width_low, width_high, delay_low, delay_high;
	struct point points[SIDE][SIDE]; /* width, delay */
};

static double seconds_between(int64_t from_ns, int64_t to_ns)
{
	return (double)(to_ns - from_ns) * 1e-9;
}

static void show_low_pass(const struct kwhy_lag_data *data, double width_s, double delay_s, double *out)
{
	int64_t delay_ns = (int64_t)(delay_s * 1e9), at_ns = INT64_MIN;
	double level = 0;
	size_t edge = 0, edges = 2 * data->pulse_count;

	for (size_t k = 0; k < data->reading_count; k++) {
		int64_t time_ns = data->readings[k].time_ns - delay_ns;

		for (;; edge++) {
			const struct kwhy_pulse *pulse = &data->pulses[edge / 2];
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

/* Seconds of pulses up to a time; `*from` and `*before_s` carry on from the call before. */
static double on_until(const struct kwhy_lag_data *data, int64_t time_ns, size_t *from, double *before_s)
{
	while (*from < data->pulse_count && data->pulses[*from].end_ns <= time_ns) {
		*before_s += seconds_between(data->pulses[*from].start_ns, data->pulses[*from].end_ns);
		++*from;
	}
	if (*from < data->pulse_count && data->pulses[*from].start_ns < time_ns)
		return *before_s + seconds_between(data->pulses[*from].start_ns, time_ns);
	return *before_s;
}

static void show_mean(const struct kwhy_lag_data *data, double width_s, double delay_s, double *out)
{
	int64_t delay_ns = (int64_t)(delay_s * 1e9), width_ns = (int64_t)(width_s * 1e9);
	double begin_s = 0, end_s = 0;
	size_t begin = 0, end = 0;

	for (size_t k = 0; k < data->reading_count; k++) {
		int64_t time_ns = data->readings[k].time_ns - delay_ns;

		out[k] = (on_until(data, time_ns, &end, &end_s) -
				 on_until(data, time_ns - width_ns, &begin, &begin_s)) /
			width_s;
	}
}

void kwhy_lag_shown(const struct kwhy_lag_data *data, double width_s, double delay_s, double *out)
{
	if (data->kind == KWHY_LAG_MEAN)
		show_mean(data, width_s, delay_s, out);
	else
		show_low_pass(data, width_s, delay_s, out);
}

/* Weighted sums of a line through (shown, watts). */
struct sums {
	double w, x, y, xx, xy;
};

static struct sums add_up(const struct work *work, const struct point *point)
{
	struct sums sums = {0};

	for (size_t k = 0; k < work->data->reading_count; k++) {
		double x = work->shown[k], y = work->watts[k],
		       left = (y - point->off_w - point->rise_w * x) / point->scale_w,
		       weight = isfinite(point->scale_w) ? (FREEDOM + 1) / (FREEDOM + left * left) : 1;

		sums.w += weight;
		sums.x += weight * x;
		sums.y += weight * y;
		sums.xx += weight * x * x;
		sums.xy += weight * x * y;
	}
	return sums;
}

static double squares_left(const struct work *work, const struct point *point, double scale_w)
{
	double sum = 0;

	for (size_t k = 0; k < work->data->reading_count; k++) {
		double left = work->watts[k] - point->off_w - point->rise_w * work->shown[k],
		       ratio = left / scale_w;

		sum += left * left * (isfinite(scale_w) ? (FREEDOM + 1) / (FREEDOM + ratio * ratio) : 1);
	}
	return sum;
}

static double log_likelihood(const struct work *work, const struct point *point)
{
	double sum = 0;

	for (size_t k = 0; k < work->data->reading_count; k++) {
		double left = (work->watts[k] - point->off_w - point->rise_w * work->shown[k]) /
			point->scale_w;

		sum -= (FREEDOM + 1) / 2 * log1p(left * left / FREEDOM) + log(point->scale_w);
	}
	return sum;
}

/* Off, on and scale by repeated weighting: the summit of the Student-t likelihood. */
static void fit_point(struct work *work, double width_s, double delay_s, struct point *out)
{
	struct point point = {.scale_w = INFINITY};
	double count = (double)work->data->reading_count, determinant = 0, scale_w;
	struct sums sums = {0};

	kwhy_lag_shown(work->data, width_s, delay_s, work->shown);
	for (int i = 0; i < REWEIGHTS; i++) {
		sums = add_up(work, &point);
		determinant = sums.w * sums.xx - sums.x * sums.x;
		if (!(determinant > 1e-9 * sums.w * sums.w)) {
			*out = (struct point){.log_weight = -INFINITY};
			return;
		}
		point.rise_w = (sums.w * sums.xy - sums.x * sums.y) / determinant;
		point.off_w = (sums.y - point.rise_w * sums.x) / sums.w;
		scale_w = sqrt(squares_left(work, &point, point.scale_w) / count);
		point.scale_w = fmax(scale_w, NOISE_LEAST_W);
	}
	point.log_weight = log_likelihood(work, &point);
	point.log_volume = log(point.scale_w) - log(determinant) / 2;
	scale_w = point.scale_w * point.scale_w * (FREEDOM + 3) / (FREEDOM + 1) / determinant;
	point.off_var = scale_w * sums.xx;
	point.on_var = scale_w * (sums.xx - 2 * sums.x + sums.w);
	*out = point;
}

static double place(double low, double high, int step)
{
	return low + (high - low) * step / (SIDE - 1);
}

static void fit_grid(struct work *work)
{
	for (int i = 0; i < SIDE; i++)
		for (int j = 0; j < SIDE; j++)
			fit_point(work, place(work->width_low, work->width_high, i),
				place(work->delay_low, work->delay_high, j), &work->points[i][j]);
}

static const struct point *summit(const struct work *work, int *out_width, int *out_delay)
{
	const struct point *best = &work->points[0][0];

	*out_width = *out_delay = 0;
	for (int i = 0; i < SIDE; i++)
		for (int j = 0; j < SIDE; j++)
			if (work->points[i][j].log_weight > best->log_weight) {
				best = &work->points[i][j];
				*out_width = i;
				*out_delay = j;
			}
	return best;
}

/* Mean and variance of one quantity over the grid. */
struct moments {
	double sum, squares, within;
};

static void add_moment(struct moments *moments, double weight, double value, double variance)
{
	moments->sum += weight * value;
	moments->squares += weight * value * value;
	moments->within += weight * variance;
}

static void settle(const struct moments *moments, double total, double *out_mean, double *out_spread)
{
	double mean = moments->sum / total,
	       variance = moments->squares / total - mean * mean + moments->within / total;

	*out_mean = mean;
	*out_spread = sqrt(fmax(variance, 0));
}

static void gather(const struct work *work, struct kwhy_lag *out)
{
	struct moments width = {0}, delay = {0}, off = {0}, on = {0}, noise = {0};
	double total = 0, ignored;
	int best_width, best_delay;
	const struct point *best = summit(work, &best_width, &best_delay);

	for (int i = 0; i < SIDE; i++)
		for (int j = 0; j < SIDE; j++) {
			const struct point *point = &work->points[i][j];
			double weight = exp(work->temper * (point->log_weight - best->log_weight) +
				point->log_volume - best->log_volume);

			if (!isfinite(point->log_weight))
				continue;
			total += weight;
			add_moment(&width, weight, place(work->width_low, work->width_high, i), 0);
			add_moment(&delay, weight, place(work->delay_low, work->delay_high, j), 0);
			add_moment(&off, weight, point->off_w, point->off_var / work->temper);
			add_moment(&on, weight, point->off_w + point->rise_w, point->on_var / work->temper);
			add_moment(&noise, weight, point->scale_w, 0);
		}
	settle(&width, total, &out->width_s, &out->width_spread_s);
	settle(&delay, total, &out->delay_s, &out->delay_spread_s);
	settle(&off, total, &out->off_w, &out->off_spread_w);
	settle(&on, total, &out->on_w, &out->on_spread_w);
	settle(&noise, total, &out->noise_w, &ignored);
	out->temper = work->temper;
}

/* Narrows a range of the grid round what was found, never beyond where the caller wants to look. */
static void narrow(double *low, double *high, double mean, double spread, double least, double most)
{
	double half = fmax(4 * spread, 1.5 * (*high - *low) / (SIDE - 1));

	*low = fmax(mean - half, least);
	*high = fmin(mean + half, most);
}

/* 1 / (1 + 2 sum of the autocorrelations that stand out), of the residuals at the summit. */
static double temper_of(struct work *work)
{
	size_t count = work->data->reading_count;
	int width, delay;
	const struct point *best = summit(work, &width, &delay);
	double squares = 0, sum = 0, threshold = 2 / sqrt((double)count);

	kwhy_lag_shown(work->data, place(work->width_low, work->width_high, width),
		place(work->delay_low, work->delay_high, delay), work->shown);
	for (size_t k = 0; k < count; k++) {
		double left = work->watts[k] - best->off_w - best->rise_w * work->shown[k],
		       limit = 4 * best->scale_w;

		work->shown[k] = fmin(fmax(left, -limit), limit);
		squares += work->shown[k] * work->shown[k];
	}
	for (size_t lag = 1; lag <= LAGS_MOST && lag < count && squares > 0; lag++) {
		double product = 0;

		for (size_t k = lag; k < count; k++)
			product += work->shown[k] * work->shown[k - lag];
		if (product / squares < threshold)
			break;
		sum += product / squares;
	}
	return 1 / (1 + 2 * sum);
}

static enum kwhy_status search(struct work *work, struct kwhy_lag *out, struct kwhy_error *error)
{
	const struct kwhy_lag_data *data = work->data;
	int width, delay;

	for (int round = 0; round < ROUNDS; round++) {
		fit_grid(work);
		if (!isfinite(summit(work, &width, &delay)->log_weight))
			return kwhy_fail(error, KWHY_E_INPUT,
				"the meter shows nothing of the load: its readings lie outside it");
		if (round > 0)
			work->temper = temper_of(work);
		gather(work, out);
		if (round == ROUNDS - 1)
			break;
		narrow(&work->width_low, &work->width_high, out->width_s, out->width_spread_s,
			data->width_low_s, data->width_high_s);
		narrow(&work->delay_low, &work->delay_high, out->delay_s, out->delay_spread_s,
			data->delay_low_s, data->delay_high_s);
	}
	return KWHY_OK;
}

enum kwhy_status kwhy_lag_fit(
	const struct kwhy_lag_data *data, struct kwhy_lag *out, struct kwhy_error *error)
{
	struct work *work;
	enum kwhy_status status;

	if (data->reading_count < READINGS_LEAST || !data->pulse_count)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%zu readings and %zu pulses are too few to see a meter's lag", data->reading_count,
			data->pulse_count);
	work = calloc(1, sizeof(*work) + 2 * data->reading_count * sizeof(double));
	if (!work)
		return kwhy_fail_memory(error, "the fit of a meter's lag");
	work->data = data;
	work->shown = (double *)(void *)(work + 1);
	work->watts = work->shown + data->reading_count;
	work->temper = 1;
	work->width_low = data->width_low_s;
	work->width_high = data->width_high_s;
	work->delay_low = data->delay_low_s;
	work->delay_high = data->delay_high_s;
	for (size_t k = 0; k < data->reading_count; k++)
		work->watts[k] = data->readings[k].power_w;
	status = search(work, out, error);
	free(work);
	return status;
}

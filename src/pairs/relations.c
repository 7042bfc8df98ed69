/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Correlates transfer times with the temperature and the clock rate of the sending GPU, which are read once a
 * second.
 */
#include "pairs/analysis.h"

#include <math.h>
#include <stdlib.h>

/* a reading is not used for samples that start more than this many ns after it */
#define READING_LASTS_NS INT64_C(1500000000)
#define NORMAL_97_5 1.959964

enum { READINGS_MIN = 8, SAMPLES_MIN = 5 };

/*
 * A sample. reading: index of the GPU's reading at its start; ratio: its time less the median of its
 * configuration, relative to the median.
 */
struct distance {
	size_t reading;
	double ratio;
};

struct points {
	double *x, *y; /* in order of time; x: values of a gauge, y: deviations as in struct distance */
	size_t count;
};

static int compare_distances(const void *a, const void *b)
{
	const struct distance *one = a, *other = b;

	if (one->reading != other->reading)
		return one->reading < other->reading ? -1 : 1;
	return (one->ratio > other->ratio) - (one->ratio < other->ratio);
}

/*
 * Index of the GPU's last reading at or before `unix_ns`; pairs->reading_count: there is none, or it is older
 * than READING_LASTS_NS.
 */
static size_t reading_at(const struct kwhy_pairs *pairs, uint32_t gpu, int64_t unix_ns)
{
	size_t low = 0, high = pairs->reading_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pairs->readings[middle].unix_ns <= unix_ns)
			low = middle + 1;
		else
			high = middle;
	}
	while (low > 0) {
		const struct kwhy_pair_reading *reading = &pairs->readings[--low];

		if (unix_ns - reading->unix_ns > READING_LASTS_NS)
			break;
		if (reading->gpu == gpu)
			return low;
	}
	return pairs->reading_count;
}

static size_t list_distances(const struct kwhy_pairs *pairs, uint32_t gpu, struct distance *out)
{
	size_t count = 0;

	for (size_t i = 0; i < pairs->config_count; i++) {
		const struct kwhy_pair_config *config = &pairs->configs[i];

		if (config->source != gpu || config->sample_count < SAMPLES_MIN)
			continue;
		for (size_t k = 0; k < config->sample_count; k++) {
			size_t reading = reading_at(pairs, gpu, config->samples[k].start_unix_ns);

			if (reading < pairs->reading_count)
				out[count++] = (struct distance){
					reading, config->samples[k].seconds / config->summary.median_s - 1};
		}
	}
	return count;
}

static double gauge_of(const struct kwhy_pair_reading *reading, enum kwhy_pair_gauge gauge)
{
	return gauge == KWHY_PAIR_TEMPERATURE ? reading->temperature_c : reading->clock_hz;
}

/*
 * Makes a point for each reading that has samples. x: value of the gauge; y: median deviation of the samples.
 */
static void make_points(const struct kwhy_pairs *pairs, enum kwhy_pair_gauge gauge,
	const struct distance *distances, size_t count, struct points *out)
{
	out->count = 0;
	for (size_t i = 0, end; i < count; i = end) {
		double x = gauge_of(&pairs->readings[distances[i].reading], gauge);

		for (end = i; end < count && distances[end].reading == distances[i].reading;)
			end++;
		if (!isfinite(x))
			continue;
		out->x[out->count] = x;
		out->y[out->count++] = distances[i + (end - i) / 2].ratio;
	}
}

static double mean_of(const double *values, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += values[i];
	return sum / (double)count;
}

/* Sum over i of (a[i] - mean of a) * (b[i + later] - mean of b). */
static double products(const double *a, const double *b, size_t count, size_t later)
{
	double mean_a = mean_of(a, count), mean_b = mean_of(b, count), sum = 0;

	for (size_t i = 0; i + later < count; i++)
		sum += (a[i] - mean_a) * (b[i + later] - mean_b);
	return sum;
}

/*
 * The number of independent points that would contain as much information as `points`. It is lower than
 * points->count, because successive readings resemble each other. By Bartlett's formula for two first-order
 * autoregressive series; xx, yy: sums of squared deviations from the mean of x and of y.
 */
static double independent(const struct points *points, double xx, double yy)
{
	double of_x = products(points->x, points->x, points->count, 1) / xx,
	       of_y = products(points->y, points->y, points->count, 1) / yy, both = fmax(of_x * of_y, 0);

	return (double)points->count * (1 - both) / (1 + both);
}

static void relate(const struct points *points, struct kwhy_pair_relation *out)
{
	double xx = products(points->x, points->x, points->count, 0),
	       yy = products(points->y, points->y, points->count, 0),
	       xy = products(points->x, points->y, points->count, 0), count, z, half;

	out->count = points->count;
	for (size_t i = 0; i < points->count; i++) {
		out->least = fmin(out->least, points->x[i]);
		out->most = fmax(out->most, points->x[i]);
	}
	if (points->count < READINGS_MIN) {
		out->missing = "fewer than 8 readings of this gauge fell between samples";
		return;
	}
	if (!(xx > 0) || !(yy > 0)) {
		out->missing = "the gauge did not move";
		return;
	}
	count = independent(points, xx, yy);
	out->r.value = xy / sqrt(xx * yy);
	out->slope_ratio_per_unit = xy / xx;
	z = atanh(fmax(-1 + 1e-12, fmin(out->r.value, 1 - 1e-12)));
	half = count > 3 ? NORMAL_97_5 / sqrt(count - 3) : INFINITY;
	out->r.low = tanh(z - half);
	out->r.high = tanh(z + half);
}

static enum kwhy_status add(
	struct kwhy_pairs *pairs, const struct kwhy_pair_relation *relation, struct kwhy_error *error)
{
	struct kwhy_pair_relation *items = kwhy_arena_grow(
		&pairs->arena, pairs->relations, pairs->relation_count, sizeof(*items));

	if (!items)
		return kwhy_fail_memory(error, "correlations of pairs");
	pairs->relations = items;
	items[pairs->relation_count++] = *relation;
	return KWHY_OK;
}

static enum kwhy_status relate_gpu(struct kwhy_pairs *pairs, uint32_t gpu, struct distance *distances,
	struct points *points, struct kwhy_error *error)
{
	size_t count = list_distances(pairs, gpu, distances);
	enum kwhy_status status = KWHY_OK;

	qsort(distances, count, sizeof(*distances), compare_distances);
	for (int gauge = 0; !status && gauge < KWHY_PAIR_GAUGE_COUNT; gauge++) {
		struct kwhy_pair_relation relation = {.gpu = gpu,
			.gauge = (enum kwhy_pair_gauge)gauge,
			.least = NAN,
			.most = NAN,
			.r = {NAN, NAN, NAN},
			.slope_ratio_per_unit = NAN};

		make_points(pairs, relation.gauge, distances, count, points);
		relate(points, &relation);
		status = add(pairs, &relation, error);
	}
	return status;
}

enum kwhy_status kwhy_pairs_relate(struct kwhy_pairs *pairs, struct kwhy_error *error)
{
	size_t samples = 0;
	struct distance *distances;
	struct points points;
	enum kwhy_status status = KWHY_OK;

	if (!pairs->reading_count)
		return KWHY_OK;
	for (size_t i = 0; i < pairs->config_count; i++)
		samples += pairs->configs[i].sample_count;
	distances = calloc(samples + 1, sizeof(*distances));
	points.x = calloc(2 * pairs->reading_count, sizeof(*points.x));
	points.y = points.x ? points.x + pairs->reading_count : NULL;
	if (!distances || !points.x)
		status = kwhy_fail_memory(error, "correlations of pairs");
	for (uint32_t i = 0; !status && i < pairs->gpu_count; i++)
		status = relate_gpu(pairs, i, distances, &points, error);
	free(distances);
	free(points.x);
	return status;
}

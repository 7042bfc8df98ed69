/* SPDX-License-Identifier: Apache-2.0 */
#include "base/statistics.h"
#include "whatif/samples.h"
#include "whatif/steps.h"

#include <math.h>
#include <stdlib.h>

/*
 * Estimates from one recording how much the time of another run of the same program would differ
 * (scatter_ratio). A run is a sum of steps, so the estimate comes from how much the steps differ from each
 * other, and from the time outside of steps. If steps are unknown, it comes from how much the lengths of
 * kernels of one name, copies of one kind and memsets differ. All these are taken as independent.
 */

/*
 * Standard deviation, between runs, of the time outside of steps (in which libraries load and data is
 * made), as a share of that time. Measured with ten PyTorch programs on an H200, 2026-11-29
 * (docs/results/projections.md).
 */
#define OUTSIDE_RATIO 0.065

enum {
	STEPS_MIN = 4,
	/*
	 * Steps longer than this many times the median contain a pause of the program, and are left out. The
	 * value is chosen, not measured.
	 */
	PAUSE_RATIO = 4
};

/* Variance of the sum of all values that were added, taken as independent. */
static double variance_of_sum(const struct kwhy_moments *moments)
{
	return moments->count * kwhy_moments_variance(moments);
}

typedef void (*take_length)(void *into, int64_t length_ns);

/*
 * Calls take() for each step of a device except the last, with the time in ns from the step's start to the
 * start of the next one.
 */
static void each_length(const struct kwhy_whatif *whatif, uint32_t device, take_length take, void *into)
{
	const struct kwhy_activities *rows = &whatif->recording->activities;
	int64_t start_ns = KWHY_UNKNOWN_TIME;
	uint32_t step = KWHY_NONE;

	for (size_t i = rows->first[device]; i < rows->first[device + 1]; i++) {
		if (whatif->step[i] == KWHY_NONE || whatif->step[i] == step)
			continue;
		if (step != KWHY_NONE && whatif->step[i] < step)
			continue; /* another stream still runs an earlier step */
		if (start_ns != KWHY_UNKNOWN_TIME)
			take(into, rows->start_ns[i] - start_ns);
		start_ns = rows->start_ns[i];
		step = whatif->step[i];
	}
}

static void take_sample(void *samples, int64_t length_ns)
{
	kwhy_whatif_sample(samples, length_ns);
}

struct usual_lengths {
	int64_t most_ns; /* longer steps contain a pause of the program and are left out */
	struct kwhy_moments moments;
};

static void take_usual(void *lengths, int64_t length_ns)
{
	struct usual_lengths *usual = lengths;

	if (length_ns <= usual->most_ns)
		kwhy_moments_add(&usual->moments, (double)length_ns);
}

static struct kwhy_moments steps_of(const struct kwhy_whatif *whatif, uint32_t device)
{
	struct kwhy_whatif_samples samples = {.count = 0};
	struct usual_lengths usual = {0};

	each_length(whatif, device, take_sample, &samples);
	usual.most_ns = PAUSE_RATIO * kwhy_whatif_quantile(&samples, 0.5);
	each_length(whatif, device, take_usual, &usual);
	return usual.moments;
}

/*
 * Standard deviation of the run's time as a share of that time, computed from the steps of the device that
 * has the most steps. Steps, and the time outside of steps, are taken as independent. NAN: fewer than
 * STEPS_MIN steps.
 */
static double ratio_of_steps(const struct kwhy_whatif *whatif)
{
	const double run_ns = (double)(whatif->last_ns - whatif->first_ns);
	struct kwhy_moments best = {0};
	double outside_ns;

	for (uint32_t d = 0; d < whatif->recording->device_count; d++) {
		struct kwhy_moments moments = steps_of(whatif, d);

		best = moments.count > best.count ? moments : best;
	}
	if (best.count < STEPS_MIN || run_ns <= 0)
		return NAN;
	outside_ns = fmax(run_ns - best.count * best.mean, 0);
	return hypot(sqrt(variance_of_sum(&best)), OUTSIDE_RATIO * outside_ns) / run_ns;
}

/*
 * Groups of activities that should take equal time: kernels (or collectives) of one name; copies of one
 * direction and pair of memory kinds; memsets of one memory kind. Names of copies and memsets do not count,
 * since profilers make them from these columns, and some traces have none.
 */
enum { COPY_GROUPS = KWHY_COPY_KIND_COUNT * KWHY_MEMORY_KIND_COUNT * KWHY_MEMORY_KIND_COUNT };

static size_t group_count(const struct kwhy_recording *recording)
{
	return recording->names.count + COPY_GROUPS + KWHY_MEMORY_KIND_COUNT;
}

static size_t group_of(const struct kwhy_recording *recording, size_t row)
{
	const struct kwhy_activities *rows = &recording->activities;
	const size_t memory = rows->dst_memory[row], names = recording->names.count;

	if (rows->kind[row] == KWHY_ACTIVITY_MEMSET)
		return names + COPY_GROUPS + memory;
	if (rows->kind[row] != KWHY_ACTIVITY_COPY)
		return rows->name[row];
	return names +
		((size_t)rows->copy_kind[row] * KWHY_MEMORY_KIND_COUNT + rows->src_memory[row]) *
		KWHY_MEMORY_KIND_COUNT +
		memory;
}

static double ratio_of_groups(const struct kwhy_whatif *whatif, struct kwhy_moments *groups)
{
	const struct kwhy_recording *recording = whatif->recording;
	double variance = 0;

	for (size_t i = 0; i < recording->activities.count; i++)
		kwhy_moments_add(&groups[group_of(recording, i)],
			(double)(recording->activities.end_ns[i] - recording->activities.start_ns[i]));
	for (size_t i = 0; i < group_count(recording); i++)
		if (groups[i].count > 0)
			variance += variance_of_sum(&groups[i]);
	return whatif->last_ns > whatif->first_ns
		? sqrt(variance) / (double)(whatif->last_ns - whatif->first_ns)
		: 0;
}

enum kwhy_status kwhy_whatif_find_scatter(struct kwhy_whatif *whatif, struct kwhy_error *error)
{
	double ratio = ratio_of_steps(whatif);
	struct kwhy_moments *groups;

	if (!isfinite(ratio)) {
		groups = calloc(group_count(whatif->recording), sizeof(*groups));
		if (!groups)
			return kwhy_fail_memory(error, "how lengths scatter");
		ratio = ratio_of_groups(whatif, groups);
		free(groups);
	}
	whatif->scatter_ratio = fmin(KWHY_SCATTER_QUANTILE * ratio, 1);
	return KWHY_OK;
}

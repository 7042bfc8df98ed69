/* SPDX-License-Identifier: Apache-2.0 */
#include "base/statistics.h"
#include "whatif/steps.h"

#include <math.h>
#include <stdlib.h>

/*
 * By how much the time of another run of the same program would differ, as far as one recording shows it:
 * from how its steps differ, since a run is a sum of them; where no steps are known, from how activities of
 * one name differ, each for itself.
 */

#define SCATTER_QUANTILE 1.645 /* 90 % of a normal distribution lie within so many deviations */

enum { STEPS_LEAST = 4 };

/* Variance of the sum of as many such values. */
static double variance_of_sum(const struct kwhy_moments *moments)
{
	return moments->count * kwhy_moments_variance(moments);
}

/* From the start of a step to that of the next, on the device that has most. */
static struct kwhy_moments steps_of(const struct kwhy_whatif *whatif, uint32_t device)
{
	const struct kwhy_activities *rows = &whatif->recording->activities;
	struct kwhy_moments moments = {0};
	int64_t start_ns = KWHY_UNKNOWN_TIME;
	uint32_t step = KWHY_NONE;

	for (size_t i = rows->first[device]; i < rows->first[device + 1]; i++) {
		if (whatif->step[i] == KWHY_NONE || whatif->step[i] == step)
			continue;
		if (step != KWHY_NONE && whatif->step[i] < step)
			continue; /* of a step that another stream is still busy with */
		if (start_ns != KWHY_UNKNOWN_TIME)
			kwhy_moments_add(&moments, (double)(rows->start_ns[i] - start_ns));
		start_ns = rows->start_ns[i];
		step = whatif->step[i];
	}
	return moments;
}

static double ratio_of_steps(const struct kwhy_whatif *whatif)
{
	struct kwhy_moments best = {0};

	for (uint32_t d = 0; d < whatif->recording->device_count; d++) {
		struct kwhy_moments moments = steps_of(whatif, d);

		best = moments.count > best.count ? moments : best;
	}
	return best.count >= STEPS_LEAST && best.mean > 0
		? sqrt(variance_of_sum(&best)) / (best.count * best.mean)
		: NAN;
}

static double ratio_of_names(const struct kwhy_whatif *whatif, struct kwhy_moments *names)
{
	const struct kwhy_recording *recording = whatif->recording;
	double variance = 0;

	for (size_t i = 0; i < recording->activities.count; i++)
		kwhy_moments_add(&names[recording->activities.name[i]],
			(double)(recording->activities.end_ns[i] - recording->activities.start_ns[i]));
	for (size_t i = 0; i < recording->names.count; i++)
		if (names[i].count > 0)
			variance += variance_of_sum(&names[i]);
	return whatif->last_ns > whatif->first_ns
		? sqrt(variance) / (double)(whatif->last_ns - whatif->first_ns)
		: 0;
}

enum kwhy_status kwhy_whatif_find_scatter(struct kwhy_whatif *whatif, struct kwhy_error *error)
{
	double ratio = ratio_of_steps(whatif);
	struct kwhy_moments *names;

	if (!isfinite(ratio)) {
		names = calloc(whatif->recording->names.count + 1, sizeof(*names));
		if (!names)
			return kwhy_fail_memory(error, "how lengths scatter");
		ratio = ratio_of_names(whatif, names);
		free(names);
	}
	whatif->scatter_ratio = fmin(SCATTER_QUANTILE * ratio, 1);
	return KWHY_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Grades the drifts between the clocks of GPUs and hosts that a run of `kwhy bench pairs` measured. */
#include "model/pairs.h"

#include <math.h>

const char *kwhy_pair_clock_grade_name(enum kwhy_pair_clock_grade grade)
{
	static const char *const names[KWHY_PAIR_CLOCK_GRADE_COUNT] = {
		[KWHY_PAIR_CLOCK_UNKNOWN] = "unknown",
		[KWHY_PAIR_CLOCK_EXCELLENT] = "excellent",
		[KWHY_PAIR_CLOCK_GOOD] = "good",
		[KWHY_PAIR_CLOCK_INVESTIGATE] = "investigate",
	};

	return names[grade];
}

static enum kwhy_pair_clock_grade grade_of(double ppm)
{
	if (ppm < KWHY_PAIR_DRIFT_WARN_PPM)
		return KWHY_PAIR_CLOCK_EXCELLENT;
	return ppm < KWHY_PAIR_DRIFT_MAX_PPM ? KWHY_PAIR_CLOCK_GOOD : KWHY_PAIR_CLOCK_INVESTIGATE;
}

double kwhy_pair_drift_least(const struct kwhy_pair_drift *drift)
{
	return fmax(fabs(drift->ppm) - drift->half_width_ppm, 0);
}

double kwhy_pair_drift_most(const struct kwhy_pair_drift *drift)
{
	return fabs(drift->ppm) + drift->half_width_ppm;
}

enum kwhy_pair_clock_grade kwhy_pair_drift_grade(const struct kwhy_pair_drift *drift)
{
	enum kwhy_pair_clock_grade grade = grade_of(kwhy_pair_drift_least(drift));

	if (!isfinite(drift->ppm) || !isfinite(drift->half_width_ppm))
		return KWHY_PAIR_CLOCK_UNKNOWN;
	return grade == grade_of(kwhy_pair_drift_most(drift)) ? grade : KWHY_PAIR_CLOCK_UNKNOWN;
}

size_t kwhy_pairs_list_clocks(const struct kwhy_pairs *pairs, struct kwhy_pair_compared_clock *out)
{
	size_t count = 0;

	for (uint32_t i = 0; i < pairs->gpu_count; i++)
		if (isfinite(pairs->drifts[i].ppm))
			out[count++] = (struct kwhy_pair_compared_clock){"GPU", i, false, &pairs->drifts[i]};
	for (uint32_t i = 0; i < pairs->rank_count; i++)
		if (isfinite(pairs->ranks[i].drift.ppm))
			out[count++] = (struct kwhy_pair_compared_clock){
				"host of rank", i, true, &pairs->ranks[i].drift};
	return count;
}

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_GAUGE_SUMMARY_H
#define KWHY_REPORT_GAUGE_SUMMARY_H

#include "model/recording.h"

/*
 * Summary of a gauge's readings over a recording. The mean is that of the readings; as they are evenly
 * spaced, it is also the mean over time.
 */
struct kwhy_gauge_summary {
	size_t count;
	double mean; /* NAN: there is no reading */
	int64_t least, most;
};

void kwhy_gauge_summarise(const struct kwhy_gauge_series *series, struct kwhy_gauge_summary *out);

/*
 * Share of the readings of KWHY_GAUGE_THROTTLE_REASONS in which a throttle reason is set, given by the number
 * of its bit; NAN: there is no reading.
 */
double kwhy_gauge_throttled_ratio(const struct kwhy_gauge_series *series, unsigned bit);

#endif

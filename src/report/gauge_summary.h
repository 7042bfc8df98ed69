/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_GAUGE_SUMMARY_H
#define KWHY_REPORT_GAUGE_SUMMARY_H

#include "model/recording.h"

/*
 * Summary of a gauge's readings over a recording. They are evenly spaced, so their mean is the mean over
 * time.
 */
struct kwhy_gauge_summary {
	size_t count;
	double mean; /* NAN: no reading */
	int64_t least, most;
};

void kwhy_gauge_summarise(const struct kwhy_gauge_series *series, struct kwhy_gauge_summary *out);

/*
 * Share of the readings of KWHY_GAUGE_THROTTLE_REASONS in which this bit, a reason, is set; NAN: no reading.
 */
double kwhy_gauge_throttled_ratio(const struct kwhy_gauge_series *series, unsigned bit);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "report/gauge_summary.h"

#include <math.h>

void kwhy_gauge_summarise(const struct kwhy_gauge_series *series, struct kwhy_gauge_summary *out)
{
	double sum = 0;

	*out = (struct kwhy_gauge_summary){.count = series->count, .mean = NAN};
	for (size_t i = 0; i < series->count; i++) {
		int64_t value = series->value[i];

		sum += (double)value;
		if (i == 0 || value < out->least)
			out->least = value;
		if (i == 0 || value > out->most)
			out->most = value;
	}
	if (series->count)
		out->mean = sum / (double)series->count;
}

double kwhy_gauge_throttled_ratio(const struct kwhy_gauge_series *series, unsigned bit)
{
	size_t count = 0;

	for (size_t i = 0; i < series->count; i++)
		count += (size_t)(series->value[i] >> bit & 1);
	return series->count ? (double)count / (double)series->count : NAN;
}

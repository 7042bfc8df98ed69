/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/samples.h"

#include <stdlib.h>

void kwhy_whatif_sample(struct kwhy_whatif_samples *samples, int64_t value)
{
	samples->stride += samples->stride == 0;
	if (samples->seen++ % samples->stride)
		return;
	if (samples->count == KWHY_WHATIF_SAMPLES) {
		for (size_t i = 0; i < KWHY_WHATIF_SAMPLES / 2; i++)
			samples->values[i] = samples->values[2 * i];
		samples->count = KWHY_WHATIF_SAMPLES / 2;
		samples->stride *= 2;
	}
	samples->values[samples->count++] = value;
}

static int by_value(const void *a, const void *b)
{
	int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;

	return (left > right) - (left < right);
}

int64_t kwhy_whatif_quantile(struct kwhy_whatif_samples *samples, double share)
{
	if (!samples->count)
		return -1;
	qsort(samples->values, samples->count, sizeof(*samples->values), by_value);
	return samples->values[(size_t)(share * (double)(samples->count - 1) + 0.5)];
}

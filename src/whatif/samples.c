/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/samples.h"

#include "base/quantile.h"

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

int64_t kwhy_whatif_quantile(struct kwhy_whatif_samples *samples, double share)
{
	if (!samples->count)
		return -1;
	kwhy_sort_integers(samples->values, samples->count);
	return samples->values[kwhy_quantile_place(samples->count, share)];
}

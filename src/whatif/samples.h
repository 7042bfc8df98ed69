/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_SAMPLES_H
#define KWHY_WHATIF_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

/*
 * Values from which quantiles are computed, at most KWHY_WHATIF_SAMPLES. Of a longer series every 2nd value
 * is kept, then every 4th and so on, so that memory is bounded and the result does not depend on chance.
 * Zero-initialise.
 */
enum { KWHY_WHATIF_SAMPLES = 1024 };

struct kwhy_whatif_samples {
	int64_t values[KWHY_WHATIF_SAMPLES];
	size_t count, seen, stride;
};

void kwhy_whatif_sample(struct kwhy_whatif_samples *samples, int64_t value);

/*
 * The quantile: about the share `share` of the kept values lies below it. Sorts the values. -1: there are
 * no values.
 */
int64_t kwhy_whatif_quantile(struct kwhy_whatif_samples *samples, double share);

#endif

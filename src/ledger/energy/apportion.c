/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/apportion.h"

#include <math.h>
#include <stdlib.h>

enum kwhy_status kwhy_apportioner_init(
	struct kwhy_apportioner *apportioner, size_t most, struct kwhy_error *error)
{
	*apportioner = (struct kwhy_apportioner){
		.most = most,
		.weights = calloc(most + 1, sizeof(*apportioner->weights)),
		.rests = calloc(most + 1, sizeof(*apportioner->rests)),
		.order = calloc(most + 1, sizeof(*apportioner->order)),
	};
	if (apportioner->weights && apportioner->rests && apportioner->order)
		return KWHY_OK;
	kwhy_apportioner_done(apportioner);
	return kwhy_fail_memory(error, "the ledger");
}

void kwhy_apportioner_done(struct kwhy_apportioner *apportioner)
{
	free(apportioner->weights);
	free(apportioner->rests);
	free(apportioner->order);
	*apportioner = (struct kwhy_apportioner){0};
}

/*
 * Scales shares to integer weights, of which the largest is 2^40, and returns the sum of the weights. Writes
 * the indices of the weights above 0 to `order`, and their number to *out_listed.
 */
static uint64_t weigh(
	struct kwhy_apportioner *apportioner, const double *shares, size_t count, size_t *out_listed)
{
	double largest = 0;
	uint64_t sum = 0;

	*out_listed = 0;
	for (size_t i = 0; i < count; i++)
		largest = fmax(largest, shares[i]);
	for (size_t i = 0; i < count && largest > 0; i++) {
		uint64_t weight = (uint64_t)(shares[i] / largest * 0x1p40 + 0.5);

		apportioner->weights[i] = weight;
		sum += weight;
		if (weight)
			apportioner->order[(*out_listed)++] = (uint32_t)i;
	}
	return sum;
}

static int compare_rests(const void *a, const void *b, void *context)
{
	const uint64_t *rests = context;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	if (rests[left] != rests[right])
		return rests[left] > rests[right] ? -1 : 1;
	return (left > right) - (left < right);
}

void kwhy_apportion(struct kwhy_apportioner *apportioner, int64_t amount_nj, const double *shares,
	size_t count, size_t fallback, int64_t *sums_nj)
{
	size_t listed;
	uint64_t sum = weigh(apportioner, shares, count, &listed);
	int64_t left_nj = amount_nj;

	if (listed < 2) {
		sums_nj[listed ? apportioner->order[0] : fallback] += amount_nj;
		return;
	}
	for (size_t i = 0; i < listed; i++) {
		uint32_t at = apportioner->order[i];
		unsigned __int128 product = (unsigned __int128)(uint64_t)amount_nj * apportioner->weights[at];
		int64_t part_nj = (int64_t)(product / sum);

		apportioner->rests[at] = (uint64_t)(product % sum);
		sums_nj[at] += part_nj;
		left_nj -= part_nj;
	}
	if (left_nj > 0)
		qsort_r(apportioner->order, listed, sizeof(*apportioner->order), compare_rests,
			apportioner->rests);
	for (int64_t i = 0; i < left_nj; i++)
		sums_nj[apportioner->order[i]]++;
}

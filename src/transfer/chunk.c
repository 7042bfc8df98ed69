/* SPDX-License-Identifier: Apache-2.0 */
#include "kwhy/transfer.h"

#include <math.h>

#define UNIT_BYTES (UINT64_C(64) << 10)

uint64_t kwhy_transfer_chunk_bytes(uint64_t bytes, double copy_s, double compute_s, double overhead_s)
{
	double shorter_s = fmin(copy_s, compute_s), chunks;
	uint64_t whole;

	if (!(shorter_s > 0) || !(overhead_s > 0) || bytes <= UNIT_BYTES)
		return bytes;
	chunks = fmax(1, round(sqrt(shorter_s / overhead_s)));
	if (chunks >= (double)(bytes / UNIT_BYTES))
		return UNIT_BYTES;
	whole = (bytes + (uint64_t)chunks - 1) / (uint64_t)chunks;
	return whole < bytes ? (whole + UNIT_BYTES - 1) / UNIT_BYTES * UNIT_BYTES : bytes;
}

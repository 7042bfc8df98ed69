/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/pairs/warm.h"

#include "base/clock.h"
#include "bench/pairs/ranks.h"

static enum kwhy_status copy_once(const struct kwhy_pair_request *request, struct kwhy_pair_testbed *testbed,
	uint32_t i, struct kwhy_error *error)
{
	struct kwhy_pair_batch batch = {
		.config = {.engine = request->ranks ? KWHY_PAIR_WRITE : KWHY_PAIR_EXCHANGE,
			.source = i,
			.target = (i + 1) % testbed->count,
			.bytes = request->most_bytes}};

	return request->ranks ? kwhy_pair_ranks_batch(request->ranks, &batch, error)
			      : kwhy_pair_batch(testbed, &batch, error);
}

enum kwhy_status kwhy_pair_warm(const struct kwhy_pair_request *request, struct kwhy_pair_testbed *testbed,
	double seconds, struct kwhy_error *error)
{
	int64_t end_ns = kwhy_clock_mono_ns() + (int64_t)(seconds * 1e9);
	enum kwhy_status status = KWHY_OK;

	while (!status && kwhy_clock_mono_ns() < end_ns)
		for (uint32_t i = 0; !status && i < testbed->count; i++)
			status = copy_once(request, testbed, i, error);
	return status;
}

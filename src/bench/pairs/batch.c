/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/pairs/batch.h"

#include "base/clock.h"

#define BATCH_NS INT64_C(4000000)
#define WARM_SAMPLE_MAX_BYTES (UINT64_C(16) << 20)

static enum kwhy_status take_samples(
	struct kwhy_pair_work *work, struct kwhy_pair_batch *batch, struct kwhy_error *error)
{
	int64_t start_ns = kwhy_clock_mono_ns();
	enum kwhy_status status = KWHY_OK;

	while (!status && batch->count < batch->most) {
		if (batch->count > 0 && kwhy_clock_mono_ns() - start_ns > BATCH_NS)
			break;
		status = kwhy_pair_sample(work, &batch->samples[batch->count], error);
		if (!status)
			batch->count++;
	}
	return status;
}

static enum kwhy_status verify(
	struct kwhy_pair_work *work, struct kwhy_pair_batch *batch, struct kwhy_error *error)
{
	const struct kwhy_pair_config *config = &batch->config;
	enum kwhy_status status = kwhy_pair_verify(work, &batch->verified, error);

	if (!status && !batch->verified)
		status = kwhy_fail(error, KWHY_E_INPUT,
			"%s from GPU %u to GPU %u, %llu bytes: the received bytes differ from those sent; "
			"the link or the driver of this machine is not to be trusted",
			kwhy_pair_engine_name(config->engine), config->source, config->target,
			(unsigned long long)config->bytes);
	return status;
}

/*
 * Runs an untimed transfer before a batch and, for sizes up to WARM_SAMPLE_MAX_BYTES, also takes a sample
 * that is discarded: at first, threads may be asleep and caches cold.
 */
static enum kwhy_status warm_up(struct kwhy_pair_work *work, struct kwhy_error *error)
{
	struct kwhy_pair_sample sample;
	enum kwhy_status status = kwhy_pair_warm_up(work, error);

	if (!status && work->config->bytes <= WARM_SAMPLE_MAX_BYTES)
		status = kwhy_pair_sample(work, &sample, error);
	return status;
}

enum kwhy_status kwhy_pair_batch(
	struct kwhy_pair_testbed *testbed, struct kwhy_pair_batch *batch, struct kwhy_error *error)
{
	struct kwhy_pair_work work;
	enum kwhy_status status = kwhy_pair_work_begin(
		testbed, &batch->config, batch->verifies, &work, error);

	batch->count = 0;
	if (!status)
		status = warm_up(&work, error);
	if (!status)
		status = take_samples(&work, batch, error);
	return !status && batch->verifies ? verify(&work, batch, error) : status;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/pairs/pinning.h"

#include "bench/pairs/batch.h"
#include "fit/median.h"
#include "gpu/numa.h"

#include <sched.h>
#include <stdlib.h>

#define SMALL_BYTES UINT64_C(8)
#define LARGE_BYTES (UINT64_C(1) << 20)

enum { ROUNDS = 10, SAMPLES_MAX = ROUNDS * KWHY_PAIR_BATCH_SAMPLES };

struct pass {
	const struct kwhy_pair_request *request;
	struct kwhy_pair_testbed *testbed;
	struct kwhy_pair_store
		*store; /* files to which results are written; NULL: results are only returned in `pairs` */
	struct kwhy_pairs *pairs;
	struct kwhy_numa numa;
	cpu_set_t before;
};

/*
 * State of the measurement of one configuration, by placement of the host thread: its CPUs, and the measured
 * times of one transfer.
 */
struct pass_state {
	cpu_set_t cpus[KWHY_PAIR_PIN_COUNT];
	double seconds[KWHY_PAIR_PIN_COUNT][SAMPLES_MAX];
	size_t counts[KWHY_PAIR_PIN_COUNT];
};

static bool is_known(const struct kwhy_pairs *pairs, const struct kwhy_pair_config *key)
{
	for (size_t i = 0; i < pairs->pinning_count; i++) {
		const struct kwhy_pair_pinning *row = &pairs->pinnings[i];

		if (row->engine == key->engine && row->clock == key->clock && row->source == key->source &&
			row->target == key->target && row->bytes == key->bytes)
			return true;
	}
	return false;
}

/*
 * Whether a configuration is measured with each placement of the host thread: a copy through the host
 * (STAGED), or a copy by WRITE timed with a clock that includes the host's time, of SMALL_BYTES or
 * LARGE_BYTES, without load, between the one pair that stands for all pairs with its kind of link. Its time
 * must have been measured, and `pairs` must not have its result yet.
 */
static bool is_wanted(const struct kwhy_pairs *pairs, const struct kwhy_pair_config *config)
{
	bool by_host = config->engine == KWHY_PAIR_STAGED ||
		(config->engine == KWHY_PAIR_WRITE && config->clock != KWHY_PAIR_BACK_TO_BACK);

	return config->sample_count && by_host && config->load == KWHY_PAIR_ALONE &&
		(config->bytes == SMALL_BYTES || config->bytes == LARGE_BYTES) &&
		kwhy_pairs_stands_for_others(pairs, config->source, config->target) &&
		!is_known(pairs, config);
}

/*
 * Gets the CPUs of a NUMA node that were in this thread's affinity mask at the start; false: there are none.
 */
static bool cpus_of(const struct pass *pass, int node, cpu_set_t *out)
{
	for (uint32_t i = 0; i < pass->numa.count; i++)
		if (pass->numa.nodes[i].node == node) {
			CPU_AND(out, &pass->before, &pass->numa.nodes[i].cpus);
			return CPU_COUNT(out) > 0;
		}
	return false;
}

static bool find_cpus(const struct pass *pass, uint32_t source, struct pass_state *pass_state,
	struct kwhy_pair_pinning *row)
{
	row->near_node = pass->pairs->gpus[source].numa_node;
	pass_state->cpus[KWHY_PAIR_FREE] = pass->before;
	if (!cpus_of(pass, row->near_node, &pass_state->cpus[KWHY_PAIR_NEAR]))
		return false;
	for (uint32_t i = 0; i < pass->numa.count; i++) {
		row->far_node = pass->numa.nodes[i].node;
		if (row->far_node != row->near_node &&
			cpus_of(pass, row->far_node, &pass_state->cpus[KWHY_PAIR_FAR]))
			return true;
	}
	return false;
}

static enum kwhy_status take_samples(struct pass *pass, const struct kwhy_pair_config *config,
	enum kwhy_pair_pin pin, struct pass_state *pass_state, struct kwhy_error *error)
{
	struct kwhy_pair_batch batch = {.config = *config, .most = KWHY_PAIR_BATCH_SAMPLES};
	enum kwhy_status status;

	sched_setaffinity(0, sizeof(pass_state->cpus[pin]), &pass_state->cpus[pin]);
	status = kwhy_pair_batch(pass->testbed, &batch, error);
	sched_setaffinity(0, sizeof(pass->before), &pass->before);
	for (uint32_t i = 0; !status && i < batch.count && pass_state->counts[pin] < SAMPLES_MAX; i++)
		pass_state->seconds[pin][pass_state->counts[pin]++] = batch.samples[i].seconds;
	return status;
}

static enum kwhy_status measure_one(struct pass *pass, const struct kwhy_pair_config *config,
	struct pass_state *pass_state, struct kwhy_error *error)
{
	struct kwhy_pair_pinning row = {.engine = config->engine,
		.clock = config->clock,
		.source = config->source,
		.target = config->target,
		.bytes = config->bytes};
	enum kwhy_status status = KWHY_OK;

	*pass_state = (struct pass_state){.counts = {0}};
	if (!find_cpus(pass, config->source, pass_state, &row)) {
		pass->pairs->pinning_missing = "the system does not say which NUMA node a GPU is near to, or "
					       "this process may not use processors of two nodes";
		return KWHY_OK;
	}
	for (int i = 0; !status && i < ROUNDS * KWHY_PAIR_PIN_COUNT; i++)
		status = take_samples(
			pass, config, (enum kwhy_pair_pin)(i % KWHY_PAIR_PIN_COUNT), pass_state, error);
	for (int pin = 0; !status && pin < KWHY_PAIR_PIN_COUNT; pin++) {
		struct kwhy_median median;

		kwhy_median_of(pass_state->seconds[pin], pass_state->counts[pin], &median);
		row.times[pin] = (struct kwhy_pair_figure){median.median, median.low, median.high};
	}
	if (!status)
		status = kwhy_pairs_add_pinning(pass->pairs, &row, error);
	return !status && pass->store ? kwhy_pair_store_add_pinning(pass->store, &row, error) : status;
}

static enum kwhy_status measure_all(struct pass *pass, struct kwhy_error *error)
{
	struct pass_state *pass_state = malloc(sizeof(*pass_state));
	enum kwhy_status status = pass_state ? KWHY_OK : kwhy_fail_memory(error, "the NUMA pass of pairs");

	for (size_t i = 0; !status && !pass->pairs->pinning_missing && i < pass->pairs->config_count; i++) {
		const struct kwhy_pair_config *config = &pass->pairs->configs[i];

		if (!is_wanted(pass->pairs, config))
			continue;
		if (pass->request->progress)
			pass->request->progress(pass->request->context, "NUMA nodes",
				(double)i / (double)pass->pairs->config_count);
		status = measure_one(pass, config, pass_state, error);
	}
	free(pass_state);
	return status;
}

enum kwhy_status kwhy_pair_pinning_measure(const struct kwhy_pair_request *request,
	struct kwhy_pair_testbed *testbed, struct kwhy_pair_store *store, struct kwhy_pairs *pairs,
	struct kwhy_error *error)
{
	struct pass *pass = calloc(1, sizeof(*pass));
	enum kwhy_status status = KWHY_OK;

	if (!pass)
		return kwhy_fail_memory(error, "the NUMA pass of pairs");
	pass->request = request;
	pass->testbed = testbed;
	pass->store = store;
	pass->pairs = pairs;
	kwhy_numa_read(request->sys ? request->sys : "/sys", &pass->numa);
	if (pass->numa.count < 2)
		pairs->pinning_missing = "this machine has one NUMA node";
	else if (sched_getaffinity(0, sizeof(pass->before), &pass->before))
		pairs->pinning_missing = "the system does not report which processors this process may use";
	else
		status = measure_all(pass, error);
	free(pass);
	return status;
}

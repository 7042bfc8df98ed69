/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/pairs/energy.h"

#include "base/clock.h"
#include "launch/stop.h"
#include "measure/device_energy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IDLE_S 1.5
#define ROW_BYTES (UINT64_C(64) << 20)

enum { NAME_BYTES = 96, ROW_MIN = 4, ROW_MAX = 64 };

static const uint64_t sizes[] = {
	UINT64_C(64) << 10, UINT64_C(1) << 20, UINT64_C(16) << 20, UINT64_C(256) << 20};

struct burst {
	struct kwhy_pair_config key; /* the configuration whose transfers are repeated */
	uint64_t transfers;
	char name[NAME_BYTES];
};

struct pass {
	const struct kwhy_pair_request *request;
	struct kwhy_pair_testbed *testbed;
	struct kwhy_pair_store
		*store; /* files to which results are written; NULL: results are only returned in `pairs` */
	struct kwhy_pairs *pairs;
	struct kwhy_device_energy *energy;
	struct burst *bursts;
	size_t count;
};

/*
 * Whether an engine is meant to keep a link busy. Puts, ping-pong, sockets and collectives are left out,
 * since their GPUs mostly wait for each other or use several links.
 */
static bool fills_a_link(enum kwhy_pair_engine engine)
{
	switch (engine) {
	case KWHY_PAIR_WRITE:
	case KWHY_PAIR_READ:
	case KWHY_PAIR_KERNEL:
	case KWHY_PAIR_STAGED:
	case KWHY_PAIR_EXCHANGE:
	case KWHY_PAIR_NCCL:
	case KWHY_PAIR_NCCL_EXCHANGE:
	case KWHY_PAIR_NCCL_FULL:
		return true;
	default:
		return false;
	}
}

static bool is_size(uint64_t bytes)
{
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (bytes == sizes[i])
			return true;
	return false;
}

static bool is_known(const struct kwhy_pairs *pairs, const struct kwhy_pair_config *key)
{
	for (size_t i = 0; i < pairs->energy_count; i++) {
		const struct kwhy_pair_energy *energy = &pairs->energies[i];

		if (energy->engine == key->engine && energy->source == key->source &&
			energy->target == key->target && energy->bytes == key->bytes)
			return true;
	}
	return false;
}

/*
 * Whether the energy of a configuration's transfers is to be measured. Of the configurations that differ only
 * in how transfers are timed, one is chosen: timed by the host's clock for STAGED, back to back for all other
 * engines.
 */
static bool is_metered(const struct kwhy_pairs *pairs, const struct kwhy_pair_config *config)
{
	enum kwhy_pair_clock clock = config->engine == KWHY_PAIR_STAGED ? KWHY_PAIR_BY_HOST
									: KWHY_PAIR_BACK_TO_BACK;

	return config->sample_count && config->load == KWHY_PAIR_ALONE && config->clock == clock &&
		fills_a_link(config->engine) && is_size(config->bytes) &&
		kwhy_pairs_stands_for_others(pairs, config->source, config->target) &&
		!is_known(pairs, config);
}

static void list_bursts(struct pass *pass)
{
	const struct kwhy_pairs *pairs = pass->pairs;

	for (size_t i = 0; i < pairs->config_count; i++) {
		struct burst *burst = &pass->bursts[pass->count];

		if (!is_metered(pairs, &pairs->configs[i]))
			continue;
		burst->key = pairs->configs[i];
		snprintf(burst->name, sizeof(burst->name), "%s %" PRIu32 " %" PRIu32 " %" PRIu64,
			kwhy_pair_engine_name(burst->key.engine), burst->key.source, burst->key.target,
			burst->key.bytes);
		pass->count++;
	}
}

static uint32_t row_of(uint64_t bytes)
{
	uint64_t row = ROW_BYTES / bytes;

	return row < ROW_MIN ? ROW_MIN : row > ROW_MAX ? ROW_MAX : (uint32_t)row;
}

static enum kwhy_status mark(
	const struct kwhy_pair_work *work, struct kwhy_gpu_event *event, struct kwhy_error *error)
{
	struct kwhy_bench_buffers *main = work->main;
	enum kwhy_status status = kwhy_pair_set_current(main, error);

	return status ? status : main->gpu->ops->event_record(main->gpu, event, main->streams[0], error);
}

static enum kwhy_status wait_for(
	const struct kwhy_pair_work *work, struct kwhy_gpu_event *event, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_pair_set_current(work->main, error);

	return status ? status : work->main->gpu->ops->event_synchronize(work->main->gpu, event, error);
}

/*
 * Repeats a transfer for `seconds` and adds the number of transfers to *out_count. Transfers are queued in
 * groups of row_of(), and a group is waited for only when the next one is already queued, so that the link
 * never waits for the host.
 */
static enum kwhy_status repeat(
	struct kwhy_pair_work *work, double seconds, uint64_t *out_count, struct kwhy_error *error)
{
	struct kwhy_gpu_event *const ends[] = {work->main->begin, work->main->end};
	int64_t end_ns = kwhy_clock_mono_ns() + (int64_t)(seconds * 1e9);
	uint32_t row = row_of(work->config->bytes);
	enum kwhy_status status = KWHY_OK;

	for (unsigned i = 0; !status && kwhy_clock_mono_ns() < end_ns; i++) {
		status = i >= 2 ? wait_for(work, ends[i % 2], error) : KWHY_OK;
		if (!status)
			status = kwhy_pair_issue(work, row, error);
		if (!status)
			status = mark(work, ends[i % 2], error);
		*out_count += row;
	}
	return status ? status : kwhy_pair_drain(work, error);
}

static enum kwhy_status run_burst(struct pass *pass, struct burst *burst, struct kwhy_error *error)
{
	struct kwhy_pair_work work;
	enum kwhy_status status = kwhy_pair_work_begin(pass->testbed, &burst->key, false, &work, error);

	if (!status)
		status = kwhy_pair_warm_up(&work, error);
	if (!status)
		status = kwhy_device_energy_begin(pass->energy, burst->name, error);
	if (!status) {
		status = repeat(&work, pass->request->burst_s, &burst->transfers, error);
		kwhy_device_energy_end(pass->energy);
	}
	if (status) /* after a failure the number of transfers is unknown */
		burst->transfers = 0;
	return status;
}

static struct kwhy_pair_figure each(const struct kwhy_joules *joules, uint64_t transfers)
{
	double count = (double)transfers;

	return (struct kwhy_pair_figure){joules->value / count, joules->low / count, joules->high / count};
}

static enum kwhy_status take_burst(struct pass *pass, const struct burst *burst, struct kwhy_error *error)
{
	struct kwhy_window_joules source, target;
	struct kwhy_pair_energy energy = {.engine = burst->key.engine,
		.source = burst->key.source,
		.target = burst->key.target,
		.bytes = burst->key.bytes,
		.transfers = burst->transfers};
	enum kwhy_status status;

	if (burst->transfers == 0)
		return KWHY_OK;
	kwhy_device_energy_of_one(pass->energy, burst->name, energy.source, &source);
	kwhy_device_energy_of_one(pass->energy, burst->name, energy.target, &target);
	energy.seconds = source.seconds / (double)burst->transfers;
	energy.source_gross = each(&source.gross, burst->transfers);
	energy.source_net = each(&source.net, burst->transfers);
	energy.target_gross = each(&target.gross, burst->transfers);
	energy.target_net = each(&target.net, burst->transfers);
	energy.host_gross = each(&source.host, burst->transfers);
	status = kwhy_pairs_add_energy(pass->pairs, &energy, error);
	return !status && pass->store ? kwhy_pair_store_add_energy(pass->store, &energy, error) : status;
}

static enum kwhy_status run_pass(struct pass *pass, struct kwhy_error *error)
{
	const char *missing;
	enum kwhy_status status = kwhy_device_energy_idle(pass->energy, IDLE_S, error), taken;

	for (size_t i = 0; !status && i < pass->count; i++) {
		if (pass->request->progress)
			pass->request->progress(
				pass->request->context, "joules", (double)i / (double)pass->count);
		status = kwhy_stop_check(error);
		if (!status)
			status = run_burst(pass, &pass->bursts[i], error);
	}
	taken = status && status != KWHY_E_LOST ? status : kwhy_device_energy_read(pass->energy, error);
	for (size_t i = 0; !taken && i < pass->count; i++)
		taken = take_burst(pass, &pass->bursts[i], error);
	missing = kwhy_device_energy_missing(pass->energy);
	if (missing) {
		pass->pairs->energy_missing = kwhy_arena_copy(&pass->pairs->arena, missing);
		if (!pass->pairs->energy_missing)
			return kwhy_fail_memory(error, "energies of pairs");
	}
	return status ? status : taken;
}

enum kwhy_status kwhy_pair_energies_measure(const struct kwhy_pair_request *request,
	struct kwhy_pair_testbed *testbed, struct kwhy_pair_store *store, struct kwhy_pairs *pairs,
	struct kwhy_error *error)
{
	struct pass pass = {.request = request, .testbed = testbed, .store = store, .pairs = pairs};
	struct kwhy_gpu *gpus[KWHY_PAIR_GPUS_MAX];
	enum kwhy_status status;

	pass.bursts = calloc(pairs->config_count, sizeof(*pass.bursts));
	if (!pass.bursts)
		return kwhy_fail_memory(error, "energies of pairs");
	for (uint32_t i = 0; i < testbed->count; i++)
		gpus[i] = testbed->gpu_buffers[i]->gpu;
	list_bursts(&pass);
	status = pass.count ? kwhy_device_energy_open(gpus, testbed->count, &pass.energy, error) : KWHY_OK;
	if (!status && pass.count) {
		status = run_pass(&pass, error);
		kwhy_device_energy_close(pass.energy);
	}
	free(pass.bursts);
	return status;
}

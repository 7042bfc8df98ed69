/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/transfers/energy.h"

#include "base/clock.h"
#include "bench/transfers/measure.h"
#include "launch/stop.h"
#include "measure/device_energy.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IDLE_S 1.5

enum { BURSTS_MAX = 256, NAME_BYTES = 96, IN_A_ROW = 16, PIECES = 1024, PIECE_BYTES = 256 };

static const char *const metered[] = {
	"pageable", "pinned", "copy-kernel", "mapped", "compressed", "copies", "batch", "packed"};

static const uint64_t sizes[] = {4096, 65536, 1 << 20, 16 << 20, 256 << 20};

struct burst {
	const struct kwhy_bench_strategy *strategy;
	struct kwhy_transfer_point point; /* only strategy, direction, size and number of pieces are set */
	uint64_t transfers;
	char name[NAME_BYTES];
};

struct pass {
	const struct kwhy_bench_request *request;
	struct kwhy_bench_buffers *buffers;
	struct kwhy_transfers *transfers;
	struct kwhy_device_energy *energy;
	struct burst *bursts; /* `count` bursts; memory for BURSTS_MAX */
	size_t count;
};

static bool is_known(const struct pass *pass, const struct burst *burst)
{
	for (size_t i = 0; i < pass->transfers->energy_count; i++) {
		const struct kwhy_transfer_energy *energy = &pass->transfers->energies[i];

		if (energy->bytes == burst->point.bytes && energy->pieces == burst->point.pieces &&
			energy->direction == burst->point.direction &&
			strcmp(energy->strategy, burst->strategy->id) == 0)
			return true;
	}
	return false;
}

static void add_burst(
	struct pass *pass, const struct kwhy_bench_strategy *strategy, uint64_t bytes, uint32_t pieces)
{
	for (int way = 0; way < KWHY_TRANSFER_DIRECTION_COUNT && pass->count < BURSTS_MAX; way++) {
		struct burst *burst = &pass->bursts[pass->count];

		if (!(pass->request->directions & KWHY_BENCH_BIT(way)) ||
			!kwhy_bench_strategy_takes(
				strategy, (enum kwhy_transfer_direction)way, bytes, pieces))
			continue;
		*burst = (struct burst){.strategy = strategy,
			.point = {.strategy = strategy->id,
				.direction = (enum kwhy_transfer_direction)way,
				.bytes = bytes,
				.pieces = pieces}};
		snprintf(burst->name, sizeof(burst->name), "%s %s %" PRIu64 " %" PRIu32, strategy->id,
			kwhy_transfer_direction_name(burst->point.direction), bytes, pieces);
		pass->count += !is_known(pass, burst);
	}
}

static void add_strategy(struct pass *pass, const char *id)
{
	const struct kwhy_bench_strategy *strategy = kwhy_bench_strategy_find(id);

	if (!strategy)
		return;
	if (strategy->is_of_pieces && pass->buffers->capacity >= (uint64_t)PIECES * PIECE_BYTES)
		add_burst(pass, strategy, (uint64_t)PIECES * PIECE_BYTES, PIECES);
	for (size_t i = 0; !strategy->is_of_pieces && i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (sizes[i] >= pass->request->least_bytes && sizes[i] <= pass->request->most_bytes &&
			sizes[i] <= pass->buffers->capacity)
			add_burst(pass, strategy, sizes[i], 1);
}

static void list_bursts(struct pass *pass)
{
	const struct kwhy_bench_request *request = pass->request;

	for (size_t i = 0; i < request->strategy_count; i++)
		add_strategy(pass, request->strategies[i]);
	for (size_t i = 0; !request->strategies && i < sizeof(metered) / sizeof(metered[0]); i++)
		add_strategy(pass, metered[i]);
}

/*
 * Repeats a transfer for `seconds` and adds the number of transfers to *out_count. If the strategy can be
 * timed back to back, IN_A_ROW transfers are queued before the host waits for them; otherwise it waits after
 * each. finish(), the host's part of a transfer, is called once after each wait.
 */
static enum kwhy_status repeat(
	struct kwhy_bench_work *work, double seconds, uint64_t *out_count, struct kwhy_error *error)
{
	int row = work->strategy->clocks & KWHY_BENCH_BIT(KWHY_TRANSFER_BACK_TO_BACK) ? IN_A_ROW : 1;
	int64_t end_ns = kwhy_clock_mono_ns() + (int64_t)(seconds * 1e9);
	struct kwhy_gpu *gpu = work->buffers->gpu;
	enum kwhy_status status = KWHY_OK;

	while (!status && kwhy_clock_mono_ns() < end_ns) {
		for (int i = 0; !status && i < row; i++)
			status = kwhy_bench_issue(work, error);
		if (!status)
			status = gpu->ops->synchronize(gpu, work->buffers->streams[0], error);
		if (!status && work->strategy->finish)
			status = work->strategy->finish(work, error);
		*out_count += (uint64_t)row;
	}
	return status;
}

static enum kwhy_status run_burst(struct pass *pass, struct burst *burst, struct kwhy_error *error)
{
	struct kwhy_bench_work work;
	enum kwhy_status status = kwhy_bench_work_begin(
		pass->buffers, burst->strategy, &burst->point, &work, error);

	if (status == KWHY_E_UNSUPPORTED || status == KWHY_E_MEMORY)
		return KWHY_OK; /* no error here: the pass that measures times has reported that the strategy
				   cannot run */
	if (status)
		return status;
	status = kwhy_bench_warm_up(&work, error);
	if (!status)
		status = kwhy_device_energy_begin(pass->energy, burst->name, error);
	if (!status) {
		status = repeat(&work, pass->request->burst_s, &burst->transfers, error);
		kwhy_device_energy_end(pass->energy);
	}
	if (status) /* after a failure the number of transfers is unknown */
		burst->transfers = 0;
	kwhy_bench_work_end(&work);
	return status;
}

static struct kwhy_joules per_transfer(struct kwhy_joules joules, uint64_t transfers)
{
	double count = (double)transfers;

	return (struct kwhy_joules){joules.value / count, joules.low / count, joules.high / count};
}

static enum kwhy_status take_burst(struct pass *pass, const struct burst *burst,
	struct kwhy_bench_store *store, struct kwhy_error *error)
{
	struct kwhy_window_joules window;
	struct kwhy_transfer_energy energy = {.strategy = burst->strategy->id,
		.direction = burst->point.direction,
		.bytes = burst->point.bytes,
		.pieces = burst->point.pieces,
		.transfers = burst->transfers};
	struct kwhy_joules gross, net, host;
	enum kwhy_status status;

	if (burst->transfers == 0)
		return KWHY_OK;
	kwhy_device_energy_of(pass->energy, burst->name, 1, &window);
	gross = per_transfer(window.gross, burst->transfers);
	net = per_transfer(window.net, burst->transfers);
	host = per_transfer(window.host, burst->transfers);
	energy.seconds = window.seconds / (double)burst->transfers;
	energy.gross_j = gross.value;
	energy.gross_low_j = gross.low;
	energy.gross_high_j = gross.high;
	energy.net_j = net.value;
	energy.net_low_j = net.low;
	energy.net_high_j = net.high;
	energy.host_j = host.value;
	energy.host_low_j = host.low;
	energy.host_high_j = host.high;
	if (isfinite(window.gross.value) && isfinite(window.net.value))
		pass->transfers->context_idle_w = (window.gross.value - window.net.value) / window.seconds;
	status = kwhy_transfers_add_energy(pass->transfers, &energy, error);
	if (!status && store)
		status = kwhy_bench_store_add_energy(store, &energy, error);
	return status;
}

static enum kwhy_status run_pass(struct pass *pass, struct kwhy_bench_store *store, struct kwhy_error *error)
{
	const char *missing;
	enum kwhy_status status = kwhy_device_energy_idle(pass->energy, IDLE_S, error), taken;

	for (size_t i = 0; !status && i < pass->count; i++) {
		if (pass->request->progress)
			pass->request->progress(pass->request->context, pass->bursts[i].strategy->id,
				(double)i / (double)pass->count);
		status = kwhy_stop_check(error);
		if (!status)
			status = run_burst(pass, &pass->bursts[i], error);
	}
	taken = status && status != KWHY_E_LOST ? status : kwhy_device_energy_read(pass->energy, error);
	for (size_t i = 0; !taken && i < pass->count; i++)
		taken = take_burst(pass, &pass->bursts[i], store, error);
	missing = kwhy_device_energy_missing(pass->energy);
	if (missing) {
		pass->transfers->energy_missing = kwhy_arena_copy(&pass->transfers->arena, missing);
		if (!pass->transfers->energy_missing)
			return kwhy_fail_memory(error, "energies of transfers");
	}
	return status ? status : taken;
}

enum kwhy_status kwhy_bench_energies_measure(const struct kwhy_bench_request *request,
	struct kwhy_bench_buffers *buffers, struct kwhy_bench_store *store, struct kwhy_transfers *transfers,
	struct kwhy_error *error)
{
	struct pass pass = {.request = request, .buffers = buffers, .transfers = transfers};
	enum kwhy_status status;

	pass.bursts = calloc(BURSTS_MAX, sizeof(*pass.bursts));
	if (!pass.bursts)
		return kwhy_fail_memory(error, "energies of transfers");
	list_bursts(&pass);
	status = pass.count ? kwhy_device_energy_open(&buffers->gpu, 1, &pass.energy, error) : KWHY_OK;
	if (!status && pass.count) {
		status = run_pass(&pass, store, error);
		kwhy_device_energy_close(pass.energy);
	}
	free(pass.bursts);
	return status;
}

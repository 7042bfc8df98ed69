/* SPDX-License-Identifier: Apache-2.0 */
#include "transfer_engine.h"

#include <stdlib.h>
#include <string.h>

/*
 * 16 to 4096 pieces of 16 B to 64 KiB, either direction, from call to completion: a copy a piece, one batch,
 * the engine with page-locked memory that stays where it is, and the engine with memory that may be changed
 * at once. All four in one run, in an order drawn anew for each repetition; each ratio is of one repetition.
 * What arrived is compared after the timing.
 */

enum { REPEATS_MOST = 60, REPEATS_LEAST = 6, GAP = 256 };
enum { LOOP, BATCH, PINNED, STAGED, METHODS };

static const char *const names[METHODS] = {"loop", "batch", "engine pinned", "engine staged"};

struct pieces {
	struct bench *bench;
	struct kwhy_transfer *transfer;
	char *host; /* page-locked */
	uint64_t device;
	bool get;
	size_t count, bytes, stride;
	struct kwhy_gpu_copy *copies;
	struct kwhy_transfer_part *parts; /* the same */
};

/* Of the whole cell. */
static void move(struct pieces *pieces, int method)
{
	const struct bench *bench = pieces->bench;
	const struct kwhy_gpu_ops *ops = bench->gpu->ops;
	struct kwhy_error error;
	uint64_t ticket;

	if (method == PINNED || method == STAGED) {
		bench_must_transfer(pieces->transfer,
			(pieces->get ? kwhy_transfer_get_many : kwhy_transfer_put_many)(
				pieces->transfer, pieces->parts, pieces->count, method == PINNED, NULL));
		bench_must_transfer(pieces->transfer, kwhy_transfer_flush(pieces->transfer, &ticket));
		bench_must_transfer(pieces->transfer, kwhy_transfer_wait(pieces->transfer, ticket));
		return;
	}
	for (size_t i = 0; i < pieces->count && method == LOOP; i++)
		bench_must(ops->copy(bench->gpu, bench->stream, &pieces->copies[i], &error), &error);
	if (method == BATCH)
		bench_must(ops->copy_batch(bench->gpu, bench->stream, pieces->copies, pieces->count, &error),
			&error);
	bench_must(ops->synchronize(bench->gpu, bench->stream, &error), &error);
}

static void shuffle(int *order, unsigned *state)
{
	for (int i = 0; i < METHODS; i++)
		order[i] = i;
	for (int i = METHODS - 1; i > 0; i--) {
		int k = rand_r(state) % (i + 1), swapped = order[i];

		order[i] = order[k];
		order[k] = swapped;
	}
}

static bool has_method(const struct pieces *pieces, int method)
{
	return method != BATCH || pieces->bench->gpu->ops->copy_batch;
}

/* Device and host swap places: both ends hold the pattern, then one is wiped and fetched anew. */
static void verify(struct pieces *pieces, int method)
{
	const struct kwhy_gpu_ops *ops = pieces->bench->gpu->ops;
	size_t whole = pieces->count * pieces->stride;
	struct kwhy_gpu_copy to_device = {pieces->device, kwhy_gpu_address(pieces->host), whole},
			     back = {kwhy_gpu_address(pieces->host), pieces->device, whole};
	struct kwhy_error error;

	for (size_t i = 0; i < whole; i++)
		pieces->host[i] = (char)(i * 31 + i / 4096 + (size_t)method);
	if (pieces->get) {
		bench_must(ops->copy_now(pieces->bench->gpu, &to_device, &error), &error);
		memset(pieces->host, 0, whole);
	}
	move(pieces, method);
	if (!pieces->get) {
		memset(pieces->host, 0, whole);
		bench_must(ops->copy_now(pieces->bench->gpu, &back, &error), &error);
	}
	for (size_t k = 0; k < pieces->count; k++)
		for (size_t i = k * pieces->stride; i < k * pieces->stride + pieces->bytes; i++)
			if (pieces->host[i] != (char)(i * 31 + i / 4096 + (size_t)method)) {
				fprintf(stderr, "%s: byte %zu of piece %zu did not arrive\n", names[method],
					i - k * pieces->stride, k);
				exit(1);
			}
}

/* Paired ratios of an engine's times and those of the better of the two others. */
static void compare(
	double times[METHODS][REPEATS_MOST], size_t count, int engine, int better, double *out_ratio)
{
	double ratios[REPEATS_MOST];

	for (size_t i = 0; i < count; i++)
		ratios[i] = times[engine][i] / times[better][i];
	out_ratio[0] = bench_quantile(ratios, count, 0.5);
	bench_median_bounds(ratios, count, &out_ratio[1], &out_ratio[2]);
}

static void report(struct pieces *pieces, double times[METHODS][REPEATS_MOST], size_t count)
{
	double medians[METHODS], sorted[REPEATS_MOST], pinned[3], staged[3];
	int better;

	for (int m = 0; m < METHODS; m++) {
		memcpy(sorted, times[m], count * sizeof(*sorted));
		medians[m] = has_method(pieces, m) ? bench_quantile(sorted, count, 0.5) : 0;
	}
	better = has_method(pieces, BATCH) && medians[BATCH] < medians[LOOP] ? BATCH : LOOP;
	compare(times, count, PINNED, better, pinned);
	compare(times, count, STAGED, better, staged);
	printf("%-3s %6zu %5zu %9.1f %9.1f %9.1f %9.1f  %.3f %.3f-%.3f  %.3f %.3f-%.3f%s\n",
		pieces->get ? "d2h" : "h2d", pieces->bytes, pieces->count, medians[LOOP], medians[BATCH],
		medians[PINNED], medians[STAGED], pinned[0], pinned[1], pinned[2], staged[0], staged[1],
		staged[2], pinned[1] > 1.03 ? "  slower" : "");
}

static void measure(struct pieces *pieces, double budget_us, unsigned *state, FILE *csv)
{
	static double times[METHODS][REPEATS_MOST];
	double end_us = bench_now_us() + budget_us;
	size_t count = 0;

	for (int warm = 0; warm < 2; warm++)
		for (int m = 0; m < METHODS; m++)
			if (has_method(pieces, m))
				move(pieces, m);
	while (count < REPEATS_MOST && (count < REPEATS_LEAST || bench_now_us() < end_us)) {
		int order[METHODS];

		shuffle(order, state);
		for (int i = 0; i < METHODS; i++) {
			double start_us = bench_now_us();

			if (!has_method(pieces, order[i]))
				continue;
			move(pieces, order[i]);
			times[order[i]][count] = bench_now_us() - start_us;
			fprintf(csv, "%s,%s,%zu,%zu,%zu,%.3f\n", pieces->get ? "d2h" : "h2d", names[order[i]],
				pieces->bytes, pieces->count, count, times[order[i]][count]);
		}
		count++;
	}
	for (int m = 0; m < METHODS; m++)
		if (has_method(pieces, m))
			verify(pieces, m);
	report(pieces, times, count);
}

static void set_cell(struct pieces *pieces, size_t bytes, size_t count, bool get)
{
	pieces->bytes = bytes;
	pieces->count = count;
	pieces->get = get;
	pieces->stride = (bytes + GAP - 1) / GAP * GAP + GAP;
	for (size_t i = 0; i < count; i++) {
		uint64_t host = kwhy_gpu_address(pieces->host + i * pieces->stride),
			 device = pieces->device + i * pieces->stride;

		pieces->parts[i] = (struct kwhy_transfer_part){
			device, pieces->host + i * pieces->stride, bytes};
		pieces->copies[i] = get ? (struct kwhy_gpu_copy){host, device, bytes}
					: (struct kwhy_gpu_copy){device, host, bytes};
	}
}

void bench_pieces(struct bench *bench)
{
	const size_t bytes_most = bench->quick ? 4096 : 65536, count_most = bench->quick ? 256 : 4096,
		     whole = count_most * (bytes_most + GAP);
	const struct kwhy_gpu_ops *ops = bench->gpu->ops;
	struct pieces pieces = {.bench = bench,
		.transfer = bench_open(bench, (struct kwhy_transfer_options){0}),
		.copies = calloc(count_most, sizeof(*pieces.copies)),
		.parts = calloc(count_most, sizeof(*pieces.parts))};
	FILE *csv = bench_csv(bench, "pieces.csv", "direction,method,bytes,count,repeat,us");
	struct kwhy_gpu_host host;
	struct kwhy_error error;
	unsigned state = 1;

	bench_must(ops->host_new(bench->gpu, KWHY_GPU_HOST_PINNED, whole, bench->gpu->facts.numa_node, &host,
			   &error),
		&error);
	bench_must(ops->memory_new(bench->gpu, whole, &pieces.device, &error), &error);
	pieces.host = host.memory;
	printf("\nfrom call to completion, us; engine against the better of loop and batch, with 95 %% "
	       "bounds\n");
	printf("%-3s %6s %5s %9s %9s %9s %9s  %-17s  %s\n", "", "bytes", "count", "loop", "batch", "pinned",
		"staged", "pinned/better", "staged/better");
	for (int get = 0; get < 2; get++)
		for (size_t bytes = 16; bytes <= bytes_most; bytes *= 4)
			for (size_t count = 16; count <= count_most; count *= 4) {
				set_cell(&pieces, bytes, count, get);
				measure(&pieces, bench->quick ? 1e4 : bench->seconds * 1e6 / 70, &state, csv);
			}
	fclose(csv);
	free(pieces.copies);
	free(pieces.parts);
	ops->memory_free(bench->gpu, pieces.device);
	ops->host_free(bench->gpu, &host);
	kwhy_transfer_close(pieces.transfer);
}

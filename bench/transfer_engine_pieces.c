/* SPDX-License-Identifier: Apache-2.0 */
#include "transfer_engine.h"

#include <stdlib.h>
#include <string.h>

/*
 * Measures transfers of 16 to 4096 pieces of 16 B to 64 KiB in both directions, from the call to the
 * completion. With page-locked memory on the host: one copy for each piece, one batch of copies, and the
 * engine, where the caller keeps the memory unchanged until completion. With pageable memory, which the
 * caller may change as soon as the call returns: one copy for each piece, and the engine. All five methods
 * run in one process, in a new random order for each repetition, and a ratio of two methods is formed within
 * a repetition. Data is verified after the timing.
 */

enum { REPEATS_MAX = 60, REPEATS_MIN = 6, GAP = 256 };
enum { LOOP, BATCH, PINNED, PAGEABLE, STAGED, METHODS };

static const char *const names[METHODS] = {
	"loop", "batch", "engine pinned", "loop pageable", "engine staged"};

struct pieces {
	struct bench *bench;
	struct kwhy_transfer *transfer;
	char *pinned, *pageable;
	uint64_t device;
	bool get;
	size_t count, bytes, stride;
	struct kwhy_gpu_copy *copies[2];     /* [0] from page-locked memory, [1] from pageable memory */
	struct kwhy_transfer_part *parts[2]; /* [0] from page-locked memory, [1] from pageable memory */
};

static bool is_pageable(int method)
{
	return method == PAGEABLE || method == STAGED;
}

/*
 * Transfers all pieces (count, size and direction are those of `pieces`) by one method, and waits for them.
 */
static void move(struct pieces *pieces, int method)
{
	const struct bench *bench = pieces->bench;
	const struct kwhy_gpu_ops *ops = bench->gpu->ops;
	const struct kwhy_gpu_copy *copies = pieces->copies[is_pageable(method)];
	struct kwhy_error error;
	uint64_t ticket;

	if (method == PINNED || method == STAGED) {
		bench_must_transfer(pieces->transfer,
			(pieces->get ? kwhy_transfer_get_many : kwhy_transfer_put_many)(pieces->transfer,
				pieces->parts[is_pageable(method)], pieces->count, method == PINNED, NULL));
		bench_must_transfer(pieces->transfer, kwhy_transfer_flush(pieces->transfer, &ticket));
		bench_must_transfer(pieces->transfer, kwhy_transfer_wait(pieces->transfer, ticket));
		return;
	}
	for (size_t i = 0; i < pieces->count && method != BATCH; i++)
		bench_must(ops->copy(bench->gpu, bench->stream, &copies[i], &error), &error);
	if (method == BATCH)
		bench_must(ops->copy_batch(bench->gpu, bench->stream, copies, pieces->count, &error), &error);
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

/*
 * Checks the transferred data. A pattern is sent to the device and read back, piece by piece; for transfers
 * to the host, the host's memory is cleared and the pieces are fetched again.
 */
static void verify(struct pieces *pieces, int method)
{
	const struct kwhy_gpu_ops *ops = pieces->bench->gpu->ops;
	char *host = is_pageable(method) ? pieces->pageable : pieces->pinned;
	size_t whole = pieces->count * pieces->stride;
	struct kwhy_gpu_copy to_device = {pieces->device, kwhy_gpu_address(host), whole},
			     back = {kwhy_gpu_address(host), pieces->device, whole};
	struct kwhy_error error;

	for (size_t i = 0; i < whole; i++)
		host[i] = (char)(i * 31 + i / 4096 + (size_t)method);
	if (pieces->get) {
		bench_must(ops->copy_now(pieces->bench->gpu, &to_device, &error), &error);
		memset(host, 0, whole);
	}
	move(pieces, method);
	if (!pieces->get) {
		memset(host, 0, whole);
		bench_must(ops->copy_now(pieces->bench->gpu, &back, &error), &error);
	}
	for (size_t k = 0; k < pieces->count; k++)
		for (size_t i = k * pieces->stride; i < k * pieces->stride + pieces->bytes; i++)
			if (host[i] != (char)(i * 31 + i / 4096 + (size_t)method)) {
				fprintf(stderr, "%s: byte %zu of piece %zu did not arrive\n", names[method],
					i - k * pieces->stride, k);
				exit(1);
			}
}

/*
 * Ratios of the engine's times to those of the method `other`, each within one repetition. out_ratio: median
 * and the bounds of its 95 % interval.
 */
static void compare(
	double times[METHODS][REPEATS_MAX], size_t count, int engine, int other, double *out_ratio)
{
	double ratios[REPEATS_MAX];

	for (size_t i = 0; i < count; i++)
		ratios[i] = times[engine][i] / times[other][i];
	out_ratio[0] = bench_quantile(ratios, count, 0.5);
	bench_median_bounds(ratios, count, &out_ratio[1], &out_ratio[2]);
}

static void report(struct pieces *pieces, double times[METHODS][REPEATS_MAX], size_t count)
{
	double medians[METHODS], sorted[REPEATS_MAX], pinned[3], staged[3];
	int better;

	for (int m = 0; m < METHODS; m++) {
		memcpy(sorted, times[m], count * sizeof(*sorted));
		medians[m] = has_method(pieces, m) ? bench_quantile(sorted, count, 0.5) : 0;
	}
	better = has_method(pieces, BATCH) && medians[BATCH] < medians[LOOP] ? BATCH : LOOP;
	compare(times, count, PINNED, better, pinned);
	compare(times, count, STAGED, PAGEABLE, staged);
	printf("%-3s %6zu %5zu %9.1f %9.1f %9.1f  %.3f %.3f-%.3f%-8s %9.1f %9.1f  %.3f %.3f-%.3f%s\n",
		pieces->get ? "d2h" : "h2d", pieces->bytes, pieces->count, medians[LOOP], medians[BATCH],
		medians[PINNED], pinned[0], pinned[1], pinned[2], pinned[1] > 1.03 ? "  slower" : "",
		medians[PAGEABLE], medians[STAGED], staged[0], staged[1], staged[2],
		staged[1] > 1.03 ? "  slower" : "");
}

static void measure(struct pieces *pieces, double budget_us, unsigned *state, FILE *csv)
{
	static double times[METHODS][REPEATS_MAX];
	double end_us = bench_now_us() + budget_us;
	size_t count = 0;

	for (int warm = 0; warm < 2; warm++)
		for (int m = 0; m < METHODS; m++)
			if (has_method(pieces, m))
				move(pieces, m);
	while (count < REPEATS_MAX && (count < REPEATS_MIN || bench_now_us() < end_us)) {
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
		uint64_t device = pieces->device + i * pieces->stride;

		for (int pageable = 0; pageable < 2; pageable++) {
			char *memory = (pageable ? pieces->pageable : pieces->pinned) + i * pieces->stride;
			uint64_t host = kwhy_gpu_address(memory);

			pieces->parts[pageable][i] = (struct kwhy_transfer_part){device, memory, bytes};
			pieces->copies[pageable][i] = get ? (struct kwhy_gpu_copy){host, device, bytes}
							  : (struct kwhy_gpu_copy){device, host, bytes};
		}
	}
}

void bench_pieces(struct bench *bench)
{
	const size_t bytes_most = bench->quick ? 4096 : 65536, count_most = bench->quick ? 256 : 4096,
		     whole = count_most * (bytes_most + GAP);
	const struct kwhy_gpu_ops *ops = bench->gpu->ops;
	struct pieces pieces = {.bench = bench,
		.transfer = bench_open(bench, (struct kwhy_transfer_options){0}),
		.pageable = malloc(whole)};
	FILE *csv = bench_csv(bench, "pieces.csv", "direction,method,bytes,count,repeat,us");
	struct kwhy_gpu_host host;
	struct kwhy_error error;
	unsigned state = 1;

	bench_must(ops->host_new(bench->gpu, KWHY_GPU_HOST_PINNED, whole, bench->gpu->facts.numa_node, &host,
			   &error),
		&error);
	bench_must(ops->memory_new(bench->gpu, whole, &pieces.device, &error), &error);
	pieces.pinned = host.memory;
	memset(pieces.pageable, 1,
		/* writes to each page, because the kernel maps all unwritten pages to one page of zeros */
		whole);
	for (int i = 0; i < 2; i++) {
		pieces.copies[i] = calloc(count_most, sizeof(*pieces.copies[i]));
		pieces.parts[i] = calloc(count_most, sizeof(*pieces.parts[i]));
	}
	printf("\nfrom call to completion, us; of page-locked memory the engine against the better of loop "
	       "and "
	       "batch, of pageable memory against a loop, with 95 %% bounds\n");
	printf("%-3s %6s %5s %9s %9s %9s  %-25s %9s %9s  %s\n", "", "bytes", "count", "loop", "batch",
		"engine", "engine/better", "pageable", "engine", "engine/pageable");
	for (int get = 0; get < 2; get++)
		for (size_t bytes = 16; bytes <= bytes_most; bytes *= 4)
			for (size_t count = 16; count <= count_most; count *= 4) {
				set_cell(&pieces, bytes, count, get);
				measure(&pieces, bench->quick ? 1e4 : bench->seconds * 1e6 / 70, &state, csv);
			}
	fclose(csv);
	for (int i = 0; i < 2; i++) {
		free(pieces.copies[i]);
		free(pieces.parts[i]);
	}
	free(pieces.pageable);
	ops->memory_free(bench->gpu, pieces.device);
	ops->host_free(bench->gpu, &host);
	kwhy_transfer_close(pieces.transfer);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "transfer_engine.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * Streams page-locked data to the device in chunks. A kernel works on each chunk for as long as its copy
 * takes, half as long, or twice as long. Overlap efficiency is (copy + compute - both) / min(copy, compute),
 * with the times of the copies alone, of the kernels alone, and of both together; 1 is perfect. The kernel
 * only waits on one multiprocessor until the device's clock has advanced, so it needs no memory bandwidth.
 */

enum { RUNS_MAX = 9 };

static const char text[] = "extern \"C\" __global__ void bench_spend(unsigned long long length_ns)\n"
			   "{\n"
			   "	unsigned long long start, now;\n"
			   "	asm volatile(\"mov.u64 %0, %%globaltimer;\" : \"=l\"(start));\n"
			   "	do\n"
			   "		asm volatile(\"mov.u64 %0, %%globaltimer;\" : \"=l\"(now));\n"
			   "	while (now - start < length_ns);\n"
			   "}\n";

/* Takes the place of the kernel on the host back end: sleeps for length_ns. */
static void spend_ns(uint64_t length_ns)
{
	struct timespec length = {
		.tv_sec = (time_t)(length_ns / 1000000000), .tv_nsec = (long)(length_ns % 1000000000)};

	if (length_ns > 0)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &length, NULL);
}

static void spend_on_host(const struct kwhy_gpu_grid *grid, void **arguments)
{
	(void)grid;
	spend_ns(*(uint64_t *)arguments[0]);
}

static const struct kwhy_gpu_host_kernel on_host[] = {{"bench_spend", spend_on_host, {8}}, {0}};
static const struct kwhy_gpu_source source = {.title = "bench_spend", .text = text, .on_host = on_host};

struct overlap {
	const struct bench *bench;
	struct kwhy_transfer *transfer;
	const struct kwhy_gpu_kernel *kernel;
	struct kwhy_transfer_loader_options options;
	double compute_us; /* time that the kernels take for all chunks together */
	bool failed;
};

static void launch(struct overlap *overlap, struct kwhy_gpu_stream *stream, uint64_t length_ns)
{
	const struct bench *bench = overlap->bench;
	void *arguments[] = {&length_ns};
	struct kwhy_gpu_launch launch = {.kernel = overlap->kernel,
		.blocks = 1,
		.threads_per_block = 1,
		.arguments = arguments,
		.stream = stream};
	struct kwhy_error error;

	bench_must(bench->gpu->ops->launch(bench->gpu, &launch, &error), &error);
}

static uint64_t length_of(const struct overlap *overlap, uint64_t bytes)
{
	return (uint64_t)(overlap->compute_us * 1e3 * (double)bytes / (double)overlap->options.bytes);
}

static void work_on(
	struct overlap *overlap, struct kwhy_transfer_loader *loader, struct kwhy_transfer_chunk *chunk)
{
	uint64_t length_ns = length_of(overlap, chunk->bytes);

	if (chunk->stream) {
		if (length_ns > 0)
			launch(overlap, chunk->stream, length_ns);
		return;
	}
	bench_must_transfer(overlap->transfer, kwhy_transfer_loader_arrived(loader, chunk));
	spend_ns(length_ns);
}

/*
 * Streams all data, with the kernel on each chunk, and returns the time without that of opening the loader.
 * *out_opening_us: time to open it, which allocates memory, a stream and events.
 */
static double through_us(struct overlap *overlap, double *out_opening_us)
{
	const struct bench *bench = overlap->bench;
	struct kwhy_transfer_chunk chunk = {.size = sizeof(chunk)};
	struct kwhy_transfer_loader *loader;
	struct kwhy_error error;
	double opening_us = bench_now_us(), start_us, length_us;
	int code;

	bench_must_transfer(
		overlap->transfer, kwhy_transfer_loader_open(overlap->transfer, &overlap->options, &loader));
	start_us = bench_now_us();
	while ((code = kwhy_transfer_loader_next(loader, &chunk)) == KWHY_TRANSFER_OK) {
		work_on(overlap, loader, &chunk);
		bench_must_transfer(overlap->transfer, kwhy_transfer_loader_done(loader, &chunk));
	}
	bench_must_transfer(overlap->transfer, code == KWHY_TRANSFER_END ? 0 : code);
	if (chunk.stream)
		bench_must(bench->gpu->ops->synchronize(bench->gpu, chunk.stream, &error), &error);
	length_us = bench_now_us() - start_us;
	kwhy_transfer_loader_close(loader);
	*out_opening_us = start_us - opening_us;
	return length_us;
}

/* Time of one copy of all data. */
static double copy_us(struct overlap *overlap, uint64_t device)
{
	const struct bench *bench = overlap->bench;
	struct kwhy_gpu_copy copy = {device, kwhy_gpu_address(overlap->options.from), overlap->options.bytes};
	struct kwhy_error error;
	double start_us = bench_now_us();

	bench_must(bench->gpu->ops->copy(bench->gpu, bench->stream, &copy, &error), &error);
	bench_must(bench->gpu->ops->synchronize(bench->gpu, bench->stream, &error), &error);
	return bench_now_us() - start_us;
}

/* Time of the kernels alone, one for each chunk, without copies. */
static double compute_us(struct overlap *overlap)
{
	const struct bench *bench = overlap->bench;
	struct kwhy_error error;
	double start_us = bench_now_us();

	for (uint64_t done = 0; done < overlap->options.bytes; done += overlap->options.chunk_bytes) {
		uint64_t left = overlap->options.bytes - done;

		launch(overlap, bench->stream,
			length_of(overlap,
				left < overlap->options.chunk_bytes ? left : overlap->options.chunk_bytes));
	}
	bench_must(bench->gpu->ops->synchronize(bench->gpu, bench->stream, &error), &error);
	return bench_now_us() - start_us;
}

/*
 * Time of the copies alone: the shorter one of a single copy of all data, and a stream of chunks without
 * kernels.
 */
static double least_copy_us(struct overlap *overlap, uint64_t device)
{
	double one_us = copy_us(overlap, device), opening_us, chunks_us;

	overlap->compute_us = 0;
	chunks_us = through_us(overlap, &opening_us);
	return one_us < chunks_us ? one_us : chunks_us;
}

static void measure(struct overlap *overlap, double ratio, uint64_t device, FILE *csv)
{
	int runs = overlap->bench->quick ? 3 : RUNS_MAX;
	double copies[RUNS_MAX], computes[RUNS_MAX], boths[RUNS_MAX], openings[RUNS_MAX], shares[RUNS_MAX],
		low, high;

	(void)least_copy_us(overlap, device);
	for (int i = 0; i < runs; i++) {
		copies[i] = least_copy_us(overlap, device);
		overlap->compute_us = ratio * copies[i];
		computes[i] = compute_us(overlap);
		boths[i] = through_us(overlap, &openings[i]);
		shares[i] = (copies[i] + computes[i] - boths[i]) /
			(copies[i] < computes[i] ? copies[i] : computes[i]);
		fprintf(csv, "%g,%llu,%.1f,%.1f,%.1f,%.1f,%.4f\n", ratio,
			(unsigned long long)overlap->options.chunk_bytes, copies[i], computes[i], boths[i],
			openings[i], shares[i]);
	}
	bench_median_bounds(shares, (size_t)runs, &low, &high);
	printf("%-14g %9.1f %9.1f %9.1f %9.1f   %.3f (%.3f to %.3f)\n", ratio,
		bench_quantile(copies, (size_t)runs, 0.5) / 1e3,
		bench_quantile(computes, (size_t)runs, 0.5) / 1e3,
		bench_quantile(boths, (size_t)runs, 0.5) / 1e3,
		bench_quantile(openings, (size_t)runs, 0.5) / 1e3, bench_quantile(shares, (size_t)runs, 0.5),
		low, high);
}

/*
 * Measures streaming from pageable memory: threads of the engine copy or convert the data into page-locked
 * slots, from which it is sent. Rates are bytes of the source per second.
 */
static void measure_staged(struct overlap *overlap, const void *page_locked, FILE *csv)
{
	static const char *const formats[] = {"as it is", "to fp16", "to bf16", "to int8"};
	int runs = overlap->bench->quick ? 3 : RUNS_MAX;
	void *from = malloc(overlap->options.bytes);

	if (!from) {
		perror("memory");
		exit(1);
	}
	overlap->options.from = memcpy(from, page_locked, overlap->options.bytes);
	overlap->options.pinned = 0;
	overlap->options.scale = 1;
	overlap->options.slots = 16;
	overlap->compute_us = 0;
	printf("\nfrom pageable memory, GB/s read   threads 1        2        4        8       16\n");
	for (int format = 0; format < 4; format++) {
		printf("%-32s", formats[format]);
		overlap->options.format = format;
		for (uint32_t threads = 1; threads <= 16; threads *= 2) {
			double rates[RUNS_MAX], opening_us;

			overlap->options.threads = threads;
			for (int i = -1; i < runs; i++) {
				double us = through_us(overlap, &opening_us);

				if (i >= 0)
					rates[i] = (double)overlap->options.bytes / us * 1e-3;
				fprintf(csv, "%s,%u,%d,%.1f\n", formats[format], threads, i, us);
			}
			printf(" %8.2f", bench_quantile(rates, (size_t)runs, 0.5));
		}
		printf("\n");
	}
	free(from);
}

void bench_overlap(struct bench *bench)
{
	const struct kwhy_gpu_ops *ops = bench->gpu->ops;
	uint64_t bytes = bench->quick		       ? UINT64_C(32) << 20
		: bench->backend == KWHY_TRANSFER_HOST ? UINT64_C(256) << 20
						       : UINT64_C(1) << 30;
	struct overlap overlap = {.bench = bench,
		.transfer = bench_open(bench, (struct kwhy_transfer_options){0}),
		.options = {.size = sizeof(overlap.options), .bytes = bytes, .pinned = 1}};
	FILE *csv = bench_csv(
		bench, "overlap.csv", "ratio,chunk_bytes,copy_us,compute_us,both_us,opening_us,efficiency");
	struct kwhy_gpu_module *module;
	struct kwhy_error error;
	uint64_t from, device;
	double one_us;

	bench_must(ops->module_new(bench->gpu, &source, &module, &error), &error);
	bench_must(ops->kernel_find(bench->gpu, module, "bench_spend", &overlap.kernel, &error), &error);
	bench_must(ops->memory_new(bench->gpu, bytes, &device, &error), &error);
	bench_must_transfer(overlap.transfer,
		kwhy_transfer_memory_new(overlap.transfer, KWHY_TRANSFER_PINNED, bytes, &from));
	overlap.options.from = memset((void *)(uintptr_t)from, 0x5a, bytes);
	(void)copy_us(&overlap, device);
	one_us = copy_us(&overlap, device);
	overlap.options.chunk_bytes = kwhy_transfer_chunk_bytes(bytes, one_us * 1e-6, one_us * 1e-6, 8e-6);
	printf("\n%llu MiB in chunks of %.1f MiB (copy alone %.1f GB/s)\n", (unsigned long long)(bytes >> 20),
		(double)overlap.options.chunk_bytes / 1048576, (double)bytes / one_us * 1e-3);
	printf("%-14s %9s %9s %9s %9s   %s\n", "compute/copy", "copy ms", "compute", "both", "opening",
		"overlap efficiency (95 % of the median)");
	measure(&overlap, 1, device, csv);
	measure(&overlap, 0.5, device, csv);
	measure(&overlap, 2, device, csv);
	fclose(csv);
	csv = bench_csv(bench, "staged.csv", "format,threads,run,us");
	overlap.options.chunk_bytes = 4 << 20;
	measure_staged(&overlap, (void *)(uintptr_t)from, csv);
	fclose(csv);
	ops->memory_free(bench->gpu, device);
	ops->module_free(bench->gpu, module);
	kwhy_transfer_close(overlap.transfer);
}

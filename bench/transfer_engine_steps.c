/* SPDX-License-Identifier: Apache-2.0 */
#include "transfer_engine.h"

#include <stdlib.h>
#include <string.h>

/*
 * Measures the host's cost of sending 6,289 pieces of 37.5 B on average in 288 steps, as in a simulation that
 * sets 22 values in each step (lab/README.md, twin). Figures: time of the engine's calls in a step, and time
 * of a run with the wait at its end; both also with a wait after each step. For comparison: one copy for each
 * piece, and one batch of copies for each step.
 */

enum { STEPS = 288, PIECES = 6289, RUNS_MAX = 50, STRIDE = 4096, A_STEP_MAX = 32 };

struct steps {
	const struct bench *bench;
	uint64_t device;
	char *source; /* in page-locked memory */
	struct kwhy_transfer *transfer;
	bool wait_each;
};

static int pieces_of(int step)
{
	return (step + 1) * PIECES / STEPS - step * PIECES / STEPS;
}

static size_t bytes_of(int piece)
{
	return 37 + (size_t)(piece & 1);
}

static void step_by_engine(struct steps *steps, int pieces)
{
	uint64_t ticket;

	for (int i = 0; i < pieces; i++)
		bench_must_transfer(steps->transfer,
			kwhy_transfer_put(steps->transfer, steps->device + (uint64_t)i * STRIDE,
				steps->source + i * STRIDE, bytes_of(i)));
	bench_must_transfer(steps->transfer, kwhy_transfer_flush(steps->transfer, &ticket));
	if (steps->wait_each)
		bench_must_transfer(steps->transfer, kwhy_transfer_wait(steps->transfer, ticket));
}

/* Sends the pieces of a step with one call of the engine that takes a list. */
static void step_by_list(struct steps *steps, int pieces)
{
	struct kwhy_transfer_part parts[A_STEP_MAX];
	uint64_t ticket;

	for (int i = 0; i < pieces; i++)
		parts[i] = (struct kwhy_transfer_part){
			steps->device + (uint64_t)i * STRIDE, steps->source + i * STRIDE, bytes_of(i)};
	bench_must_transfer(
		steps->transfer, kwhy_transfer_put_many(steps->transfer, parts, (size_t)pieces, 0, NULL));
	bench_must_transfer(steps->transfer, kwhy_transfer_flush(steps->transfer, &ticket));
	if (steps->wait_each)
		bench_must_transfer(steps->transfer, kwhy_transfer_wait(steps->transfer, ticket));
}

static struct kwhy_gpu_copy copy_of(const struct steps *steps, int i)
{
	return (struct kwhy_gpu_copy){steps->device + (uint64_t)i * STRIDE,
		kwhy_gpu_address(steps->source + i * STRIDE), bytes_of(i)};
}

static void synchronize(const struct bench *bench)
{
	struct kwhy_error error;

	bench_must(bench->gpu->ops->synchronize(bench->gpu, bench->stream, &error), &error);
}

static void step_by_loop(struct steps *steps, int pieces)
{
	const struct bench *bench = steps->bench;
	struct kwhy_error error;

	for (int i = 0; i < pieces; i++) {
		struct kwhy_gpu_copy copy = copy_of(steps, i);

		bench_must(bench->gpu->ops->copy(bench->gpu, bench->stream, &copy, &error), &error);
	}
	if (steps->wait_each)
		synchronize(bench);
}

static void step_by_batch(struct steps *steps, int pieces)
{
	const struct bench *bench = steps->bench;
	struct kwhy_gpu_copy copies[A_STEP_MAX];
	struct kwhy_error error;

	for (int i = 0; i < pieces; i++)
		copies[i] = copy_of(steps, i);
	bench_must(bench->gpu->ops->copy_batch(bench->gpu, bench->stream, copies, (size_t)pieces, &error),
		&error);
	if (steps->wait_each)
		synchronize(bench);
}

static void finish(struct steps *steps)
{
	uint64_t ticket;

	if (!steps->transfer) {
		synchronize(steps->bench);
		return;
	}
	bench_must_transfer(steps->transfer, kwhy_transfer_flush(steps->transfer, &ticket));
	bench_must_transfer(steps->transfer, kwhy_transfer_wait(steps->transfer, ticket));
}

static void measure(
	struct steps *steps, const char *name, void (*step)(struct steps *steps, int pieces), FILE *csv)
{
	int runs = steps->bench->quick ? 3 : RUNS_MAX;
	double *host_us = malloc((size_t)runs * STEPS * sizeof(*host_us)), run_us[RUNS_MAX];
	size_t count = 0;

	for (int run = -2; run < runs; run++) {
		double start_us = bench_now_us();

		for (int i = 0; i < STEPS; i++) {
			double before_us = bench_now_us(), after_us;

			step(steps, pieces_of(i));
			after_us = bench_now_us();
			if (run >= 0) {
				host_us[count++] = after_us - before_us;
				fprintf(csv, "%s,%d,%d,%d,%.3f\n", name, steps->wait_each, run, i,
					after_us - before_us);
			}
		}
		finish(steps);
		if (run >= 0)
			run_us[run] = bench_now_us() - start_us;
	}
	printf("%-16s %-11s %10.2f %10.2f %12.1f\n", name, steps->wait_each ? "each step" : "at the end",
		bench_quantile(host_us, count, 0.5), bench_quantile(host_us, count, 0.99),
		bench_quantile(run_us, (size_t)runs, 0.5));
	free(host_us);
}

static void measure_engine(struct steps *steps, const char *name, int way,
	void (*step)(struct steps *steps, int pieces), FILE *csv)
{
	steps->transfer = bench_open(steps->bench, (struct kwhy_transfer_options){.way = way, .slots = 64});
	for (int wait = 0; wait < 2; wait++) {
		steps->wait_each = wait;
		measure(steps, name, step, csv);
	}
	kwhy_transfer_close(steps->transfer);
	steps->transfer = NULL;
}

void bench_steps(struct bench *bench)
{
	const struct kwhy_gpu_ops *ops = bench->gpu->ops;
	struct steps steps = {.bench = bench};
	struct kwhy_gpu_host host;
	struct kwhy_error error;
	FILE *csv = bench_csv(bench, "steps.csv", "way,wait_each,run,step,host_us");

	bench_must(ops->host_new(bench->gpu, KWHY_GPU_HOST_PINNED, (size_t)A_STEP_MAX * STRIDE,
			   bench->gpu->facts.numa_node, &host, &error),
		&error);
	bench_must(ops->memory_new(bench->gpu, (size_t)A_STEP_MAX * STRIDE, &steps.device, &error), &error);
	steps.source = host.memory;
	printf("\n%d pieces of 37.5 B in %d steps: time of the host in a step, us\n", (int)PIECES,
		(int)STEPS);
	printf("%-16s %-11s %10s %10s %12s\n", "way", "waits", "median", "99 %", "whole run");
	measure_engine(&steps, "engine", KWHY_TRANSFER_CHOOSE, step_by_engine, csv);
	measure_engine(&steps, "engine, a list", KWHY_TRANSFER_CHOOSE, step_by_list, csv);
	measure_engine(&steps, "engine mapped", KWHY_TRANSFER_MAPPED, step_by_engine, csv);
	measure_engine(&steps, "engine packed", KWHY_TRANSFER_PACKED, step_by_engine, csv);
	for (int wait = 0; wait < 2; wait++) {
		steps.wait_each = wait;
		measure(&steps, "copy a piece", step_by_loop, csv);
		if (ops->copy_batch)
			measure(&steps, "batch", step_by_batch, csv);
	}
	fclose(csv);
	ops->memory_free(bench->gpu, steps.device);
	ops->host_free(bench->gpu, &host);
}

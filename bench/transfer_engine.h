/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFER_ENGINE_H
#define KWHY_BENCH_TRANSFER_ENGINE_H

#include "gpu/gpu.h"
#include "kwhy/transfer.h"

#include <stdbool.h>
#include <stdio.h>

/* The parts of bench_transfer_engine: each prints a table and appends raw figures to a CSV of its own. */

struct bench {
	int backend;
	const char *device, *folder; /* folder NULL: no CSV */
	const char *part;	     /* NULL: all */
	bool quick;
	double seconds; /* for the comparison with loops */
	struct kwhy_gpu *gpu;
	struct kwhy_gpu_stream *stream;
};

void bench_steps(struct bench *bench);
void bench_overlap(struct bench *bench);
void bench_pieces(struct bench *bench);

/* These end the program where something fails: a figure of half a run is worth nothing. */
void bench_must(enum kwhy_status status, const struct kwhy_error *error);
void bench_must_transfer(struct kwhy_transfer *transfer, int code);
struct kwhy_transfer *bench_open(const struct bench *bench, struct kwhy_transfer_options options);
FILE *bench_csv(const struct bench *bench, const char *name, const char *header);

double bench_now_us(void);

/* Sorts them. */
double bench_quantile(double *values, size_t count, double share);

/* The 95 % bounds of the median by order statistics (binomial); sorts them. */
void bench_median_bounds(double *values, size_t count, double *out_low, double *out_high);

#endif

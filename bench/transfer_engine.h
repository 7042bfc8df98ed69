/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFER_ENGINE_H
#define KWHY_BENCH_TRANSFER_ENGINE_H

#include "gpu/gpu.h"
#include "kwhy/transfer.h"

#include <stdbool.h>
#include <stdio.h>

/* The parts of bench_transfer_engine. Each prints a table and appends raw figures to its CSV file. */

struct bench {
	int backend;
	const char *device, *folder; /* folder: folder for CSV files; NULL: none are written */
	const char *part;	     /* NULL: all parts */
	bool quick;
	double seconds; /* how long the part `pieces` measures, s */
	struct kwhy_gpu *gpu;
	struct kwhy_gpu_stream *stream;
};

void bench_steps(struct bench *bench);
void bench_overlap(struct bench *bench);
void bench_pieces(struct bench *bench);

/* bench_must() and bench_must_transfer() end the program after a failure, because half a run gives no valid
 * figure. */
void bench_must(enum kwhy_status status, const struct kwhy_error *error);
void bench_must_transfer(struct kwhy_transfer *transfer, int code);
struct kwhy_transfer *bench_open(const struct bench *bench, struct kwhy_transfer_options options);
FILE *bench_csv(const struct bench *bench, const char *name, const char *header);

double bench_now_us(void);

/* Quantile `share` (0 to 1) of the values; sorts them. */
double bench_quantile(double *values, size_t count, double share);

/* Sets the 95 % bounds of the median by order statistics (binomial). Sorts the values. */
void bench_median_bounds(double *values, size_t count, double *out_low, double *out_high);

#endif

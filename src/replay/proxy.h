/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPLAY_PROXY_H
#define KWHY_REPLAY_PROXY_H

#include "replay/pattern.h"

#include <math.h>

/*
 * Proxy kernels take the place of recorded ones. They have the same grid and, as far as this GPU can, the
 * same length and power. Their overheads on this GPU are measured when they are made. One thread makes and
 * measures them; then several threads may launch them.
 */
enum kwhy_proxy_class {
	KWHY_PROXY_WAIT,
	KWHY_PROXY_FMA,
	KWHY_PROXY_MEMORY,
	KWHY_PROXY_MATRIX,
	KWHY_PROXY_CLASS_COUNT
};

const char *kwhy_proxy_class_name(enum kwhy_proxy_class class); /* "wait", "fma", "memory", "matrix" */

enum { KWHY_REPLAY_GRIDS_MEASURED = 4 }; /* largest number of grids of a pattern whose powers are measured */
enum { KWHY_PROXY_LONG_NS = 100000 }; /* power does not depend on the length of kernels from this length on */
enum { KWHY_PROXY_BUSY = 1024 };      /* the value of `busy` for work on all multiprocessors */

/* The proxy kernel chosen for the kernels of an account. */
struct kwhy_proxy_choice {
	uint32_t class; /* enum kwhy_proxy_class */
	uint32_t busy;	/* share of the multiprocessors on which it works, in units of 1 / KWHY_PROXY_BUSY */
	double power_w; /* expected gross power; NAN: unknown */
};

/* A grid on this GPU. */
struct kwhy_proxy_grid {
	uint32_t blocks, threads_per_block; /* blocks: at most as many as the GPU holds concurrently */
	bool is_capped;
	double length_ns; /* mean length of the recorded kernels of accounts whose longest kernel has this
			     grid; without such accounts KWHY_PROXY_LONG_NS */
	double period_ns; /* from one to the next of queued kernels that take no time */
	double over_ns[KWHY_PROXY_CLASS_COUNT]; /* by which kernels of the class end late, since they look at
						   the clock only between loop iterations */
	double power_w[KWHY_PROXY_CLASS_COUNT]; /* gross power of kernels of length_ns while they run; NAN:
						   not measured */
};

struct kwhy_proxies {
	struct kwhy_gpu *gpu;
	struct kwhy_gpu_module *module;
	struct kwhy_gpu_stream *stream;
	struct kwhy_gpu_gate *gate;
	struct kwhy_gpu_event *start, *end;
	const struct kwhy_gpu_kernel *kernels[KWHY_PROXY_CLASS_COUNT];
	uint64_t from, to, words; /* buffers of the memory class, and their size in units of 16 bytes */
	struct kwhy_proxy_grid *grids;
	size_t grid_count;
	/* grids measured for the previous pattern, whose powers are reused */
	struct kwhy_proxy_grid measured[KWHY_REPLAY_GRIDS_MEASURED];
	size_t measured_count;
	uint32_t windows; /* number of power windows so far, for their names */
	double ticks_per_ns;
	bool has_fine_clock;  /* the device's clock, whose rate does not change with load, has steps fine
				 enough for short kernels */
	double one_period_ns; /* period of queued kernels of one small block that take no time */
	double idle_w;	      /* idle power of this GPU when powers were measured; NAN: not measured */
};

/* Compiles the kernels and measures the clock; measures no grids yet. */
KWHY_MUST_USE enum kwhy_status kwhy_proxies_new(
	struct kwhy_gpu *gpu, struct kwhy_proxies **out, struct kwhy_error *error);
void kwhy_proxies_free(struct kwhy_proxies *proxies);

/* Measures the grids of a pattern, in its order; they replace those of an earlier pattern. */
KWHY_MUST_USE enum kwhy_status kwhy_proxies_measure_grids(
	struct kwhy_proxies *proxies, const struct kwhy_replay_pattern *pattern, struct kwhy_error *error);

/*
 * Launches one small block that waits for `ticks` of the multiprocessor's clock, in the stream of the proxy
 * kernels.
 */
KWHY_MUST_USE enum kwhy_status kwhy_proxies_wait_once(
	const struct kwhy_proxies *proxies, uint64_t ticks, struct kwhy_error *error);

/*
 * A launch that takes length_ns where queued kernels follow each other by queued_ns. Where length_ns is below
 * the shortest kernel of the grid, it takes as long as that one.
 */
struct kwhy_proxy_launch {
	struct kwhy_gpu_stream *stream;
	uint32_t grid;
	struct kwhy_proxy_choice choice;
	double length_ns, queued_ns;
};

KWHY_MUST_USE enum kwhy_status kwhy_proxies_launch(
	const struct kwhy_proxies *proxies, const struct kwhy_proxy_launch *launch, struct kwhy_error *error);

/* Length of the shortest kernel of a grid, as a recording would show it. */
static inline double kwhy_proxy_floor_ns(const struct kwhy_proxies *proxies, uint32_t grid, double queued_ns)
{
	return fmax(proxies->grids[grid].period_ns - queued_ns, 0);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPLAY_PROXY_H
#define KWHY_REPLAY_PROXY_H

#include "replay/pattern.h"

#include <math.h>

/*
 * Proxy kernels take the place of recorded kernels. They have the same grid and, as far as this GPU allows,
 * the same length and power. Their overheads on this GPU are measured when they are made. One thread makes
 * and measures them; then several threads may launch them.
 */
enum kwhy_proxy_class {
	KWHY_PROXY_WAIT,
	KWHY_PROXY_FMA,
	KWHY_PROXY_MEMORY,
	KWHY_PROXY_MATRIX,
	KWHY_PROXY_CLASS_COUNT
};

/* name of the class: "wait", "fma", "memory", "matrix" */
const char *kwhy_proxy_class_name(enum kwhy_proxy_class class);

/* largest number of grids of a pattern whose powers are measured */
enum { KWHY_REPLAY_GRIDS_MEASURED = 4 };
/* in ns; kernels of at least this length draw a power that does not depend on their length */
enum { KWHY_PROXY_LONG_NS = 100000 };
/* value of kwhy_proxy_choice.busy for work on all multiprocessors */
enum { KWHY_PROXY_BUSY = 1024 };

/* The proxy kernel chosen for the kernels of an account. */
struct kwhy_proxy_choice {
	uint32_t class; /* enum kwhy_proxy_class */
	uint32_t busy;	/* share of the multiprocessors on which the kernel works, in units of 1 /
			   KWHY_PROXY_BUSY */
	double power_w; /* expected gross power; NAN: unknown */
};

/* A grid, and how proxy kernels with it behave on this GPU. */
struct kwhy_proxy_grid {
	/* number of blocks, at most as many as the GPU holds concurrently */
	uint32_t blocks, threads_per_block;
	bool is_capped;
	/*
	 * mean length of the recorded kernels whose account has this as the grid of its longest kernel;
	 * KWHY_PROXY_LONG_NS if there are none
	 */
	double length_ns;
	/* time in ns from the start of a queued kernel of no duration to the start of the next kernel */
	double period_ns;
	/*
	 * time in ns by which kernels of each class end late, because a kernel reads the clock only between
	 * loop iterations
	 */
	double over_ns[KWHY_PROXY_CLASS_COUNT];
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
	/*
	 * device addresses of the buffers that the memory class copies between, and their size in units of 16
	 * bytes
	 */
	uint64_t from, to, words;
	struct kwhy_proxy_grid *grids;
	size_t grid_count;
	/* grids that were measured for the previous pattern; their powers are reused */
	struct kwhy_proxy_grid measured[KWHY_REPLAY_GRIDS_MEASURED];
	size_t measured_count;
	uint32_t windows; /* number of windows so far in which power was measured; the names of the windows
			     are made from this number */
	double ticks_per_ns;
	/*
	 * whether the steps of the device's clock, whose rate does not change with load, are fine enough for
	 * short kernels
	 */
	bool has_fine_clock;
	/*
	 * period_ns of the grid with one small block: time from the start of a kernel of no duration to the
	 * start of the next queued one
	 */
	double one_period_ns;
	double idle_w; /* idle power of this GPU when powers were measured; NAN: not measured */
};

/* Compiles the kernels and measures the clocks. No grid is measured yet. */
KWHY_MUST_USE enum kwhy_status kwhy_proxies_new(
	struct kwhy_gpu *gpu, struct kwhy_proxies **out, struct kwhy_error *error);
void kwhy_proxies_free(struct kwhy_proxies *proxies);

/*
 * Measures the grids of a pattern, in the pattern's order. They replace the grids of an earlier pattern.
 */
KWHY_MUST_USE enum kwhy_status kwhy_proxies_measure_grids(
	struct kwhy_proxies *proxies, const struct kwhy_replay_pattern *pattern, struct kwhy_error *error);

/*
 * Launches one small block that waits for `ticks` cycles of the multiprocessor's clock, in the stream of
 * `proxies`.
 */
KWHY_MUST_USE enum kwhy_status kwhy_proxies_wait_once(
	const struct kwhy_proxies *proxies, uint64_t ticks, struct kwhy_error *error);

/*
 * A launch of a proxy kernel that takes length_ns and is followed by the next queued kernel after queued_ns.
 * If the shortest kernel of the grid takes longer than length_ns, the launch takes as long as that kernel.
 */
struct kwhy_proxy_launch {
	struct kwhy_gpu_stream *stream;
	uint32_t grid;
	struct kwhy_proxy_choice choice;
	double length_ns, queued_ns;
};

KWHY_MUST_USE enum kwhy_status kwhy_proxies_launch(
	const struct kwhy_proxies *proxies, const struct kwhy_proxy_launch *launch, struct kwhy_error *error);

/* Length of the shortest proxy kernel of a grid, as a recording would show it. */
static inline double kwhy_proxy_floor_ns(const struct kwhy_proxies *proxies, uint32_t grid, double queued_ns)
{
	return fmax(proxies->grids[grid].period_ns - queued_ns, 0);
}

#endif

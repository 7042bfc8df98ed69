/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPLAY_PROXY_H
#define KWHY_REPLAY_PROXY_H

#include "replay/pattern.h"

#include <math.h>

/*
 * Proxy kernels take the place of recorded kernels. They have the same grid and, as far as this GPU allows,
 * the same length and power. Their overheads on this GPU are measured by kwhy_proxies_new() and
 * kwhy_proxies_measure_grids(). Only one thread at a time may call these; afterwards several threads may
 * launch kernels at the same time.
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
	double power_w; /* expected gross power of the GPU while the kernel runs; NAN: unknown */
};

/* A grid, and how proxy kernels with it behave on this GPU. */
struct kwhy_proxy_grid {
	/*
	 * number of blocks, at most as many as can be resident on this GPU at a time (is_capped: the
	 * pattern's grid has more)
	 */
	uint32_t blocks, threads_per_block;
	bool is_capped;
	/*
	 * mean length of the recorded kernels whose account has this as the grid of its longest kernel;
	 * KWHY_PROXY_LONG_NS if there are none
	 */
	double length_ns;
	/*
	 * time in ns from the start of a kernel that neither waits nor works to the start of the next queued
	 * one
	 */
	double period_ns;
	/*
	 * time in ns by which kernels of each class end late, because a kernel reads the clock only between
	 * loop iterations
	 */
	double over_ns[KWHY_PROXY_CLASS_COUNT];
	double power_w[KWHY_PROXY_CLASS_COUNT]; /* gross power in W while kernels of length_ns and of each
						   class run on all multiprocessors; NAN: unknown */
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
	/* grids whose powers were measured last; similar grids of the next pattern get their powers */
	struct kwhy_proxy_grid measured[KWHY_REPLAY_GRIDS_MEASURED];
	size_t measured_count;
	uint32_t windows; /* number of windows so far in which power was measured; the names of the windows
			     are made from this number */
	double ticks_per_ns;
	/*
	 * whether the steps of the device's global timer, whose rate does not change with load, are fine
	 * enough to time kernels below KWHY_PROXY_LONG_NS
	 */
	bool has_fine_clock;
	/*
	 * period_ns of the grid with one small block: time from the start of a kernel of no duration to the
	 * start of the next queued one
	 */
	double one_period_ns;
	double idle_w; /* idle power of this GPU when powers were measured; NAN: not measured */
};

/*
 * Compiles the kernels, measures the rate and the steps of the GPU's clocks, and fills in what does not
 * depend on a pattern. End with kwhy_proxies_free().
 */
KWHY_MUST_USE enum kwhy_status kwhy_proxies_new(
	struct kwhy_gpu *gpu, struct kwhy_proxies **out, struct kwhy_error *error);
void kwhy_proxies_free(struct kwhy_proxies *proxies);

/*
 * Measures overheads (period_ns, over_ns) for each grid of a pattern, in the pattern's order. The grids
 * replace those of an earlier pattern. Their powers are measured by kwhy_proxies_measure_powers().
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
 * A launch of a proxy kernel that takes length_ns; queued_ns more pass before the start of a kernel that is
 * queued behind it. If the shortest kernel of the grid takes longer than length_ns, the launch takes as long
 * as that kernel.
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

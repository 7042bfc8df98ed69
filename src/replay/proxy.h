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

/* name of the class: "wait", "fma", "memory", "matrix" */
const char *kwhy_proxy_class_name(enum kwhy_proxy_class class);

/* largest number of grids of a pattern whose powers are measured */
enum { KWHY_REPLAY_GRIDS_MEASURED = 4 };
/* length from which on the power of kernels does not depend on their length, ns */
enum { KWHY_PROXY_LONG_NS = 100000 };
/* value of kwhy_proxy_choice.busy with which all multiprocessors work */
enum { KWHY_PROXY_BUSY = 1024 };

/* The proxy kernel chosen for the kernels of an account. */
struct kwhy_proxy_choice {
	uint32_t class; /* enum kwhy_proxy_class */
	uint32_t busy;	/* share of the multiprocessors on which it works, in units of 1 / KWHY_PROXY_BUSY */
	double power_w; /* expected gross power; NAN: unknown */
};

/* A grid on this GPU. */
struct kwhy_proxy_grid {
	/* number of blocks, at most as many as the GPU holds concurrently */
	uint32_t blocks, threads_per_block;
	bool is_capped;
	/*
	 * mean length of the recorded kernels of the accounts whose longest kernel has this grid;
	 * KWHY_PROXY_LONG_NS if there are none
	 */
	double length_ns;
	/* time from the start of a queued kernel that takes no time to the start of the next, ns */
	double period_ns;
	/*
	 * time by which kernels of each class end late, since they read the clock only between loop
	 * iterations, ns
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
	uint32_t windows; /* number of power windows so far, from which their names are made */
	double ticks_per_ns;
	/*
	 * whether the steps of the device's clock, whose rate does not change with load, are fine enough for
	 * short kernels
	 */
	bool has_fine_clock;
	/*
	 * one_block's period_ns: time from the start of a queued kernel of one small block that takes no time
	 * to the start of the next
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
 * A length_ns below the shortest kernel of the grid is replaced by the length of that kernel.
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

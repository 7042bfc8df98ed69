/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPLAY_PROXY_H
#define KWHY_REPLAY_PROXY_H

#include "replay/pattern.h"

#include <math.h>

/*
 * Proxy kernels, which take the place of recorded ones: of the same grid and, as far as this GPU can, of the
 * same length and power. What a GPU takes for them is measured when they are made. One thread makes and
 * measures; then several may launch.
 */
enum kwhy_proxy_class {
	KWHY_PROXY_WAIT,
	KWHY_PROXY_FMA,
	KWHY_PROXY_MEMORY,
	KWHY_PROXY_MATRIX,
	KWHY_PROXY_CLASS_COUNT
};

const char *kwhy_proxy_class_name(enum kwhy_proxy_class class); /* "wait", "fma", "memory", "matrix" */

enum { KWHY_REPLAY_GRIDS_MEASURED = 4 }; /* grids of a pattern whose powers are measured, at most */
enum { KWHY_PROXY_LONG_NS = 100000 };	 /* what longer ones draw depends on their length no more */
enum { KWHY_PROXY_BUSY = 1024 };	 /* works on all multiprocessors */

/* How kernels of an account are stood for. */
struct kwhy_proxy_choice {
	uint32_t class; /* enum kwhy_proxy_class */
	uint32_t busy;	/* part of KWHY_PROXY_BUSY of the multiprocessors, on which it works */
	double power_w; /* to be expected of it; NAN: unknown */
};

/* A grid on this GPU. */
struct kwhy_proxy_grid {
	uint32_t blocks, threads_per_block; /* blocks: no more than it holds concurrently */
	bool is_capped;
	double length_ns; /* mean of the recorded kernels whose account has the longest of them on this grid;
			     of none: KWHY_PROXY_LONG_NS */
	double period_ns; /* from one to the next of queued ones that take no time */
	double over_ns[KWHY_PROXY_CLASS_COUNT]; /* by which they end late: they look at the clock between
						     loop iterations */
	double power_w[KWHY_PROXY_CLASS_COUNT]; /* gross, of such a length, while they run; NAN: not
						     measured */
};

struct kwhy_proxies {
	struct kwhy_gpu *gpu;
	struct kwhy_gpu_module *module;
	struct kwhy_gpu_stream *stream;
	struct kwhy_gpu_gate *gate;
	struct kwhy_gpu_event *start, *end;
	const struct kwhy_gpu_kernel *kernels[KWHY_PROXY_CLASS_COUNT];
	uint64_t from, to, words; /* that the memory class copies, 16 bytes each */
	struct kwhy_proxy_grid *grids;
	size_t grid_count;
	struct kwhy_proxy_grid
		measured[KWHY_REPLAY_GRIDS_MEASURED]; /* of the pattern before: their powers hold */
	size_t measured_count;
	uint32_t windows; /* of powers, so far */
	double ticks_per_ns;
	bool has_fine_clock;  /* of the device, whose rate does not change with load: kernels wait by it */
	double one_period_ns; /* of one small block that takes no time */
	double idle_w;	      /* of this GPU, when powers were measured; NAN: not measured */
};

/* Kernels compiled and clock measured; without grids. */
KWHY_MUST_USE enum kwhy_status kwhy_proxies_new(
	struct kwhy_gpu *gpu, struct kwhy_proxies **out, struct kwhy_error *error);
void kwhy_proxies_free(struct kwhy_proxies *proxies);

/* The grids of a pattern, in its order, in place of those before. */
KWHY_MUST_USE enum kwhy_status kwhy_proxies_measure_grids(
	struct kwhy_proxies *proxies, const struct kwhy_replay_pattern *pattern, struct kwhy_error *error);

/* One small block that waits the given time, in the stream of the proxy kernels. */
KWHY_MUST_USE enum kwhy_status kwhy_proxies_wait_once(
	const struct kwhy_proxies *proxies, uint64_t ticks, struct kwhy_error *error);

/*
 * A launch that takes length_ns where kernels follow each other by queued_ns; shorter than the grid's floor:
 * it takes the floor.
 */
struct kwhy_proxy_launch {
	struct kwhy_gpu_stream *stream;
	uint32_t grid;
	struct kwhy_proxy_choice choice;
	double length_ns, queued_ns;
};

KWHY_MUST_USE enum kwhy_status kwhy_proxies_launch(
	const struct kwhy_proxies *proxies, const struct kwhy_proxy_launch *launch, struct kwhy_error *error);

/* The shortest kernel of a grid, as a recording would show it. */
static inline double kwhy_proxy_floor_ns(const struct kwhy_proxies *proxies, uint32_t grid, double queued_ns)
{
	return fmax(proxies->grids[grid].period_ns - queued_ns, 0);
}

#endif

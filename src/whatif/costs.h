/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_COSTS_H
#define KWHY_WHATIF_COSTS_H

#include "model/profile.h"
#include "model/recording.h"

#include <stdbool.h>

struct kwhy_whatif_graph;

/*
 * Which value of each cost is used. EXPECTED: the expected one. FAST: the end of its interval that makes
 * changes save more, for the upper bound of the saving. SLOW: the other end, for the lower bound. All costs
 * are at the same end at a time.
 */
enum kwhy_whatif_corner { KWHY_CORNER_FAST = -1, KWHY_CORNER_EXPECTED = 0, KWHY_CORNER_SLOW = 1 };

/* A cost in nanoseconds: expected, and at both ends of its interval; NAN: unknown. */
struct kwhy_whatif_cost {
	double expected_ns, fast_ns, slow_ns;
	const char *source; /* origin of the cost: "machine profile", "this recording", ... */
	/*
	 * True: neither the recording nor the profile has this cost, so a saving computed from it is an upper
	 * bound.
	 */
	bool is_generic;
};

/*
 * Fit of the time of copies of one direction and pair of memory kinds to their bytes: time = alpha_ns +
 * beta_ns * bytes, with weights 1 / time^2. residual_ratio: root mean square of (residual / time).
 */
struct kwhy_whatif_copy_fit {
	uint64_t count, bytes_least, bytes_most;
	double mean_ns, mean_bytes;
	/* parameters of the fit; NAN: there are too few copies, or their sizes differ too little */
	double alpha_ns, beta_ns;
	double residual_ratio;
};

enum { KWHY_WHATIF_COPY_FITS = KWHY_COPY_KIND_COUNT * KWHY_MEMORY_KIND_COUNT * KWHY_MEMORY_KIND_COUNT };

/* A size and the time of a copy of that size, as known from the recording. */
struct kwhy_whatif_known_copy {
	double bytes, time_ns; /* NAN: the recording has no such copy */
};

struct kwhy_whatif_costs {
	struct kwhy_whatif_copy_fit copies[KWHY_WHATIF_COPY_FITS];
	/*
	 * Least copy in each direction, over all kinds of memory: the smallest of the constant terms of the
	 * fits (then its size is 0), and of the mean times of copies that have no fit and a mean size below
	 * 64 KiB.
	 */
	struct kwhy_whatif_known_copy least_copy[KWHY_COPY_KIND_COUNT];
	struct kwhy_whatif_cost graph_launch; /* host time of the call that launches a graph */
	/* mean number of nodes of the graphs that graph_launch is for */
	double graph_nodes;
	/* additional host time of the call that launches a graph, for each further node */
	struct kwhy_whatif_cost graph_launch_node;
	/*
	 * additional time from the call that launches a graph to the start of its first kernel, for each node
	 * after the 16th
	 */
	struct kwhy_whatif_cost graph_start_node;
	/* time in ns of an empty kernel of a graph and the gap after it; 0: unknown */
	double graph_node_ns;
	/*
	 * time in ns by which a kernel and the gap after it are shorter in a graph than in a queue; 0:
	 * unknown
	 */
	double graph_saves_ns;
	struct kwhy_whatif_cost launch; /* host time of a call that issues work and returns immediately */
	struct kwhy_whatif_cost event;	/* host time of a call that records an event */
	struct kwhy_whatif_cost pool;	/* host time of an allocation from a pool or a free to it */
	/* length of the shortest recorded kernel in ns; NAN: no kernel was recorded */
	double least_kernel_ns;
	/* device time of one more kernel that does almost nothing */
	struct kwhy_whatif_cost small_kernel;
	/* median pause in ns of a thread before a call of each class */
	int64_t usual_gap_ns[KWHY_CALL_CLASS_COUNT];
	/*
	 * Longest pause in ns before a call of each class in which the host is taken to do no other work:
	 * third quartile plus three interquartile ranges, at least 20 us.
	 */
	int64_t far_gap_ns[KWHY_CALL_CLASS_COUNT];
	const struct kwhy_profile *profile; /* NULL: no machine profile */
	/* GPU generation of the device with the fastest link to the host */
	const struct kwhy_gpu_generation *link;
};

KWHY_MUST_USE enum kwhy_status kwhy_whatif_costs_init(struct kwhy_whatif_costs *costs,
	const struct kwhy_whatif_graph *graph, const struct kwhy_profile *profile, struct kwhy_error *error);

/* Cost of one copy of `bytes` bytes, on the device; its expected_ns is NAN if it is unknown. */
struct kwhy_whatif_cost kwhy_whatif_copy_cost(const struct kwhy_whatif_costs *costs, enum kwhy_copy_kind kind,
	enum kwhy_memory_kind src, enum kwhy_memory_kind dst, double bytes);

/*
 * Assumed cost of a copy between host and device, a lower bound: `bytes` at the peak rate of the fastest link
 * to the host.
 */
struct kwhy_whatif_cost kwhy_whatif_link_cost(const struct kwhy_whatif_costs *costs, double bytes);

double kwhy_whatif_cost_at(const struct kwhy_whatif_cost *cost, enum kwhy_whatif_corner corner);

#endif

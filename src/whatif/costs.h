/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_COSTS_H
#define KWHY_WHATIF_COSTS_H

#include "model/profile.h"
#include "model/recording.h"

#include <stdbool.h>

struct kwhy_whatif_graph;

/*
 * Which costs apply: the expected ones, or for all costs at the same time the end of the interval that saves
 * more time, or less.
 */
enum kwhy_whatif_corner { KWHY_CORNER_FAST = -1, KWHY_CORNER_EXPECTED = 0, KWHY_CORNER_SLOW = 1 };

/* Nanoseconds at each corner; NAN: unknown. */
struct kwhy_whatif_cost {
	double expected_ns, fast_ns, slow_ns;
	const char *source; /* "machine profile", "this recording", ... */
	/*
	 * Neither the recording nor the profile shows this cost, so a saving computed from it is an upper
	 * bound.
	 */
	bool is_generic;
};

/*
 * Time of one kind of copy as a function of its bytes: alpha + beta * bytes, fitted with weights 1 / time^2.
 */
struct kwhy_whatif_copy_fit {
	uint64_t count, bytes_least, bytes_most;
	double mean_ns, mean_bytes;
	double alpha_ns, beta_ns; /* of the fit; NAN: too few copies, or sizes too much alike */
	double residual_ratio;
};

enum { KWHY_WHATIF_COPY_FITS = KWHY_COPY_KIND_COUNT * KWHY_MEMORY_KIND_COUNT * KWHY_MEMORY_KIND_COUNT };

/* A copy whose time the recording shows. */
struct kwhy_whatif_known_copy {
	double bytes, time_ns; /* NAN: the recording shows no such copy */
};

struct kwhy_whatif_costs {
	struct kwhy_whatif_copy_fit copies[KWHY_WHATIF_COPY_FITS];
	/*
	 * time that a copy in a direction takes whatever its size: the smallest constant term of a fit, or
	 * mean of small copies, of any kind of memory
	 */
	struct kwhy_whatif_known_copy least_copy[KWHY_COPY_KIND_COUNT];
	struct kwhy_whatif_cost graph_launch; /* host time of the call that launches a graph */
	double graph_nodes; /* mean number of nodes of the graphs that graph_launch was measured with */
	struct kwhy_whatif_cost graph_launch_node; /* added host time of that call for each further node */
	/* added time from the call to the first kernel, for each node after the 16th */
	struct kwhy_whatif_cost graph_start_node;
	double graph_node_ns;  /* an empty kernel of a graph and the gap after it; 0: unknown */
	double graph_saves_ns; /* time saved between two kernels of a graph, compared with queued kernels; 0:
				  unknown */
	struct kwhy_whatif_cost launch; /* host time of a call that issues work and returns immediately */
	struct kwhy_whatif_cost event;	/* host time of a call that records an event */
	struct kwhy_whatif_cost pool;	/* host time of an allocation or free in a pool */
	double least_kernel_ns;		/* shortest recorded kernel; NAN: no kernel */
	struct kwhy_whatif_cost small_kernel; /* device time of one more kernel that does next to nothing */
	/*
	 * usual host time before a call of a class, since the call before it: what a loop of such calls takes
	 * between them
	 */
	int64_t usual_gap_ns[KWHY_CALL_CLASS_COUNT];
	int64_t far_gap_ns[KWHY_CALL_CLASS_COUNT]; /* longer gaps contain other work: third quartile plus
						      three interquartile ranges, at least 20 us */
	const struct kwhy_profile *profile;	   /* NULL: no machine profile */
	/* GPU generation with the fastest link to the host among the devices */
	const struct kwhy_gpu_generation *link;
};

KWHY_MUST_USE enum kwhy_status kwhy_whatif_costs_init(struct kwhy_whatif_costs *costs,
	const struct kwhy_whatif_graph *graph, const struct kwhy_profile *profile, struct kwhy_error *error);

/* Cost of one copy of `bytes`; `expected_ns` NAN: unknown. */
struct kwhy_whatif_cost kwhy_whatif_copy_cost(const struct kwhy_whatif_costs *costs, enum kwhy_copy_kind kind,
	enum kwhy_memory_kind src, enum kwhy_memory_kind dst, double bytes);

/* Lower bound of the cost of a copy: `bytes` at the rate of the link to the host. */
struct kwhy_whatif_cost kwhy_whatif_link_cost(const struct kwhy_whatif_costs *costs, double bytes);

double kwhy_whatif_cost_at(const struct kwhy_whatif_cost *cost, enum kwhy_whatif_corner corner);

#endif

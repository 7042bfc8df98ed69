/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_COSTS_H
#define KWHY_WHATIF_COSTS_H

#include "model/profile.h"
#include "model/recording.h"

#include <stdbool.h>

struct kwhy_whatif_graph;

/* Which costs: those to be expected, or all at the end of their spread that saves more or less time. */
enum kwhy_whatif_corner { KWHY_CORNER_FAST = -1, KWHY_CORNER_EXPECTED = 0, KWHY_CORNER_SLOW = 1 };

/* Nanoseconds at each corner; NAN: not known. */
struct kwhy_whatif_cost {
	double expected_ns, fast_ns, slow_ns;
	const char *source; /* "machine profile", "this recording", ... */
	/* Neither the recording nor the profile knows it, so what it saves is at most that. */
	bool is_generic;
};

/* Time of one kind of copy over its bytes: alpha + beta * bytes, both weighted by 1 / time^2. */
struct kwhy_whatif_copy_fit {
	uint64_t count, bytes_least, bytes_most;
	double mean_ns, mean_bytes;
	double alpha_ns, beta_ns; /* of the fit, where the sizes differ enough; else NAN */
	double residual_ratio;
};

enum { KWHY_WHATIF_COPY_FITS = KWHY_COPY_KIND_COUNT * KWHY_MEMORY_KIND_COUNT * KWHY_MEMORY_KIND_COUNT };

/* A copy of which the recording shows how long it takes. */
struct kwhy_whatif_known_copy {
	double bytes, time_ns; /* NAN: it shows none */
};

struct kwhy_whatif_costs {
	struct kwhy_whatif_copy_fit copies[KWHY_WHATIF_COPY_FITS];
	/* the shortest mean of any kind of small copies in a direction: what a copy takes whatever its size
	 */
	struct kwhy_whatif_known_copy least_copy[KWHY_COPY_KIND_COUNT];
	struct kwhy_whatif_cost graph_launch;	   /* call */
	double graph_nodes;			   /* mean of the graphs that graph_launch is of */
	struct kwhy_whatif_cost graph_launch_node; /* the call for each node more */
	struct kwhy_whatif_cost
		graph_start_node;	/* from there to its first kernel, for each node behind the 16th */
	double graph_node_ns;		/* an empty kernel of a graph and what lies after it; 0: not known */
	double graph_saves_ns;		/* between two kernels, against a queue; 0: not known */
	struct kwhy_whatif_cost launch; /* call that issues and returns */
	struct kwhy_whatif_cost event;	/* call that records an event */
	struct kwhy_whatif_cost pool;	/* allocation or free in a pool */
	double least_kernel_ns;		/* the shortest kernel seen; NAN */
	struct kwhy_whatif_cost small_kernel; /* on the device: one more that does next to nothing */
	/* between one call of a class and the call before it: what a loop of such calls takes beside them */
	int64_t usual_gap_ns[KWHY_CALL_CLASS_COUNT];
	int64_t far_gap_ns[KWHY_CALL_CLASS_COUNT]; /* longer ones hold other work: 20 us, and three times the
						      middle half beyond its end */
	const struct kwhy_profile *profile;	   /* NULL: none */
	const struct kwhy_gpu_generation *link;	   /* to the host, the fastest of the devices' */
};

KWHY_MUST_USE enum kwhy_status kwhy_whatif_costs_init(struct kwhy_whatif_costs *costs,
	const struct kwhy_whatif_graph *graph, const struct kwhy_profile *profile, struct kwhy_error *error);

/* One copy of that many bytes. */
struct kwhy_whatif_cost kwhy_whatif_copy_cost(const struct kwhy_whatif_costs *costs, enum kwhy_copy_kind kind,
	enum kwhy_memory_kind src, enum kwhy_memory_kind dst, double bytes);

/* As fast as the link to the host is: no copy takes less. */
struct kwhy_whatif_cost kwhy_whatif_link_cost(const struct kwhy_whatif_costs *costs, double bytes);

double kwhy_whatif_cost_at(const struct kwhy_whatif_cost *cost, enum kwhy_whatif_corner corner);

#endif

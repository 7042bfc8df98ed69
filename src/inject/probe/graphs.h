/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_GRAPHS_H
#define KWHY_INJECT_PROBE_GRAPHS_H

#include "inject/probe/accounts.h"
#include "inject/probe/launch.h"

/*
 * The kernels of executable graphs and their child graphs. They are read when an executable graph is made,
 * because the graph that it was made from may be gone when it is launched. Changes that the program makes to
 * an executable graph are followed.
 *
 * After a launch of a graph, one of its kernels may be launched by itself. Memory then has the contents of
 * the graph's end: what the kernel read within the graph may have been overwritten. So only kernels are
 * launched that, judged by name, read no addresses or indices from memory.
 *
 * Any thread may call; the lock is never held while the driver is called.
 */
enum {
	KWHY_PROBE_GRAPHS = 512,
	KWHY_PROBE_NODES_MAX = 16384, /* kernels of one graph */
	KWHY_PROBE_CHILDREN_MAX = 4096,
	KWHY_PROBE_DEPTH_MAX = 8, /* nesting of child graphs */
	KWHY_PROBE_NODE_ATTRIBUTES = 2
};

struct kwhy_probe_node {
	kwhy_cuda_graph_node handle; /* its node in the graph that the executable graph was made from */
	struct kwhy_probe_account *account; /* NULL: the tables had no space */
	bool is_plain;			    /* neither launched cooperatively nor updated from the device */
	bool is_fit; /* fit by its name (inject/probe/fit.h), and its parameters are known */
	bool is_disabled;
	struct kwhy_cuda_launch_config config;
	struct kwhy_cuda_launch_attribute attributes[KWHY_PROBE_NODE_ATTRIBUTES];
	kwhy_cuda_function function;
	void **arguments; /* parameters of `function`; NULL: not kept */
};

/* A child graph, whose kernels are consecutive in `nodes`. */
struct kwhy_probe_child {
	kwhy_cuda_graph_node handle;
	size_t first, count;
};

struct kwhy_probe_graph {
	kwhy_cuda_graph_exec exec; /* NULL: this entry is free */
	size_t count, child_count;
	struct kwhy_probe_node *nodes;
	struct kwhy_probe_child *children;
	unsigned char *memory; /* one block that all its arrays are allocated from, in order */
	size_t used, bytes;
};

struct kwhy_probe_graphs {
	atomic_flag lock;
	struct kwhy_probe_graph at[KWHY_PROBE_GRAPHS];
};

/* What is needed to make accounts of a graph's kernels with kwhy_probe_account_of(). */
struct kwhy_probe_graph_maker {
	const struct kwhy_cuda_probe *driver;
	struct kwhy_probe_accounts *accounts;
	enum kwhy_probe_reason (*reason_of)(const char *name);
};

/*
 * Adds an executable graph that has been made. Keeps nothing if a call of the driver is missing or memory is
 * short.
 */
void kwhy_probe_graphs_add(struct kwhy_probe_graphs *graphs, const struct kwhy_probe_graph_maker *maker,
	kwhy_cuda_graph_exec exec, kwhy_cuda_graph graph);

/*
 * Replaces all kernels of an executable graph by those of `graph`. False: `graph` has another structure, and
 * the executable graph is forgotten.
 */
bool kwhy_probe_graphs_update(struct kwhy_probe_graphs *graphs, const struct kwhy_probe_graph_maker *maker,
	kwhy_cuda_graph_exec exec, kwhy_cuda_graph graph);

/* Replaces a kernel or a child graph, or enables or disables a node. Unknown nodes are ignored. */
void kwhy_probe_graphs_set_kernel(struct kwhy_probe_graphs *graphs,
	const struct kwhy_probe_graph_maker *maker, kwhy_cuda_graph_exec exec, kwhy_cuda_graph_node handle,
	const struct kwhy_cuda_kernel_node *to);
void kwhy_probe_graphs_set_child(struct kwhy_probe_graphs *graphs, const struct kwhy_probe_graph_maker *maker,
	kwhy_cuda_graph_exec exec, kwhy_cuda_graph_node handle, kwhy_cuda_graph to);
void kwhy_probe_graphs_set_enabled(struct kwhy_probe_graphs *graphs, kwhy_cuda_graph_exec exec,
	kwhy_cuda_graph_node handle, bool is_enabled);

/* Forgets an executable graph that was destroyed. */
void kwhy_probe_graphs_forget(struct kwhy_probe_graphs *graphs, kwhy_cuda_graph_exec exec);

/* Counts a launch of each kernel of a launched graph. False: the graph is unknown. */
bool kwhy_probe_graphs_launched(struct kwhy_probe_graphs *graphs, kwhy_cuda_graph_exec exec);

/*
 * Chooses a kernel of the graph for whose account `wants` returns true, starting at number `first`. False:
 * the graph has no such kernel. `out` borrows memory of the graph until the graph is forgotten.
 */
bool kwhy_probe_graphs_choose(struct kwhy_probe_graphs *graphs, kwhy_cuda_graph_exec exec, uint64_t first,
	bool (*wants)(void *context, struct kwhy_probe_account *account), void *context,
	struct kwhy_probe_node *out);

/* Makes a launch of one node, to follow that of the graph; `node` and its attributes are borrowed. */
void kwhy_probe_launch_of_node(struct kwhy_probe_launch *out, const struct kwhy_cupti_callback *graph,
	const struct kwhy_probe_node *node, bool is_of_thread);

#endif

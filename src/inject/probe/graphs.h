/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_GRAPHS_H
#define KWHY_INJECT_PROBE_GRAPHS_H

#include "inject/probe/accounts.h"
#include "inject/probe/launch.h"

/*
 * The kernels of executable graphs and of graphs within them, kept when those are made: the graph that one
 * was made of may be gone when it is launched. What the program changes of an executable graph is followed.
 * Behind a launch of a graph one of its kernels may be launched by itself. The memory is then that of the
 * graph's end: what lay there when the kernel ran may have been overwritten, so only kernels that take no
 * addresses or indices from memory are, by name. Any thread; a lock that nobody holds while the driver is
 * called.
 */
enum {
	KWHY_PROBE_GRAPHS = 512,
	KWHY_PROBE_NODES_MAX = 16384, /* kernels of one */
	KWHY_PROBE_CHILDREN_MAX = 4096,
	KWHY_PROBE_DEPTH_MAX = 8, /* of graphs within graphs */
	KWHY_PROBE_NODE_ATTRIBUTES = 2
};

struct kwhy_probe_node {
	kwhy_cuda_graph_node handle;	    /* of the graph that the executable one was made of */
	struct kwhy_probe_account *account; /* NULL: there was no space */
	bool is_plain;			    /* neither cooperative nor changed by kernels */
	bool is_fit;			    /* by its name, and its parameters are known */
	bool is_disabled;
	struct kwhy_cuda_launch_config config;
	struct kwhy_cuda_launch_attribute attributes[KWHY_PROBE_NODE_ATTRIBUTES];
	kwhy_cuda_function function;
	void **arguments; /* of that function; NULL: not kept */
};

/* A graph within: some of the kernels, one after the other. */
struct kwhy_probe_child {
	kwhy_cuda_graph_node handle;
	size_t first, count;
};

struct kwhy_probe_graph {
	kwhy_cuda_graph_exec exec; /* NULL: free */
	size_t count, child_count;
	struct kwhy_probe_node *nodes;
	struct kwhy_probe_child *children;
	unsigned char *memory; /* all of its memory, handed out from its beginning on */
	size_t used, bytes;
};

struct kwhy_probe_graphs {
	atomic_flag lock;
	struct kwhy_probe_graph at[KWHY_PROBE_GRAPHS];
};

/* Accounts as kwhy_probe_account_of() makes them. */
struct kwhy_probe_graph_maker {
	const struct kwhy_cuda_probe *driver;
	struct kwhy_probe_accounts *accounts;
	enum kwhy_probe_reason (*reason_of)(const char *name);
};

/* An executable graph has been made; without a call of the driver, or memory, nothing is kept. */
void kwhy_probe_graphs_add(struct kwhy_probe_graphs *graphs, const struct kwhy_probe_graph_maker *maker,
	kwhy_cuda_graph_exec exec, kwhy_cuda_graph graph);

/* All kernels of one have become those of another graph; false: that is another one, and it is forgotten. */
bool kwhy_probe_graphs_update(struct kwhy_probe_graphs *graphs, const struct kwhy_probe_graph_maker *maker,
	kwhy_cuda_graph_exec exec, kwhy_cuda_graph graph);

/* One of its kernels, or a graph within it, has become another; nodes that are not known are passed over. */
void kwhy_probe_graphs_set_kernel(struct kwhy_probe_graphs *graphs,
	const struct kwhy_probe_graph_maker *maker, kwhy_cuda_graph_exec exec, kwhy_cuda_graph_node node,
	const struct kwhy_cuda_kernel_node *to);
void kwhy_probe_graphs_set_child(struct kwhy_probe_graphs *graphs, const struct kwhy_probe_graph_maker *maker,
	kwhy_cuda_graph_exec exec, kwhy_cuda_graph_node node, kwhy_cuda_graph to);
void kwhy_probe_graphs_set_enabled(struct kwhy_probe_graphs *graphs, kwhy_cuda_graph_exec exec,
	kwhy_cuda_graph_node node, bool is_enabled);

/* It has ended. */
void kwhy_probe_graphs_forget(struct kwhy_probe_graphs *graphs, kwhy_cuda_graph_exec exec);

/* One was launched: counts its kernels' launches. False: it is not known. */
bool kwhy_probe_graphs_launched(struct kwhy_probe_graphs *graphs, kwhy_cuda_graph_exec exec);

/*
 * One of its kernels that `wants` says yes to, from the `first`th on; false: there is none. `out` lends the
 * memory of the graph: as long as that is not forgotten.
 */
bool kwhy_probe_graphs_choose(struct kwhy_probe_graphs *graphs, kwhy_cuda_graph_exec exec, uint64_t first,
	bool (*wants)(void *context, struct kwhy_probe_account *account), void *context,
	struct kwhy_probe_node *out);

/* As a launch after that of the graph; `node` and its attributes are borrowed. */
void kwhy_probe_launch_of_node(struct kwhy_probe_launch *out, const struct kwhy_cupti_callback *graph,
	const struct kwhy_probe_node *node, bool is_of_thread);

#endif

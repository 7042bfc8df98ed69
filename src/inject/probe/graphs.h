/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_GRAPHS_H
#define KWHY_INJECT_PROBE_GRAPHS_H

#include "inject/probe/accounts.h"
#include "inject/probe/launch.h"

/*
 * A copy of the kernels of the program's executable graphs and their child graphs. The kernels are read when
 * an executable graph is instantiated, because the graph from which it is made may be destroyed before the
 * executable graph is launched. Later changes that the program makes to the executable graph are applied to
 * the copy.
 * After a launch of a graph, the prober may launch one of the graph's kernels by itself. The kernel then runs
 * on the memory contents that the whole graph left, which may differ from what the kernel read within the
 * graph. So the prober launches only kernels that, judged by name, read no addresses or indices from memory
 * (kwhy_probe_is_fit()).
 * Any thread may call these functions. The lock is never held while the driver is called.
 */
enum {
	KWHY_PROBE_GRAPHS = 512,
	KWHY_PROBE_NODES_MAX = 16384, /* largest number of kernels of one graph */
	KWHY_PROBE_CHILDREN_MAX = 4096,
	KWHY_PROBE_DEPTH_MAX = 8, /* largest nesting depth of child graphs */
	KWHY_PROBE_NODE_ATTRIBUTES = 2
};

struct kwhy_probe_node {
	kwhy_cuda_graph_node handle; /* handle of the kernel's node in the graph from which the executable
					graph was instantiated */
	struct kwhy_probe_account *account; /* NULL: the tables of accounts had no space */
	bool is_plain; /* the kernel is not launched cooperatively and not updated from the device, so it can
			  be repeated */
	bool is_fit;   /* the kernel may be launched by itself: is_plain, kwhy_probe_is_fit() is true for it,
			  and its parameters are known */
	bool is_disabled;
	struct kwhy_cuda_launch_config config;
	struct kwhy_cuda_launch_attribute attributes[KWHY_PROBE_NODE_ATTRIBUTES];
	kwhy_cuda_function function;
	void **arguments; /* copies of the values of `function`'s parameters; NULL: not kept */
};

/*
 * A child graph node of the graph from which the executable graph was instantiated. The child graph's kernels
 * are nodes[first] to nodes[first + count - 1].
 */
struct kwhy_probe_child {
	kwhy_cuda_graph_node handle;
	size_t first, count;
};

struct kwhy_probe_graph {
	kwhy_cuda_graph_exec exec; /* NULL: this entry is free */
	size_t count, child_count;
	struct kwhy_probe_node *nodes;
	struct kwhy_probe_child *children;
	unsigned char *memory; /* one block that all arrays of the graph are allocated from, in order */
	size_t used, bytes;
};

struct kwhy_probe_graphs {
	atomic_flag lock;
	struct kwhy_probe_graph at[KWHY_PROBE_GRAPHS];
};

/*
 * The driver's functions, and the arguments of kwhy_probe_account_of() by which a graph's kernels get their
 * accounts.
 */
struct kwhy_probe_graph_maker {
	const struct kwhy_cuda_probe *driver;
	struct kwhy_probe_accounts *accounts;
	enum kwhy_probe_reason (*reason_of)(const char *name);
};

/*
 * Adds an executable graph that has just been made. It stays unknown if the driver lacks a call that is
 * needed or one fails, if it has too many kernels, if all KWHY_PROBE_GRAPHS entries are used, or if memory is
 * short.
 */
void kwhy_probe_graphs_add(struct kwhy_probe_graphs *graphs, const struct kwhy_probe_graph_maker *maker,
	kwhy_cuda_graph_exec exec, kwhy_cuda_graph graph);

/*
 * Replaces all kernels of an executable graph by those of `graph`. False: `graph` has another structure; the
 * executable graph is then forgotten.
 */
bool kwhy_probe_graphs_update(struct kwhy_probe_graphs *graphs, const struct kwhy_probe_graph_maker *maker,
	kwhy_cuda_graph_exec exec, kwhy_cuda_graph graph);

/*
 * Changes the stored copy of an executable graph: replaces one kernel, or the kernels of one child graph, or
 * enables or disables one node. An unknown node `handle` is ignored.
 */
void kwhy_probe_graphs_set_kernel(struct kwhy_probe_graphs *graphs,
	const struct kwhy_probe_graph_maker *maker, kwhy_cuda_graph_exec exec, kwhy_cuda_graph_node handle,
	const struct kwhy_cuda_kernel_node *to);
void kwhy_probe_graphs_set_child(struct kwhy_probe_graphs *graphs, const struct kwhy_probe_graph_maker *maker,
	kwhy_cuda_graph_exec exec, kwhy_cuda_graph_node handle, kwhy_cuda_graph to);
void kwhy_probe_graphs_set_enabled(struct kwhy_probe_graphs *graphs, kwhy_cuda_graph_exec exec,
	kwhy_cuda_graph_node handle, bool is_enabled);

/* Forgets an executable graph that was destroyed. */
void kwhy_probe_graphs_forget(struct kwhy_probe_graphs *graphs, kwhy_cuda_graph_exec exec);

/*
 * To be called for each launch of a graph: adds 1 to the launches of the accounts of its kernels. False: the
 * graph is unknown.
 */
bool kwhy_probe_graphs_launched(struct kwhy_probe_graphs *graphs, kwhy_cuda_graph_exec exec);

/*
 * Finds a kernel of the graph that may be launched by itself (is_fit, and not disabled) and for whose account
 * wants() returns true, beginning the search at kernel number `first` modulo the number of kernels. False:
 * there is none, or the graph is unknown. The pointers in *out are valid until the graph is forgotten.
 */
bool kwhy_probe_graphs_choose(struct kwhy_probe_graphs *graphs, kwhy_cuda_graph_exec exec, uint64_t first,
	bool (*wants)(void *context, struct kwhy_probe_account *account), void *context,
	struct kwhy_probe_node *out);

/*
 * Fills *out with a launch of the kernel of `node`, on the stream of the launch of its graph that CUPTI
 * reports in `graph`. *out borrows `node` and its attributes.
 */
void kwhy_probe_launch_of_node(struct kwhy_probe_launch *out, const struct kwhy_cupti_callback *graph,
	const struct kwhy_probe_node *node, bool is_of_thread);

#endif

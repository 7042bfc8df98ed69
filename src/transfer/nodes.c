/* SPDX-License-Identifier: Apache-2.0 */
#include "transfer/nodes.h"

#include "gpu/numa.h"

#include <sched.h>

static uint32_t first_alone(const struct kwhy_transfer_nodes *nodes)
{
	(void)nodes;
	return 0;
}

static uint32_t of_thread_now(const struct kwhy_transfer_nodes *nodes)
{
	int cpu = sched_getcpu();

	for (uint32_t i = 0; cpu >= 0 && i < nodes->count; i++)
		if (CPU_ISSET((size_t)cpu, &nodes->cpus[i]))
			return i;
	return 0;
}

/*
 * Sets the CPUs of the first node, and adds the other nodes that have both memory and CPUs, as long as there
 * is space.
 */
static void add_others(struct kwhy_transfer_nodes *out, const struct kwhy_numa *numa)
{
	for (uint32_t i = 0; i < numa->count && out->count < KWHY_TRANSFER_NODES_MAX; i++) {
		const struct kwhy_numa_node *node = &numa->nodes[i];

		if (node->node == out->node[0]) {
			out->cpus[0] = node->cpus;
		} else if (CPU_COUNT(&node->cpus) > 0) {
			out->cpus[out->count] = node->cpus;
			out->node[out->count++] = node->node;
		}
	}
}

static bool is_there(const struct kwhy_numa *numa, int node)
{
	for (uint32_t i = 0; i < numa->count; i++)
		if (numa->nodes[i].node == node)
			return true;
	return numa->count == 0 && node == 0;
}

enum kwhy_status kwhy_transfer_nodes_find(
	struct kwhy_transfer_nodes *out, const char *sys, int near, int wanted, struct kwhy_error *error)
{
	struct kwhy_numa numa;

	kwhy_numa_read(sys, &numa);
	if (wanted > 0 && !is_there(&numa, wanted - 1))
		return kwhy_fail(error, KWHY_E_INPUT,
			"a transfer engine cannot have its ring on NUMA node %d: this machine has no memory "
			"there; give 1 + a node that numactl --hardware lists, or 0 for all",
			wanted - 1);
	*out = (struct kwhy_transfer_nodes){
		.count = 1, .node = {wanted > 0 ? wanted - 1 : near}, .of_thread = first_alone};
	if (wanted > 0 || near < 0)
		return KWHY_OK;
	add_others(out, &numa);
	if (out->count > 1)
		out->of_thread = of_thread_now;
	return KWHY_OK;
}

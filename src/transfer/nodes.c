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
	unsigned cpu, node;

	if (getcpu(&cpu, &node))
		return 0;
	for (uint32_t i = 0; i < nodes->count; i++)
		if (nodes->node[i] == (int)node)
			return i;
	return 0;
}

/* Nodes that threads can be on. */
static void add_others(struct kwhy_transfer_nodes *out, const struct kwhy_numa *numa)
{
	for (uint32_t i = 0; i < numa->count && out->count < KWHY_TRANSFER_NODES_MOST; i++)
		if (numa->nodes[i].node != out->node[0] && CPU_COUNT(&numa->nodes[i].cpus) > 0)
			out->node[out->count++] = numa->nodes[i].node;
}

void kwhy_transfer_nodes_find(struct kwhy_transfer_nodes *out, const char *sys, int near, int wanted)
{
	struct kwhy_numa numa;

	*out = (struct kwhy_transfer_nodes){
		.count = 1, .node = {wanted > 0 ? wanted - 1 : near}, .of_thread = first_alone};
	if (wanted > 0 || near < 0)
		return;
	kwhy_numa_read(sys, &numa);
	add_others(out, &numa);
	if (out->count > 1)
		out->of_thread = of_thread_now;
}

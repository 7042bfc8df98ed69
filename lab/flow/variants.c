/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/flow/run.h"

#include <string.h>

const struct kwhy_flow_variant kwhy_flow_variants[] = {
	{"n0", "each flow by itself", NULL, "a loop on the host, ten launches a flow", KWHY_FLOW_EACH,
		KWHY_FLOW_KEPT, false, false},
	{"n0c", "workspace anew", "n0", "a step's workspace is allocated and freed", KWHY_FLOW_EACH,
		KWHY_FLOW_ALLOCATED, false, false},
	{"n0p", "workspace of a pool", "n0c", "it comes from the driver's pool", KWHY_FLOW_EACH,
		KWHY_FLOW_POOLED, false, false},
	{"n0t", "text bridge", "n0", "who begins and who leaves is a line of text, by the host",
		KWHY_FLOW_EACH, KWHY_FLOW_KEPT, false, true},
	{"n1", "dense lattice", "n0", "every cell is computed, empty or not", KWHY_FLOW_DENSE, KWHY_FLOW_KEPT,
		false, false},
	{"n2", "all flows at once", "n0", "matrices of all flows; the host merges", KWHY_FLOW_BATCH,
		KWHY_FLOW_KEPT, false, false},
	{"n2t", "text bridge", "n2", "who begins and who leaves is a line of text, by the host",
		KWHY_FLOW_BATCH, KWHY_FLOW_KEPT, false, true},
	{"n3", "fused, merged on the GPU", "n2", "seven launches a step and no wait", KWHY_FLOW_FUSED,
		KWHY_FLOW_KEPT, false, false},
	{"n4", "one kernel", "n3", "the whole run on tensor cores, weights in registers", KWHY_FLOW_WHOLE,
		KWHY_FLOW_KEPT, false, false},
	{"n5", "one graph", "n3", "all steps in one graph", KWHY_FLOW_FUSED, KWHY_FLOW_KEPT, true, false},
	{"n5w", "wide products", "n5", "two kernels a step, on Hopper's own tensor instructions",
		KWHY_FLOW_WIDE, KWHY_FLOW_KEPT, true, false},
	{"n6", "several GPUs", "n2", "each GPU has a part of the flows; the host merges", KWHY_FLOW_SPLIT,
		KWHY_FLOW_KEPT, false, false},
};

const size_t kwhy_flow_variant_count = sizeof(kwhy_flow_variants) / sizeof(kwhy_flow_variants[0]);

const struct kwhy_flow_variant *kwhy_flow_variant_find(const char *id)
{
	for (size_t i = 0; i < kwhy_flow_variant_count; i++)
		if (strcmp(kwhy_flow_variants[i].id, id) == 0)
			return &kwhy_flow_variants[i];
	return NULL;
}

const char *kwhy_flow_precision_name(enum kwhy_flow_precision precision)
{
	static const char *const names[KWHY_FLOW_PRECISION_COUNT] = {"fp32", "tf32", "bf16"};

	return names[precision];
}

double kwhy_flow_tolerance(enum kwhy_flow_precision precision)
{
	static const double most[KWHY_FLOW_PRECISION_COUNT] = {1e-5, 1e-3, 2e-2};

	return most[precision];
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/flow/run.h"

#include <string.h>

const struct lab_flow_variant lab_flow_variants[] = {
	{"n0", "each flow by itself", NULL, "a loop on the host, ten launches a flow", LAB_FLOW_EACH,
		LAB_FLOW_KEPT, false},
	{"n0c", "workspace anew", "n0", "a step's workspace is allocated and freed", LAB_FLOW_EACH,
		LAB_FLOW_ALLOCATED, false},
	{"n0p", "workspace of a pool", "n0c", "it comes from the driver's pool", LAB_FLOW_EACH,
		LAB_FLOW_POOLED, false},
	{"n1", "dense lattice", "n0", "every cell is computed, empty or not", LAB_FLOW_DENSE, LAB_FLOW_KEPT,
		false},
	{"n2", "all flows at once", "n0", "matrices of all flows; the host merges", LAB_FLOW_BATCH,
		LAB_FLOW_KEPT, false},
	{"n3", "fused, merged on the GPU", "n2", "seven launches a step and no wait", LAB_FLOW_FUSED,
		LAB_FLOW_KEPT, false},
	{"n4", "one kernel", "n3", "the whole run on tensor cores, weights in registers", LAB_FLOW_WHOLE,
		LAB_FLOW_KEPT, false},
	{"n5", "one graph", "n3", "all steps in one graph", LAB_FLOW_FUSED, LAB_FLOW_KEPT, true},
	{"n6", "several GPUs", "n2", "each GPU has a part of the flows; the host merges", LAB_FLOW_SPLIT,
		LAB_FLOW_KEPT, false},
};

const size_t lab_flow_variant_count = sizeof(lab_flow_variants) / sizeof(lab_flow_variants[0]);

const struct lab_flow_variant *lab_flow_variant_find(const char *id)
{
	for (size_t i = 0; i < lab_flow_variant_count; i++)
		if (strcmp(lab_flow_variants[i].id, id) == 0)
			return &lab_flow_variants[i];
	return NULL;
}

const char *const lab_flow_precision_names[LAB_FLOW_PRECISION_COUNT] = {"fp32", "tf32", "bf16"};

const double lab_flow_tolerances[LAB_FLOW_PRECISION_COUNT] = {1e-5, 1e-3, 2e-2};

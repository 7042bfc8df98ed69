/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "lab/flow/inside.h"
#include "vendor/nvtx.h"

const struct kwhy_flow_component_facts kwhy_flow_components_all[KWHY_FLOW_COMPONENT_COUNT] = {
	[KWHY_FLOW_NEURON] = {"neuron", 0.05, 2 * KWHY_FLOW_LAYER *(KWHY_FLOW_INPUTS + KWHY_FLOW_ENERGIES)},
	[KWHY_FLOW_CARRIER] = {"carrier", 0.15,
		KWHY_FLOW_FLOP - 2 * KWHY_FLOW_LAYER *(KWHY_FLOW_INPUTS + KWHY_FLOW_ENERGIES)},
	[KWHY_FLOW_MEMORY] = {"memory operations", 0.35, 0},
	[KWHY_FLOW_TEXT] = {"text bridge", 0.25, 0},
};

void kwhy_flow_component_begin(struct kwhy_flow *flow, enum kwhy_flow_component component)
{
	kwhy_nvtx_push(kwhy_flow_components_all[component].name);
	if (flow->apart)
		flow->began_ns = kwhy_clock_mono_ns();
}

/* All that it has queued has run: by itself behind a gate, or as the host comes to it. */
static enum kwhy_status end_apart(
	struct kwhy_flow *flow, enum kwhy_flow_component component, struct kwhy_error *error)
{
	double before_ns = flow->parted_ns;
	enum kwhy_status status;

	if (!flow->gate) {
		status = kwhy_flow_wait(flow, error);
		flow->apart->host_s[component] += (double)(kwhy_clock_mono_ns() - flow->began_ns) * 1e-9;
		return status;
	}
	status = kwhy_flow_release(flow, error);
	flow->parted_ns = flow->busy_ns;
	flow->apart->busy_s[component] += (flow->parted_ns - before_ns) * 1e-9;
	return status ? status : kwhy_flow_hold(flow, error);
}

enum kwhy_status kwhy_flow_component_end(struct kwhy_flow *flow, enum kwhy_flow_component component,
	enum kwhy_status status, struct kwhy_error *error)
{
	if (!status && flow->apart)
		status = end_apart(flow, component, error);
	kwhy_nvtx_pop();
	return status;
}

enum kwhy_status kwhy_flow_components_measure(struct kwhy_flow *flow, const struct kwhy_flow_answer *answer,
	struct kwhy_flow_components *out, struct kwhy_error *error)
{
	struct kwhy_flow_result result = {0};
	enum kwhy_status status;

	if (flow->variant->way >= KWHY_FLOW_SPLIT && (flow->variant->way != KWHY_FLOW_FUSED || flow->graph))
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"the components of %s cannot be told apart: the host does not come between them",
			flow->variant->id);
	*out = (struct kwhy_flow_components){0};
	flow->apart = out;
	flow->parted_ns = 0;
	status = kwhy_flow_run(flow, answer, &result, error);
	out->run_s = result.run_s;
	if (!status)
		status = kwhy_flow_run_held(flow, answer, error);
	flow->apart = NULL;
	return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/flow/run.h"

#include "base/clock.h"
#include "lab/flow/inside.h"
#include "lab/next.h"
#include "vendor/nvtx.h"

#include <inttypes.h>

const struct lab_flow_variant lab_flow_variants[] = {
	{"n0", "each flow by itself", NULL, "a loop on the host, ten launches a flow", .way = LAB_FLOW_EACH},
	{"n0c", "workspace anew", "n0", "a step's workspace is allocated and freed", .way = LAB_FLOW_EACH,
		.workspace = LAB_FLOW_ALLOCATED},
	{"n0p", "workspace of a pool", "n0c", "it comes from the driver's pool", .way = LAB_FLOW_EACH,
		.workspace = LAB_FLOW_POOLED},
	{"n1", "dense lattice", "n0", "every cell is computed, empty or not", .way = LAB_FLOW_DENSE},
	{"n2", "all flows in one kernel launch", "n0", "matrices of all flows; the host merges",
		.way = LAB_FLOW_BATCH},
	{"n3", "fused, merged on the GPU", "n2", "seven launches per step and no wait",
		.way = LAB_FLOW_FUSED},
	{"n4", "one kernel", "n3", "the whole run on tensor cores, weights in registers",
		.way = LAB_FLOW_WHOLE},
	{"n5", "one graph", "n3", "all steps in one graph", .way = LAB_FLOW_FUSED, .graph = true},
	{"n6", "several GPUs", "n2", "each GPU has a part of the flows; the host merges",
		.way = LAB_FLOW_SPLIT},
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

static double seconds_since(int64_t start_ns)
{
	return (double)(kwhy_clock_mono_ns() - start_ns) * 1e-9;
}

static enum kwhy_status reset_rank(struct lab_flow *flow, uint32_t unused, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = flow->gpu;
	const struct lab_flow_args *args = &flow->args;
	enum kwhy_status status = gpu->ops->fill(
		gpu, flow->stream, args->owners, 0xff, cells_of(&flow->shape) * sizeof(uint64_t), error);

	(void)unused;
	NEXT(status,
		gpu->ops->fill(
			gpu, flow->stream, args->fresh, 0, args->out + sizeof(int64_t) - args->fresh, error));
	if (!status && flow->variant->way < LAB_FLOW_WHOLE)
		status = lab_flow_launch(flow, LAB_FLOW_SETTLE, NONE, 0, flow->shape.flows, error);
	return status ? status : lab_flow_wait(flow, 0, error);
}

enum kwhy_status lab_flow_reset(struct lab_flow *flow, struct kwhy_error *error)
{
	enum kwhy_status status = lab_flow_on_each(flow, reset_rank, 0, error);

	if (!lab_flow_on_device(flow->variant))
		lab_flow_roster_reset(&flow->roster);
	memset(flow->records, 0, flow->shape.steps * sizeof(*flow->records));
	flow->tally = (struct lab_flow_tally){0};
	return status;
}

static enum kwhy_status run_steps(struct lab_flow *flow, double *step_s, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t step = 0; !status && step < flow->shape.steps; step++) {
		int64_t start_ns = kwhy_clock_mono_ns();

		kwhy_nvtx_push("step");
		status = lab_flow_step_issue(flow, step, error);
		kwhy_nvtx_pop();
		if (step_s)
			step_s[step] = seconds_since(start_ns);
	}
	return status;
}

static enum kwhy_status run_graph(struct lab_flow *flow, struct kwhy_error *error)
{
	flow->tally.calls++;
	flow->tally.kernels += flow->graph_kernels;
	return flow->gpu->ops->graph_launch(flow->gpu, flow->stream, flow->graph, error);
}

enum kwhy_status lab_flow_fetch(
	struct lab_flow *flow, void *to, uint64_t from, size_t bytes, struct kwhy_error *error)
{
	const struct kwhy_gpu_copy one = {kwhy_gpu_address(to), from, bytes};

	return bytes ? flow->gpu->ops->copy_now(flow->gpu, &one, error) : KWHY_OK;
}

static enum kwhy_status verify(
	struct lab_flow *flow, const struct lab_flow_answer *answer, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	if (lab_flow_on_device(flow->variant))
		status = lab_flow_fetch(flow, flow->records, flow->args.records,
			flow->shape.steps * sizeof(*flow->records), error);
	for (uint32_t step = 0; !status && !flow->shape.by_argmax && step < flow->shape.steps; step++) {
		const struct lab_flow_step *found = &flow->records[step], *wanted = &answer->steps[step];

		if (found->places != wanted->places || found->merged != wanted->merged ||
			found->exited != wanted->exited)
			return kwhy_fail(error, KWHY_E_INPUT,
				"flow %s: step %u gives P %016" PRIx64
				", %u merged and %u left, the reference %016" PRIx64 ", %u and %u",
				flow->variant->id, step, found->places, found->merged, found->exited,
				wanted->places, wanted->merged, wanted->exited);
	}
	return status;
}

static enum kwhy_status take_times(struct lab_flow *flow, double *step_s, struct kwhy_error *error)
{
	uint32_t steps = flow->shape.steps;
	enum kwhy_status status = lab_flow_fetch(
		flow, flow->times, flow->args.times, (steps + 1) * sizeof(*flow->times), error);

	for (uint32_t step = 0; !status && step < steps; step++)
		step_s[step] = (double)(flow->times[step + 1] - flow->times[step]) * 1e-9;
	return status;
}

static enum kwhy_status issue_run(struct lab_flow *flow, double *step_s, struct kwhy_error *error)
{
	if (!flow->shape.flows)
		return KWHY_OK;
	if (flow->variant->way == LAB_FLOW_WHOLE)
		return lab_flow_launch(flow, LAB_FLOW_RUN, 0, 0, 1, error);
	if (flow->graph)
		return run_graph(flow, error);
	return run_steps(flow, lab_flow_on_device(flow->variant) ? NULL : step_s, error);
}

enum kwhy_status lab_flow_run(struct lab_flow *flow, const struct lab_flow_answer *answer,
	struct lab_flow_result *out, struct kwhy_error *error)
{
	enum kwhy_status status = lab_flow_reset(flow, error);
	int64_t start_ns = kwhy_clock_mono_ns();

	kwhy_nvtx_push(flow->variant->id);
	NEXT(status, lab_gate_hold(&flow->gate, error));
	NEXT(status, issue_run(flow, out->step_s, error));
	NEXT(status, lab_flow_on_each(flow, lab_flow_wait, 0, error));
	kwhy_nvtx_pop();
	out->run_s = seconds_since(start_ns);
	out->tally = flow->tally;
	NEXT(status, verify(flow, answer, error));
	if (!status && out->step_s && lab_flow_on_device(flow->variant) && flow->shape.flows)
		status = take_times(flow, out->step_s, error);
	return status;
}

enum kwhy_status lab_flow_busy(struct lab_flow *flow, const struct lab_flow_answer *answer,
	double *out_busy_s, struct kwhy_error *error)
{
	struct lab_flow_result result = {0};
	enum kwhy_status status;

	if (flow->variant->way == LAB_FLOW_SPLIT)
		return kwhy_fail(
			error, KWHY_E_UNSUPPORTED, "%s cannot be held back by a gate", flow->variant->id);
	status = lab_gate_set(&flow->gate, error);
	NEXT(status, lab_flow_run(flow, answer, &result, error));
	lab_gate_lift(&flow->gate);
	*out_busy_s = flow->gate.busy_ns * 1e-9;
	return status;
}

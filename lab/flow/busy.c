/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/flow/inside.h"

enum { QUEUED_MOST = 64 }; /* a full queue blocks the host before it opens the gate */

enum kwhy_status kwhy_flow_hold(struct kwhy_flow *flow, struct kwhy_error *error)
{
	const struct kwhy_gpu_ops *ops = flow->gpu->ops;
	enum kwhy_status status;

	if (!flow->gate)
		return KWHY_OK;
	flow->queued = 0;
	status = ops->gate_hold(flow->gpu, flow->gate, flow->stream, error);
	flow->held = !status;
	return status ? status : ops->event_record(flow->gpu, flow->start, flow->stream, error);
}

enum kwhy_status kwhy_flow_release(struct kwhy_flow *flow, struct kwhy_error *error)
{
	const struct kwhy_gpu_ops *ops = flow->gpu->ops;
	double busy_ns = 0;
	struct kwhy_error other;
	enum kwhy_status status, opened;

	if (!flow->held)
		return KWHY_OK;
	status = ops->event_record(flow->gpu, flow->end, flow->stream, error);
	flow->held = false;
	opened = ops->gate_open(flow->gpu, flow->gate, status ? &other : error);
	if (!status)
		status = opened;
	if (!status)
		status = ops->event_synchronize(flow->gpu, flow->end, error);
	if (!status)
		status = ops->event_elapsed_ns(flow->gpu, flow->start, flow->end, &busy_ns, error);
	flow->busy_ns += busy_ns;
	return status;
}

enum kwhy_status kwhy_flow_make_room(struct kwhy_flow *flow, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (!flow->held || ++flow->queued < QUEUED_MOST)
		return KWHY_OK;
	status = kwhy_flow_release(flow, error);
	return status ? status : kwhy_flow_hold(flow, error);
}

enum kwhy_status kwhy_flow_run_held(
	struct kwhy_flow *flow, const struct kwhy_flow_answer *answer, struct kwhy_error *error)
{
	const struct kwhy_gpu_ops *ops = flow->gpu->ops;
	struct kwhy_flow_result result = {0};
	enum kwhy_status status = ops->gate_new(flow->gpu, &flow->gate, error);

	flow->busy_ns = 0;
	if (!status)
		status = kwhy_flow_run(flow, answer, &result, error);
	ops->gate_free(flow->gpu, flow->gate);
	flow->gate = NULL;
	flow->held = false;
	return status;
}

enum kwhy_status kwhy_flow_busy(struct kwhy_flow *flow, const struct kwhy_flow_answer *answer,
	double *out_busy_s, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (flow->variant->way == KWHY_FLOW_WHOLE || flow->variant->way == KWHY_FLOW_SPLIT)
		return kwhy_fail(
			error, KWHY_E_UNSUPPORTED, "%s cannot be held behind a gate", flow->variant->id);
	status = kwhy_flow_run_held(flow, answer, error);
	*out_busy_s = flow->busy_ns * 1e-9;
	return status;
}

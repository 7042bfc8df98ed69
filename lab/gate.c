/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/gate.h"
#include "lab/next.h"

enum { QUEUED_MAX = 64 };

enum kwhy_status lab_gate_open(
	struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream, struct lab_gate *out, struct kwhy_error *error)
{
	enum kwhy_status status = gpu->ops->event_new(gpu, true, &out->start, error);

	out->gpu = gpu;
	out->stream = stream;
	return status ? status : gpu->ops->event_new(gpu, true, &out->end, error);
}

void lab_gate_close(struct lab_gate *gate)
{
	if (!gate->gpu)
		return;
	gate->gpu->ops->event_free(gate->gpu, gate->start);
	gate->gpu->ops->event_free(gate->gpu, gate->end);
}

enum kwhy_status lab_gate_set(struct lab_gate *gate, struct kwhy_error *error)
{
	gate->busy_ns = 0;
	return gate->gpu->ops->gate_new(gate->gpu, &gate->gate, error);
}

void lab_gate_lift(struct lab_gate *gate)
{
	gate->gpu->ops->gate_free(gate->gpu, gate->gate);
	gate->gate = NULL;
	gate->held = false;
}

enum kwhy_status lab_gate_hold(struct lab_gate *gate, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (!gate->gate)
		return KWHY_OK;
	gate->queued = 0;
	status = gate->gpu->ops->gate_hold(gate->gpu, gate->gate, gate->stream, error);
	gate->held = !status;
	return status ? status : gate->gpu->ops->event_record(gate->gpu, gate->start, gate->stream, error);
}

enum kwhy_status lab_gate_release(struct lab_gate *gate, struct kwhy_error *error)
{
	double busy_s = 0;
	struct kwhy_error other;
	enum kwhy_status status, opened;

	if (!gate->held)
		return KWHY_OK;
	status = gate->gpu->ops->event_record(gate->gpu, gate->end, gate->stream, error);
	gate->held = false;
	opened = gate->gpu->ops->gate_open(gate->gpu, gate->gate, status ? &other : error);
	NEXT(status, opened);
	NEXT(status, gate->gpu->ops->event_synchronize(gate->gpu, gate->end, error));
	NEXT(status, lab_gate_elapsed(gate, &busy_s, error));
	gate->busy_ns += busy_s * 1e9;
	return status;
}

enum kwhy_status lab_gate_reserve(struct lab_gate *gate, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (!gate->held || ++gate->queued < QUEUED_MAX)
		return KWHY_OK;
	status = lab_gate_release(gate, error);
	return status ? status : lab_gate_hold(gate, error);
}

enum kwhy_status lab_gate_elapsed(const struct lab_gate *gate, double *out_s, struct kwhy_error *error)
{
	double ns = 0;
	enum kwhy_status status = gate->gpu->ops->event_elapsed_ns(
		gate->gpu, gate->start, gate->end, &ns, error);

	*out_s = ns * 1e-9;
	return status;
}

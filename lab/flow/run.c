/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/flow/run.h"

#include "base/clock.h"
#include "lab/flow/inside.h"
#include "lab/flow/rules.h"
#include "vendor/nvtx.h"

#include <inttypes.h>

static double seconds_since(int64_t start_ns)
{
	return (double)(kwhy_clock_mono_ns() - start_ns) * 1e-9;
}

static enum kwhy_status reset_rank(struct kwhy_flow *flow, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = flow->gpu;
	const struct kwhy_flow_args *args = &flow->args;
	const uint32_t numbers[2] = {flow->shape.flows, 0};
	const struct kwhy_gpu_copy copy = {args->numbers, kwhy_gpu_address(numbers), sizeof(numbers)};
	enum kwhy_status status = gpu->ops->enter(gpu, error);

	if (kwhy_flow_has_books(flow))
		kwhy_flow_books_reset(&flow->books);
	flow->bridge.out = 0;
	if (!status)
		status = gpu->ops->fill(gpu, flow->stream, args->owners, 0xff,
			kwhy_flow_cells(&flow->shape) * sizeof(uint64_t), error);
	if (!status)
		status = gpu->ops->fill(
			gpu, flow->stream, args->fresh, 0, args->out + sizeof(int64_t) - args->fresh, error);
	if (!status && flow->variant->way < KWHY_FLOW_WHOLE)
		status = kwhy_flow_launch(
			flow, KWHY_FLOW_SETTLE, KWHY_FLOW_NONE, 0, flow->shape.flows, error);
	if (!status)
		status = kwhy_flow_wait(flow, error);
	if (!status)
		status = gpu->ops->copy_now(gpu, &copy, error);
	flow->tally = (struct kwhy_flow_tally){0};
	return status;
}

enum kwhy_status kwhy_flow_reset(struct kwhy_flow *flow, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = flow->rank_count; !status && i > 0;
		i--) /* the first last: the thread stays there */
		status = reset_rank(flow->ranks[i - 1], error);
	return status;
}

static enum kwhy_status run_steps(struct kwhy_flow *flow, double *step_s, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t step = 0; !status && step < flow->shape.steps; step++) {
		int64_t start_ns = kwhy_clock_mono_ns();

		kwhy_nvtx_push("step");
		status = kwhy_flow_step_issue(flow, step, error);
		kwhy_nvtx_pop();
		if (step_s)
			step_s[step] = seconds_since(start_ns);
	}
	return status;
}

static enum kwhy_status run_graph(struct kwhy_flow *flow, struct kwhy_error *error)
{
	flow->tally.calls++;
	flow->tally.graphs++;
	flow->tally.kernels += flow->graph_tally.kernels;
	return flow->gpu->ops->graph_launch(flow->gpu, flow->stream, flow->graph, error);
}

static enum kwhy_status run_whole(struct kwhy_flow *flow, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = flow->gpu;
	enum kwhy_status status = gpu->ops->event_record(gpu, flow->start, flow->stream, error);

	if (!status)
		status = kwhy_flow_launch(flow, KWHY_FLOW_RUN, 0, 0, 1, error);
	return status ? status : gpu->ops->event_record(gpu, flow->end, flow->stream, error);
}

static enum kwhy_status fetch(
	struct kwhy_flow *flow, void *to, uint64_t from, size_t bytes, struct kwhy_error *error)
{
	const struct kwhy_gpu_copy copy = {kwhy_gpu_address(to), from, bytes};

	return flow->gpu->ops->copy_now(flow->gpu, &copy, error);
}

/* Places by the devices; who went by it too, or by the books of the host. */
static enum kwhy_status fetch_records(struct kwhy_flow *flow, struct kwhy_error *error)
{
	size_t steps = flow->shape.steps;
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 0; !status && i < flow->rank_count; i++) {
		status = fetch(flow, flow->device_records, flow->ranks[i]->args.records,
			steps * sizeof(*flow->device_records), error);
		for (size_t step = 0; !status && step < steps; step++)
			if (kwhy_flow_has_books(flow))
				flow->records[step].places = flow->device_records[step].places +
					(i ? flow->records[step].places : 0);
			else
				flow->records[step] = flow->device_records[step];
	}
	return status;
}

static void add_tally(struct kwhy_flow_tally *sum, const struct kwhy_flow_tally *tally)
{
	sum->calls += tally->calls;
	sum->launches += tally->launches;
	sum->products += tally->products;
	sum->graphs += tally->graphs;
	sum->waits += tally->waits;
	sum->allocations += tally->allocations;
	sum->h2d_copies += tally->h2d_copies;
	sum->h2d_bytes += tally->h2d_bytes;
	sum->d2h_copies += tally->d2h_copies;
	sum->d2h_bytes += tally->d2h_bytes;
	sum->peer_copies += tally->peer_copies;
	sum->peer_bytes += tally->peer_bytes;
	sum->gathers += tally->gathers;
	sum->kernels += tally->kernels;
	sum->lines += tally->lines;
}

static enum kwhy_status verify(
	struct kwhy_flow *flow, const struct kwhy_flow_answer *answer, struct kwhy_error *error)
{
	enum kwhy_status status = fetch_records(flow, error);

	for (uint32_t step = 0; !status && !flow->shape.by_argmax && step < flow->shape.steps; step++) {
		const struct kwhy_flow_step *found = &flow->records[step], *wanted = &answer->steps[step];

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

/* Energies of who left are by the device's sum what was read of their lines; tokens are the reference's. */
static enum kwhy_status verify_text(
	struct kwhy_flow *flow, const struct kwhy_flow_answer *answer, struct kwhy_error *error)
{
	int64_t out = 0;
	enum kwhy_status status = fetch(flow, &out, flow->args.out, sizeof(out), error);

	if (!status && out != flow->bridge.out)
		return kwhy_fail(error, KWHY_E_INPUT,
			"flow %s: energies of who left add up to %" PRId64 " by their text, to %" PRId64
			" on the device, in units of 2^-32",
			flow->variant->id, flow->bridge.out, out);
	for (uint32_t step = 0;
		!status && !flow->shape.by_argmax && answer->texts && step < flow->shape.steps; step++)
		if (flow->bridge.texts[step] != answer->texts[step])
			return kwhy_fail(error, KWHY_E_INPUT,
				"flow %s: the text of step %u gives %016" PRIx64
				", the reference's %016" PRIx64,
				flow->variant->id, step, flow->bridge.texts[step], answer->texts[step]);
	return status;
}

static enum kwhy_status take_times(struct kwhy_flow *flow, double *step_s, struct kwhy_error *error)
{
	uint32_t steps = flow->shape.steps;
	enum kwhy_status status = fetch(
		flow, flow->times, flow->args.times, (steps + 1) * sizeof(*flow->times), error);

	for (uint32_t step = 0; !status && step < steps; step++)
		step_s[step] = (double)(flow->times[step + 1] - flow->times[step]) * 1e-9;
	return status;
}

static enum kwhy_status take_busy(struct kwhy_flow *flow, double *out_s, struct kwhy_error *error)
{
	double ns = NAN;
	enum kwhy_status status = KWHY_OK;

	if (flow->variant->way == KWHY_FLOW_WHOLE && flow->shape.flows)
		status = flow->gpu->ops->event_elapsed_ns(flow->gpu, flow->start, flow->end, &ns, error);
	*out_s = ns * 1e-9;
	return status;
}

static enum kwhy_status issue_run(struct kwhy_flow *flow, double *step_s, struct kwhy_error *error)
{
	if (!flow->shape.flows)
		return KWHY_OK;
	if (flow->variant->way == KWHY_FLOW_WHOLE)
		return run_whole(flow, error);
	if (flow->graph)
		return run_graph(flow, error);
	return run_steps(flow, kwhy_flow_on_device(flow) ? NULL : step_s, error);
}

enum kwhy_status kwhy_flow_run(struct kwhy_flow *flow, const struct kwhy_flow_answer *answer,
	struct kwhy_flow_result *out, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_flow_reset(flow, error);
	int64_t start_ns = kwhy_clock_mono_ns();

	kwhy_nvtx_push(flow->variant->id);
	if (!status)
		status = kwhy_flow_hold(flow, error);
	if (!status)
		status = issue_run(flow, out->step_s, error);
	if (!status)
		status = kwhy_flow_ranks_wait(flow, error);
	kwhy_nvtx_pop();
	out->run_s = seconds_since(start_ns);
	out->tally = (struct kwhy_flow_tally){0};
	for (uint32_t i = 0; i < flow->rank_count; i++)
		add_tally(&out->tally, &flow->ranks[i]->tally);
	if (!status)
		status = verify(flow, answer, error);
	if (!status && flow->variant->text)
		status = verify_text(flow, answer, error);
	if (!status && out->step_s && kwhy_flow_on_device(flow) && flow->shape.flows)
		status = take_times(flow, out->step_s, error);
	return status ? status : take_busy(flow, &out->busy_s, error);
}

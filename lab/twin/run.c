/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "lab/next.h"
#include "lab/twin/inside.h"
#include "vendor/nvtx.h"

#include <inttypes.h>
#include <sched.h>
#include <stdatomic.h>

#define FLAG_TIMEOUT_NS INT64_C(2000000000) /* then the driver is asked what became of the step */

enum { SPINS = 64 };

static double seconds_since(int64_t start_ns)
{
	return (double)(kwhy_clock_mono_ns() - start_ns) * 1e-9;
}

/* --- What is checked --- */

static enum kwhy_status compare(const struct lab_twin *twin, uint32_t step, const char *what, uint64_t found,
	uint64_t expected, struct kwhy_error *error)
{
	if (found == expected)
		return KWHY_OK;
	return kwhy_fail(error, KWHY_E_INPUT,
		"twin %s: step %u gives %s %016" PRIx64 ", the reference %016" PRIx64, twin->variant->id,
		step, what, found, expected);
}

static enum kwhy_status check_seen(
	const struct lab_twin *twin, uint32_t step, uint64_t folded, struct kwhy_error *error)
{
	return compare(twin, step, "Y", folded, twin->answer->steps[step].observed, error);
}

static enum kwhy_status fetch_now(
	const struct lab_twin_field *field, void *to, uint64_t from, size_t bytes, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = field->place->gpu;
	const struct kwhy_gpu_copy copy = {kwhy_gpu_address(to), from, bytes};
	enum kwhy_status status = gpu->ops->enter(gpu, error);

	return status ? status : gpu->ops->copy_now(gpu, &copy, error);
}

/* Of a run in one launch: what it saw and when. */
static enum kwhy_status verify_device(struct lab_twin *twin, struct kwhy_error *error)
{
	const struct lab_twin_field *field = &twin->fields[0];
	enum kwhy_status status = fetch_now(field, twin->seen, field->args.seen, sizeof(twin->seen), error);

	NEXT(status, fetch_now(field, twin->times, field->args.times, sizeof(twin->times), error));
	for (uint32_t step = 0; !status && step < twin->shape.steps; step++) {
		status = check_seen(twin, step, twin->seen[step], error);
		if (twin->step_s)
			twin->step_s[step] = (double)(twin->times[step + 1] - twin->times[step]) * 1e-9;
	}
	return status;
}

/* X of every step, and once more of what was left at the end. */
static enum kwhy_status verify_checks(struct lab_twin *twin, struct kwhy_error *error)
{
	uint32_t steps = twin->shape.steps;
	uint64_t totals[STEPS + 1] = {0};
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 0; !status && i < twin->field_count; i++) {
		status = fetch_now(
			&twin->fields[i], twin->checks, twin->fields[i].args.checks, sizeof(totals), error);
		for (uint32_t step = 0; step <= STEPS; step++)
			totals[step] += twin->checks[step];
	}
	for (uint32_t step = 0; !status && step < steps; step++)
		status = compare(twin, step, "X", totals[step], twin->answer->steps[step].field, error);
	return status ? status
		      : compare(twin, steps, "X", totals[STEPS], twin->answer->steps[steps - 1].field, error);
}

static enum kwhy_status verify_history(struct lab_twin *twin, struct kwhy_error *error)
{
	const struct lab_twin_field *field = &twin->fields[0];
	size_t bytes = (size_t)twin->shape.steps * SLOT * sizeof(float);
	enum kwhy_status status = fetch_now(field, twin->history, field->args.history, bytes, error);

	for (uint32_t step = 0; !status && step < twin->shape.steps; step++) {
		size_t first = (size_t)step * SLOT, kept = (4u + keeps_v(step)) * KEPT * sizeof(float);

		if (memcmp(twin->history + first, twin->answer->history + first, kept) != 0)
			status = kwhy_fail(error, KWHY_E_INPUT,
				"twin %s: the history of step %u is not the reference's", twin->variant->id,
				step);
	}
	return status;
}

static enum kwhy_status verify(struct lab_twin *twin, struct kwhy_error *error)
{
	enum kwhy_status status = verify_checks(twin, error);

	if (!status && twin->variant->host == LAB_TWIN_DEVICE)
		status = verify_device(twin, error);
	if (!status && twin->poisoned)
		status = verify_history(twin, error);
	return status ? status : twin->gpu->ops->enter(twin->gpu, error);
}

/* --- A step --- */

/* The outboxes hold nothing that an earlier step left. */
static enum kwhy_status poison(struct lab_twin *twin, struct kwhy_error *error)
{
	memset(twin->mail->outbox, POISON, OUTBOX_BYTES);
	if (twin->variant->mapped)
		return KWHY_OK;
	return twin->gpu->ops->fill(
		twin->gpu, twin->stream, twin->fields[0].args.outbox, POISON, OUTBOX_BYTES, error);
}

static bool is_flagged(const struct lab_twin *twin, uint32_t step)
{
	return atomic_load_explicit(&twin->mail->flag, memory_order_acquire) == step + 1;
}

/* The host waits for a word that the device writes; the driver is asked only when that takes too long. */
static enum kwhy_status await_flag(struct lab_twin *twin, uint32_t step, struct kwhy_error *error)
{
	int64_t start_ns = kwhy_clock_mono_ns();
	enum kwhy_status status;

	for (uint32_t spins = 1; !is_flagged(twin, step); spins++) {
		if (spins % SPINS)
			continue;
		if (kwhy_clock_mono_ns() - start_ns > FLAG_TIMEOUT_NS)
			break;
		sched_yield();
	}
	if (is_flagged(twin, step))
		return KWHY_OK;
	status = lab_twin_wait(twin, error);
	if (!status && !is_flagged(twin, step))
		status = kwhy_fail(error, KWHY_E_INPUT, "twin %s: step %u never came to its end",
			twin->variant->id, step);
	return status;
}

static enum kwhy_status issue_calls(struct lab_twin *twin, uint32_t step, struct kwhy_error *error)
{
	enum kwhy_status status = twin->variant->send(twin, step, error);

	NEXT(status, twin->variant->compute(twin, step, error));
	return status ? status : twin->variant->fetch(twin, step, error);
}

static enum kwhy_status issue_graph(struct lab_twin *twin, uint32_t step, struct kwhy_error *error)
{
	lab_twin_agents_send(&twin->agents, step, twin->mail->controls);
	twin->tally.calls++;
	twin->tally.graphs++;
	twin->tally.kernels += twin->graph_tally.kernels;
	for (size_t way = 0; way < LAB_TWIN_WAY_COUNT; way++) {
		twin->tally.copies[way] += twin->graph_tally.copies[way];
		twin->tally.bytes[way] += twin->graph_tally.bytes[way];
	}
	return twin->gpu->ops->graph_launch(twin->gpu, twin->stream, twin->graph, error);
}

/* In a poisoned run the event that all was fetched is waited for, and then seen to be reached. */
static enum kwhy_status await_step(struct lab_twin *twin, uint32_t step, struct kwhy_error *error)
{
	const struct kwhy_gpu_ops *ops = twin->gpu->ops;
	bool reached = false;
	enum kwhy_status status;

	if (twin->variant->mapped)
		return await_flag(twin, step, error);
	if (!twin->poisoned)
		return twin->variant->waits_each ? KWHY_OK : lab_twin_wait(twin, error);
	status = ops->event_record(twin->gpu, twin->fetched, twin->stream, error);
	NEXT(status, lab_twin_wait(twin, error));
	NEXT(status, ops->event_reached(twin->gpu, twin->fetched, &reached, error));
	if (!status && !reached)
		status = kwhy_fail(error, KWHY_E_INPUT, "twin %s: step %u would be read before it is there",
			twin->variant->id, step);
	return status;
}

static enum kwhy_status run_step(struct lab_twin *twin, uint32_t step, struct kwhy_error *error)
{
	enum kwhy_status status = twin->poisoned ? poison(twin, error) : KWHY_OK;

	NEXT(status, lab_gate_hold(&twin->gate, error));
	NEXT(status,
		twin->variant->host == LAB_TWIN_GRAPHS ? issue_graph(twin, step, error)
						       : issue_calls(twin, step, error));
	NEXT(status, lab_gate_release(&twin->gate, error));
	NEXT(status, await_step(twin, step, error));
	if (status)
		return status;
	lab_twin_agents_look(&twin->agents, step, twin->mail->outbox, twin->variant->scattered);
	return check_seen(twin, step, twin->agents.folded, error);
}

/* --- A run --- */

static enum kwhy_status run_steps(struct lab_twin *twin, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t step = 0; !status && step < twin->shape.steps; step++) {
		int64_t start_ns = kwhy_clock_mono_ns();

		kwhy_nvtx_push("step");
		status = run_step(twin, step, error);
		kwhy_nvtx_pop();
		if (twin->step_s)
			twin->step_s[step] = seconds_since(start_ns);
	}
	return status;
}

/* The whole run is one launch. */
static enum kwhy_status run_device(struct lab_twin *twin, struct kwhy_error *error)
{
	const struct kwhy_gpu_ops *ops = twin->gpu->ops;
	enum kwhy_status status = ops->event_record(twin->gpu, twin->gate.start, twin->stream, error);

	NEXT(status, lab_twin_launch(twin, &twin->fields[0], LAB_TWIN_WHOLE, 0, error));
	NEXT(status, ops->event_record(twin->gpu, twin->gate.end, twin->stream, error));
	NEXT(status, lab_twin_wait(twin, error));
	return status ? status : lab_gate_elapsed(&twin->gate, &twin->busy_s, error);
}

static enum kwhy_status reset(struct lab_twin *twin, struct kwhy_error *error)
{
	enum kwhy_status status = twin->gpu->ops->enter(twin->gpu, error);

	twin->agents = (struct lab_twin_agents){.closed = twin->shape.closed};
	memset(twin->mail->controls, 0, sizeof(twin->mail->controls));
	atomic_store(&twin->mail->flag, 0);
	if (!status && twin->poisoned)
		status = twin->gpu->ops->fill(twin->gpu, twin->stream, twin->fields[0].args.history, POISON,
			sizeof(twin->history), error);
	NEXT(status, lab_twin_wait(twin, error));
	twin->tally = (struct lab_twin_tally){0};
	return status;
}

static enum kwhy_status await_all(struct lab_twin *twin, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 1; !status && i < twin->place_count; i++) {
		const struct lab_twin_place *place = &twin->places[i];

		status = place->gpu->ops->enter(place->gpu, error);
		NEXT(status, place->gpu->ops->synchronize(place->gpu, place->stream, error));
		twin->tally.calls++;
		twin->tally.waits++;
	}
	NEXT(status, twin->gpu->ops->enter(twin->gpu, error));
	return status ? status : lab_twin_wait(twin, error);
}

/* What stands at either end of a run. */
static enum kwhy_status run_edge(struct lab_twin *twin,
	enum kwhy_status (*queue)(struct lab_twin *twin, struct kwhy_error *error), struct kwhy_error *error)
{
	enum kwhy_status status = lab_gate_hold(&twin->gate, error);

	NEXT(status, queue(twin, error));
	return status ? status : lab_gate_release(&twin->gate, error);
}

/* What counts as the run: everything but the verification. */
static enum kwhy_status run_whole(struct lab_twin *twin, struct kwhy_error *error)
{
	enum kwhy_status status;

	kwhy_nvtx_push(twin->variant->id);
	status = run_edge(twin, lab_twin_begin, error);
	NEXT(status,
		twin->variant->host == LAB_TWIN_DEVICE ? run_device(twin, error) : run_steps(twin, error));
	NEXT(status, run_edge(twin, lab_twin_end, error));
	NEXT(status, await_all(twin, error));
	kwhy_nvtx_pop();
	return status;
}

enum kwhy_status lab_twin_run(struct lab_twin *twin, const struct lab_twin_answer *answer, bool poisoned,
	struct lab_twin_result *out, struct kwhy_error *error)
{
	enum kwhy_status status;
	int64_t start_ns;
	double run_s;

	twin->answer = answer;
	twin->poisoned = poisoned;
	twin->step_s = out->step_s;
	twin->busy_s = NAN;
	status = reset(twin, error);
	start_ns = kwhy_clock_mono_ns();
	NEXT(status, run_whole(twin, error));
	run_s = seconds_since(start_ns);
	NEXT(status, verify(twin, error));
	if (status)
		return status;
	*out = (struct lab_twin_result){run_s, out->step_s, twin->busy_s, twin->tally};
	return KWHY_OK;
}

/* A first run does what a driver does only once: behind a gate it could not. */
static enum kwhy_status run_held(struct lab_twin *twin, const struct lab_twin_answer *answer,
	double *out_busy_s, struct kwhy_error *error)
{
	struct lab_twin_result result = {0};
	enum kwhy_status status = lab_twin_run(twin, answer, false, &result, error);

	NEXT(status, lab_gate_set(&twin->gate, error));
	NEXT(status, lab_twin_run(twin, answer, false, &result, error));
	lab_gate_lift(&twin->gate);
	*out_busy_s = twin->gate.busy_ns * 1e-9;
	return status;
}

enum kwhy_status lab_twin_busy(const struct lab_twin_request *request, const struct lab_twin_answer *answer,
	double *out_busy_s, struct kwhy_error *error)
{
	struct lab_twin_variant variant = *request->variant;
	struct lab_twin_request held = *request;
	struct lab_twin *twin = NULL;
	enum kwhy_status status;

	/* What blocks the host would wait for what waits for the host. */
	variant.pageable = false;
	variant.waits_each = false;
	held.variant = &variant;
	status = lab_twin_open(&held, &twin, error);
	if (!status && (variant.host == LAB_TWIN_DEVICE || twin->place_count > 1))
		status = kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"twin %s cannot be held behind a gate: it is one launch, or on several GPUs",
			variant.id);
	NEXT(status, run_held(twin, answer, out_busy_s, error));
	lab_twin_close(twin);
	return status;
}

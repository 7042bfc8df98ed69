/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/twin/run.h"
#include "lab/next.h"

#include "base/clock.h"
#include "lab/twin/inside.h"
#include "vendor/nvtx.h"

#include <inttypes.h>
#include <sched.h>
#include <stdatomic.h>

#define FLAG_TIMEOUT_NS INT64_C(2000000000) /* then the driver is asked what became of the step */

enum { POISON = 0xA5, SPINS = 64 };

/* One run under way. */
struct course {
	struct lab_twin *twin;
	const struct lab_twin_answer *answer;
	bool poisoned;
	double *step_s; /* may be NULL */
	double busy_s;
};

static double seconds_since(int64_t start_ns)
{
	return (double)(kwhy_clock_mono_ns() - start_ns) * 1e-9;
}

/* The outboxes hold nothing that an earlier step left. */
static enum kwhy_status poison(struct lab_twin *twin, struct kwhy_error *error)
{
	const struct lab_twin_field *field = &twin->fields[0];

	memset(twin->mail->outbox, POISON, sizeof(twin->mail->outbox));
	if (twin->variant->mapped)
		return KWHY_OK;
	return field->gpu->ops->fill(
		field->gpu, field->stream, field->args.outbox, POISON, sizeof(twin->mail->outbox), error);
}

static enum kwhy_status mark_fetched(struct lab_twin *twin, struct kwhy_error *error)
{
	const struct lab_twin_field *field = &twin->fields[0];

	return field->gpu->ops->event_record(field->gpu, twin->fetched, field->stream, error);
}

static enum kwhy_status check_fetched(struct lab_twin *twin, uint32_t step, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = twin->fields[0].gpu;
	bool reached = false;
	enum kwhy_status status = gpu->ops->event_reached(gpu, twin->fetched, &reached, error);

	if (!status && !reached)
		return kwhy_fail(error, KWHY_E_INPUT, "twin %s: step %u would be read before it is there",
			twin->variant->id, step);
	return status;
}

static enum kwhy_status check_seen(
	const struct course *course, uint32_t step, uint64_t observed, struct kwhy_error *error)
{
	uint64_t expected = course->answer->steps[step].observed;

	if (observed == expected)
		return KWHY_OK;
	return kwhy_fail(error, KWHY_E_INPUT,
		"twin %s: step %u gives Y %016" PRIx64 ", the reference %016" PRIx64,
		course->twin->variant->id, step, observed, expected);
}

/* The host waits for a word that the device writes; the driver is asked only when that takes too long. */
static enum kwhy_status await_flag(struct lab_twin *twin, uint32_t step, struct kwhy_error *error)
{
	int64_t start_ns = kwhy_clock_mono_ns();
	enum kwhy_status status = KWHY_OK;

	for (uint32_t spins = 1;; spins++) {
		if (atomic_load_explicit(&twin->mail->flag, memory_order_acquire) == step + 1)
			return status;
		if (spins % SPINS)
			continue;
		if (kwhy_clock_mono_ns() - start_ns > FLAG_TIMEOUT_NS)
			break;
		sched_yield();
	}
	status = lab_twin_wait(twin, error);
	if (!status && atomic_load_explicit(&twin->mail->flag, memory_order_acquire) != step + 1)
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

static void count_graph(struct lab_twin *twin)
{
	const struct lab_twin_tally *one = &twin->graph_tally;

	twin->tally.calls++;
	twin->tally.graphs++;
	twin->tally.h2d_copies += one->h2d_copies;
	twin->tally.h2d_bytes += one->h2d_bytes;
	twin->tally.d2h_copies += one->d2h_copies;
	twin->tally.d2h_bytes += one->d2h_bytes;
	twin->tally.kernels += one->kernels;
}

static enum kwhy_status issue_graph(struct lab_twin *twin, uint32_t step, struct kwhy_error *error)
{
	const struct lab_twin_field *field = &twin->fields[0];

	lab_twin_agents_send(&twin->agents, step, twin->mail->controls);
	count_graph(twin);
	return field->gpu->ops->graph_launch(field->gpu, field->stream, twin->graph, error);
}

static enum kwhy_status await_step(const struct course *course, uint32_t step, struct kwhy_error *error)
{
	struct lab_twin *twin = course->twin;
	enum kwhy_status status = KWHY_OK;

	if (twin->variant->mapped)
		return await_flag(twin, step, error);
	if (course->poisoned)
		status = mark_fetched(twin, error);
	if (!status && (!twin->variant->waits_each || course->poisoned))
		status = lab_twin_wait(twin, error);
	return !status && course->poisoned ? check_fetched(twin, step, error) : status;
}

static enum kwhy_status run_step(const struct course *course, uint32_t step, struct kwhy_error *error)
{
	struct lab_twin *twin = course->twin;
	enum kwhy_status status = course->poisoned ? poison(twin, error) : KWHY_OK;

	NEXT(status, lab_gate_hold(&twin->gate, error));
	NEXT(status,
		twin->variant->host == LAB_TWIN_GRAPHS ? issue_graph(twin, step, error)
						       : issue_calls(twin, step, error));
	NEXT(status, lab_gate_release(&twin->gate, error));
	NEXT(status, await_step(course, step, error));
	if (status)
		return status;
	lab_twin_agents_look(&twin->agents, step, twin->mail->outbox, twin->variant->scattered);
	return check_seen(course, step, twin->agents.observed, error);
}

static enum kwhy_status run_steps(struct course *course, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t step = 0; !status && step < course->twin->shape.steps; step++) {
		int64_t start_ns = kwhy_clock_mono_ns();

		kwhy_nvtx_push("step");
		status = run_step(course, step, error);
		kwhy_nvtx_pop();
		if (course->step_s)
			course->step_s[step] = seconds_since(start_ns);
	}
	return status;
}

/* The whole run is one launch; what it saw and when is fetched when all is done. */
static enum kwhy_status run_device(struct course *course, struct kwhy_error *error)
{
	struct lab_twin *twin = course->twin;
	const struct lab_twin_field *field = &twin->fields[0];
	struct kwhy_gpu *gpu = field->gpu;
	enum kwhy_status status = gpu->ops->event_record(gpu, twin->gate.start, field->stream, error);

	NEXT(status, lab_twin_launch(twin, field, LAB_TWIN_RUN, 0, error));
	NEXT(status, gpu->ops->event_record(gpu, twin->gate.end, field->stream, error));
	NEXT(status, lab_twin_wait(twin, error));
	return status ? status : lab_gate_elapsed(&twin->gate, &course->busy_s, error);
}

static enum kwhy_status fetch_now(
	const struct lab_twin_field *field, void *to, uint64_t from, size_t bytes, struct kwhy_error *error)
{
	const struct kwhy_gpu_copy copy = {kwhy_gpu_address(to), from, bytes};
	enum kwhy_status status = field->gpu->ops->enter(field->gpu, error);

	return status ? status : field->gpu->ops->copy_now(field->gpu, &copy, error);
}

static enum kwhy_status verify_device(struct course *course, struct kwhy_error *error)
{
	struct lab_twin *twin = course->twin;
	const struct lab_twin_field *field = &twin->fields[0];
	uint32_t steps = twin->shape.steps;
	enum kwhy_status status = fetch_now(
		field, twin->seen, field->args.seen, steps * sizeof(*twin->seen), error);

	NEXT(status,
		fetch_now(field, twin->times, field->args.times, (steps + 1) * sizeof(*twin->times), error));
	for (uint32_t step = 0; !status && step < steps; step++) {
		status = check_seen(course, step, twin->seen[step], error);
		if (course->step_s)
			course->step_s[step] = (double)(twin->times[step + 1] - twin->times[step]) * 1e-9;
	}
	return status;
}

/* X of every step, and once more of what was left at the end. */
static enum kwhy_status verify_checks(const struct course *course, struct kwhy_error *error)
{
	struct lab_twin *twin = course->twin;
	uint32_t steps = twin->shape.steps;
	uint64_t totals[LAB_TWIN_STEPS + 1] = {0};
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 0; !status && i < twin->field_count; i++) {
		status = fetch_now(
			&twin->fields[i], twin->checks, twin->fields[i].args.checks, sizeof(totals), error);
		for (uint32_t step = 0; step <= LAB_TWIN_STEPS; step++)
			totals[step] += twin->checks[step];
	}
	for (uint32_t step = 0; !status && step <= steps; step++) {
		uint64_t found = totals[step < steps ? step : LAB_TWIN_STEPS],
			 expected = course->answer->steps[step < steps ? step : steps - 1].field;

		if (found != expected)
			status = kwhy_fail(error, KWHY_E_INPUT,
				"twin %s: step %u gives X %016" PRIx64 ", the reference %016" PRIx64,
				twin->variant->id, step, found, expected);
	}
	return status;
}

static enum kwhy_status verify_history(const struct course *course, struct kwhy_error *error)
{
	struct lab_twin *twin = course->twin;
	const struct lab_twin_field *field = &twin->fields[0];
	size_t bytes = (size_t)twin->shape.steps * LAB_TWIN_SLOT_FLOATS * sizeof(float);
	enum kwhy_status status = fetch_now(field, twin->history, field->args.history, bytes, error);

	for (uint32_t step = 0; !status && step < twin->shape.steps; step++) {
		size_t first = (size_t)step * LAB_TWIN_SLOT_FLOATS,
		       kept = (4 + keeps_v(step)) * LAB_TWIN_KEPT * sizeof(float);

		if (memcmp(twin->history + first, course->answer->history + first, kept) != 0)
			status = kwhy_fail(error, KWHY_E_INPUT,
				"twin %s: the history of step %u is not the reference's", twin->variant->id,
				step);
	}
	return status;
}

static enum kwhy_status reset(const struct course *course, struct kwhy_error *error)
{
	struct lab_twin *twin = course->twin;
	const struct lab_twin_field *field = &twin->fields[0];
	enum kwhy_status status = field->gpu->ops->enter(field->gpu, error);

	twin->agents = (struct lab_twin_agents){.closed = twin->shape.closed};
	memset(twin->mail->controls, 0, sizeof(twin->mail->controls));
	atomic_store(&twin->mail->flag, 0);
	if (!status && course->poisoned)
		status = field->gpu->ops->fill(field->gpu, field->stream, field->args.history, POISON,
			LAB_TWIN_STEPS * LAB_TWIN_SLOT_FLOATS * sizeof(float), error);
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
	NEXT(status, twin->places[0].gpu->ops->enter(twin->places[0].gpu, error));
	return status ? status : lab_twin_wait(twin, error);
}

static enum kwhy_status verify(struct course *course, struct kwhy_error *error)
{
	enum kwhy_status status = verify_checks(course, error);

	if (!status && course->twin->variant->host == LAB_TWIN_DEVICE)
		status = verify_device(course, error);
	if (!status && course->poisoned)
		status = verify_history(course, error);
	return status ? status : course->twin->fields[0].gpu->ops->enter(course->twin->fields[0].gpu, error);
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
static enum kwhy_status run_whole(struct course *course, struct kwhy_error *error)
{
	struct lab_twin *twin = course->twin;
	enum kwhy_status status;

	kwhy_nvtx_push(twin->variant->id);
	status = run_edge(twin, lab_twin_begin, error);
	NEXT(status,
		twin->variant->host == LAB_TWIN_DEVICE ? run_device(course, error)
						       : run_steps(course, error));
	NEXT(status, run_edge(twin, lab_twin_end, error));
	NEXT(status, await_all(twin, error));
	kwhy_nvtx_pop();
	return status;
}

enum kwhy_status lab_twin_run(struct lab_twin *twin, const struct lab_twin_answer *answer, bool poisoned,
	struct lab_twin_result *out, struct kwhy_error *error)
{
	struct course course = {twin, answer, poisoned, out->step_s, NAN};
	enum kwhy_status status = reset(&course, error);
	int64_t start_ns = kwhy_clock_mono_ns();
	double run_s;

	NEXT(status, run_whole(&course, error));
	run_s = seconds_since(start_ns);
	NEXT(status, verify(&course, error));
	if (status)
		return status;
	out->run_s = run_s;
	out->busy_s = course.busy_s;
	out->tally = twin->tally;
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

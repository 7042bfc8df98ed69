/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "lab/next.h"
#include "lab/twin/inside.h"
#include "vendor/nvtx.h"

#include <inttypes.h>
#include <sched.h>
#include <stdatomic.h>

/* ns that the host waits for the flag of a step before it waits for the stream instead */
#define FLAG_TIMEOUT_NS INT64_C(2000000000)

enum { SPINS = 64 };

static double seconds_since(int64_t start_ns)
{
	return (double)(kwhy_clock_mono_ns() - start_ns) * 1e-9;
}

/* --- Checks --- */

static enum kwhy_status compare(const struct lab_twin *twin, uint32_t step, const char *what, uint64_t found,
	uint64_t expected, struct kwhy_error *error)
{
	if (found == expected)
		return KWHY_OK;
	return kwhy_fail(error, KWHY_E_INPUT,
		"twin %s: step %u gives %s %016" PRIx64 ", the reference %016" PRIx64, twin->variant->id,
		step, what, found, expected);
}

/* Fails with KWHY_E_INPUT and the message "twin VARIANT: `what`, of step `step`". */
static enum kwhy_status blame(
	const struct lab_twin *twin, uint32_t step, const char *what, struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_INPUT, "twin %s: %s, of step %u", twin->variant->id, what, step);
}

static void check_seen(struct lab_twin *twin, uint32_t step)
{
	TRY(&twin->tries, compare, twin, step, "Y", twin->agents.folded, twin->answer->steps[step].observed);
}

/*
 * Checks what the agents of a run in one launch saw in each step (checksum Y), and reads the device's times
 * of the steps.
 */
static void verify_device(struct lab_twin *twin)
{
	const struct lab_twin_field *field = &twin->fields[0];

	lab_rank_copy(field->place, kwhy_gpu_address(twin->seen), field->args.seen, sizeof(twin->seen));
	lab_rank_copy(field->place, kwhy_gpu_address(twin->times), field->args.times, sizeof(twin->times));
	for (uint32_t step = 0; step < twin->shape.steps; step++) {
		memcpy(twin->agents.seen, twin->seen[step], sizeof(twin->agents.seen));
		lab_twin_agents_fold(&twin->agents);
		check_seen(twin, step);
		if (twin->step_s)
			twin->step_s[step] = (double)(twin->times[step + 1] - twin->times[step]) * 1e-9;
	}
}

/*
 * Compares the checksum X of each step, and of the cells after the last step, with the reference. X is the
 * sum over all fields.
 */
static void verify_checks(struct lab_twin *twin)
{
	uint32_t steps = twin->shape.steps;
	const struct lab_twin_step *expected = twin->answer->steps;
	uint64_t totals[STEPS + 1] = {0};

	for (uint32_t i = 0; i < twin->field_count; i++) {
		const struct lab_twin_field *field = &twin->fields[i];

		lab_rank_copy(
			field->place, kwhy_gpu_address(twin->checks), field->args.checks, sizeof(totals));
		for (uint32_t step = 0; step <= STEPS; step++)
			totals[step] += twin->checks[step];
	}
	for (uint32_t step = 0; step < steps; step++)
		TRY(&twin->tries, compare, twin, step, "X", totals[step], expected[step].field);
	TRY(&twin->tries, compare, twin, steps, "X", totals[STEPS], expected[steps - 1].field);
}

static void verify_history(struct lab_twin *twin)
{
	const struct lab_twin_field *field = &twin->fields[0];

	lab_rank_copy(
		field->place, kwhy_gpu_address(twin->history), field->args.history, sizeof(twin->history));
	for (uint32_t step = 0; step < twin->shape.steps; step++) {
		size_t first = (size_t)step * SLOT, kept = (4u + keeps_v(step)) * KEPT * sizeof(float);

		if (memcmp(twin->history + first, twin->answer->history + first, kept) != 0)
			TRY(&twin->tries, blame, twin, step, "the history is not the reference's");
	}
}

static void verify(struct lab_twin *twin)
{
	verify_checks(twin);
	if (twin->variant->host == LAB_TWIN_DEVICE)
		verify_device(twin);
	if (twin->poisoned)
		verify_history(twin);
	TRY(&twin->tries, twin->gpu->ops->enter, twin->gpu);
}

/* --- A step --- */

/*
 * Fills the outboxes of the host and of the device with POISON before a step, so that no observation of an
 * earlier step is left in them.
 */
static void poison(struct lab_twin *twin)
{
	memset(twin->mail->outbox, POISON, OUTBOX_BYTES);
	if (!twin->variant->mapped)
		TRY(&twin->tries, twin->gpu->ops->fill, twin->gpu, twin->stream, twin->fields[0].args.outbox,
			POISON, OUTBOX_BYTES);
}

static bool is_flagged(const struct lab_twin *twin, uint32_t step)
{
	return atomic_load_explicit(&twin->mail->flag, memory_order_acquire) == step + 1;
}

/*
 * Waits for the flag that the device sets at the end of a step. After FLAG_TIMEOUT_NS it waits for the
 * stream; if the flag is not set even then, the run fails.
 */
static void await_flag(struct lab_twin *twin, uint32_t step)
{
	int64_t start_ns = kwhy_clock_mono_ns();

	for (uint32_t spins = 1; !is_flagged(twin, step); spins++) {
		if (spins % SPINS)
			continue;
		if (kwhy_clock_mono_ns() - start_ns > FLAG_TIMEOUT_NS)
			break;
		sched_yield();
	}
	if (is_flagged(twin, step))
		return;
	lab_twin_wait(twin);
	if (!is_flagged(twin, step))
		TRY(&twin->tries, blame, twin, step, "the end never came");
}

static void issue_graph(struct lab_twin *twin, uint32_t step)
{
	lab_twin_agents_send(&twin->agents, step, twin->mail->controls);
	twin->tally.calls++;
	twin->tally.kernels += twin->graph_tally.kernels;
	for (size_t way = 0; way < LAB_TWIN_WAY_COUNT; way++) {
		twin->tally.copies[way] += twin->graph_tally.copies[way];
		twin->tally.bytes[way] += twin->graph_tally.bytes[way];
	}
	TRY(&twin->tries, twin->gpu->ops->graph_launch, twin->gpu, twin->stream, twin->graph);
}

/*
 * Waits for a step: for the flag of mapped memory, otherwise for the stream, unless each copy was waited for
 * already. With `poisoned` it also records an event after the step's last copy, and fails if the event was
 * not reached after the wait.
 */
static void await_step(struct lab_twin *twin, uint32_t step)
{
	const struct kwhy_gpu_ops *ops = twin->gpu->ops;
	bool reached = true;

	if (twin->variant->mapped) {
		await_flag(twin, step);
		return;
	}
	if (twin->poisoned)
		TRY(&twin->tries, ops->event_record, twin->gpu, twin->fetched, twin->stream);
	if (twin->poisoned || !twin->variant->waits_each)
		lab_twin_wait(twin);
	if (twin->poisoned)
		TRY(&twin->tries, ops->event_reached, twin->gpu, twin->fetched, &reached);
	if (!reached)
		TRY(&twin->tries, blame, twin, step, "what is read is not there yet");
}

static void run_step(struct lab_twin *twin, uint32_t step)
{
	if (twin->poisoned)
		poison(twin);
	TRY(&twin->tries, lab_gate_hold, &twin->gate);
	if (twin->variant->host == LAB_TWIN_GRAPHS)
		issue_graph(twin, step);
	else {
		twin->variant->send(twin, step);
		twin->variant->compute(twin, step);
		twin->variant->fetch(twin, step);
	}
	TRY(&twin->tries, lab_gate_release, &twin->gate);
	await_step(twin, step);
	lab_twin_agents_look(&twin->agents, step, twin->mail->outbox, twin->variant->scattered);
	check_seen(twin, step);
}

/* --- A run --- */

static void run_steps(struct lab_twin *twin)
{
	for (uint32_t step = 0; !twin->tries.status && step < twin->shape.steps; step++) {
		int64_t start_ns = kwhy_clock_mono_ns();

		kwhy_nvtx_push("step");
		run_step(twin, step);
		kwhy_nvtx_pop();
		if (twin->step_s)
			twin->step_s[step] = seconds_since(start_ns);
	}
}

/* Makes a run that is one launch. */
static void run_device(struct lab_twin *twin)
{
	const struct kwhy_gpu_ops *ops = twin->gpu->ops;

	TRY(&twin->tries, ops->event_record, twin->gpu, twin->gate.start, twin->stream);
	lab_twin_launch(twin, &twin->fields[0], LAB_TWIN_WHOLE, 0);
	TRY(&twin->tries, ops->event_record, twin->gpu, twin->gate.end, twin->stream);
	lab_twin_wait(twin);
	TRY(&twin->tries, lab_gate_elapsed, &twin->gate, &twin->busy_s);
}

static void reset(struct lab_twin *twin)
{
	twin->agents = (struct lab_twin_agents){.closed = twin->shape.closed};
	memset(twin->mail->controls, 0, sizeof(twin->mail->controls));
	atomic_store(&twin->mail->flag, 0);
	twin->busy_s = NAN;
	TRY(&twin->tries, twin->gpu->ops->enter, twin->gpu);
	if (twin->poisoned)
		TRY(&twin->tries, twin->gpu->ops->fill, twin->gpu, twin->stream, twin->fields[0].args.history,
			POISON, sizeof(twin->history));
	lab_twin_wait(twin);
	twin->tally = (struct lab_twin_tally){0};
}

static void await_all(struct lab_twin *twin)
{
	for (uint32_t i = 1; i < twin->place_count; i++) {
		lab_rank_wait(&twin->places[i]);
		twin->tally.calls++;
		twin->tally.waits++;
	}
	TRY(&twin->tries, twin->gpu->ops->enter, twin->gpu);
	lab_twin_wait(twin);
}

enum kwhy_status lab_twin_run(struct lab_twin *twin, const struct lab_twin_answer *answer, bool poisoned,
	struct lab_twin_result *out, struct kwhy_error *error)
{
	int64_t start_ns;
	double run_s;

	twin->tries = (struct lab_tries){KWHY_OK, error};
	twin->answer = answer;
	twin->poisoned = poisoned;
	twin->step_s = out->step_s;
	reset(twin);
	start_ns = kwhy_clock_mono_ns();
	kwhy_nvtx_push(twin->variant->id);
	lab_twin_begin(twin);
	if (twin->variant->host == LAB_TWIN_DEVICE)
		run_device(twin);
	else
		run_steps(twin);
	lab_twin_end(twin);
	await_all(twin);
	kwhy_nvtx_pop();
	run_s = seconds_since(start_ns); /* checks of results are not part of the run's time */
	verify(twin);
	if (!twin->tries.status)
		*out = (struct lab_twin_result){run_s, out->step_s, twin->busy_s, twin->tally};
	return twin->tries.status;
}

/*
 * Makes a run whose steps are held back by a gate (lab/gate.h), and gets its busy time. A run without the
 * gate comes first, since a driver does some work only in a first run, such as loading code, and would block
 * in it while a gate is closed.
 */
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

	/*
	 * A copy from pageable memory, or a wait, would block the host while the gate is closed, so that the
	 * host could never open it.
	 */
	variant.pageable = false;
	variant.waits_each = false;
	held.variant = &variant;
	status = lab_twin_open(&held, &twin, error);
	if (!status && (variant.host == LAB_TWIN_DEVICE || twin->place_count > 1))
		status = kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"twin %s cannot be held back by a gate: it is one launch, or on several GPUs",
			variant.id);
	NEXT(status, run_held(twin, answer, out_busy_s, error));
	lab_twin_close(twin);
	return status;
}

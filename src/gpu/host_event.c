/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events and gates of the host back end. A stream waits for a gate as for an event, but a gate is opened by
 * the host, while an event is reached by a stream.
 */
#include "gpu/host.h"

#include "base/clock.h"

#include <errno.h>
#include <stdlib.h>

#define GATE_LIMIT_NS INT64_C(10000000000)

struct kwhy_gpu_event {
	struct kwhy_gpu_host_owned owned;
	atomic_uint holders;
	struct kwhy_gpu_host_monitor monitor;
	/*
	 * recorded: number of calls of event_record() so far; reached: number of the last of these calls
	 * whose point in its stream has been reached
	 */
	uint64_t recorded, reached;
	int64_t reached_mono_ns;
	bool timed;
};

static void event_drop(struct kwhy_gpu_event *event)
{
	if (atomic_fetch_sub(&event->holders, 1) > 1)
		return;
	kwhy_gpu_host_monitor_done(&event->monitor);
	free(event);
}

static void event_release(struct kwhy_gpu_host_owned *owned)
{
	kwhy_gpu_host_forget(owned);
	event_drop((struct kwhy_gpu_event *)(void *)owned);
}

enum kwhy_status kwhy_gpu_host_event_new(
	struct kwhy_gpu *gpu, bool timed, struct kwhy_gpu_event **out, struct kwhy_error *error)
{
	struct kwhy_gpu_event *event = calloc(1, sizeof(*event));

	if (!event)
		return kwhy_fail_memory(error, "an event");
	event->timed = timed;
	atomic_init(&event->holders, 1);
	kwhy_gpu_host_monitor_init(&event->monitor);
	kwhy_gpu_host_keep(gpu, &event->owned, event_release);
	*out = event;
	return KWHY_OK;
}

void kwhy_gpu_host_event_free(struct kwhy_gpu *gpu, struct kwhy_gpu_event *event)
{
	(void)gpu;
	if (event)
		event_release(&event->owned);
}

static void run_record(const struct kwhy_gpu_host_operation *operation)
{
	struct kwhy_gpu_event *event = operation->event.event;

	pthread_mutex_lock(&event->monitor.lock);
	if (event->reached < operation->event.ticket) {
		event->reached = operation->event.ticket;
		event->reached_mono_ns = kwhy_clock_mono_ns();
	}
	pthread_cond_broadcast(&event->monitor.changed);
	pthread_mutex_unlock(&event->monitor.lock);
}

/* Waits until the point of the ticket-th call of event_record() has been reached. */
static void event_wait(struct kwhy_gpu_event *event, uint64_t ticket)
{
	pthread_mutex_lock(&event->monitor.lock);
	while (event->reached < ticket)
		pthread_cond_wait(&event->monitor.changed, &event->monitor.lock);
	pthread_mutex_unlock(&event->monitor.lock);
}

static void run_wait(const struct kwhy_gpu_host_operation *operation)
{
	event_wait(operation->event.event, operation->event.ticket);
}

static void drop_event(struct kwhy_gpu_host_operation *operation)
{
	event_drop(operation->event.event);
}

static uint64_t recorded(struct kwhy_gpu_event *event, uint64_t more)
{
	uint64_t ticket;

	pthread_mutex_lock(&event->monitor.lock);
	ticket = event->recorded += more;
	pthread_mutex_unlock(&event->monitor.lock);
	return ticket;
}

static enum kwhy_status refuse_recording(struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_UNSUPPORTED,
		"a graph of the host holds no events, waits and gates; end the recording before them");
}

enum kwhy_status kwhy_gpu_host_event_record(struct kwhy_gpu *gpu, struct kwhy_gpu_event *event,
	struct kwhy_gpu_stream *stream, struct kwhy_error *error)
{
	static const struct kwhy_gpu_host_verb verb = {.run = run_record, .drop = drop_event};
	struct kwhy_gpu_host_operation operation = {.verb = &verb, .event = {.event = event}};

	if (*kwhy_gpu_host_recording(gpu, stream))
		return refuse_recording(error);
	operation.event.ticket = recorded(event, 1);
	atomic_fetch_add(&event->holders, 1);
	return kwhy_gpu_host_queue(gpu, stream, &operation, error);
}

enum kwhy_status kwhy_gpu_host_stream_wait(struct kwhy_gpu *gpu, struct kwhy_gpu_stream *stream,
	const struct kwhy_gpu_event *event, struct kwhy_error *error)
{
	static const struct kwhy_gpu_host_verb verb = {.run = run_wait, .drop = drop_event};
	struct kwhy_gpu_event *held = (struct kwhy_gpu_event *)(uintptr_t)event;
	struct kwhy_gpu_host_operation operation = {.verb = &verb, .event = {.event = held}};

	if (*kwhy_gpu_host_recording(gpu, stream))
		return refuse_recording(error);
	operation.event.ticket = recorded(held, 0);
	atomic_fetch_add(&held->holders, 1);
	return kwhy_gpu_host_queue(gpu, stream, &operation, error);
}

enum kwhy_status kwhy_gpu_host_event_synchronize(
	struct kwhy_gpu *gpu, struct kwhy_gpu_event *event, struct kwhy_error *error)
{
	(void)gpu;
	(void)error;
	event_wait(event, recorded(event, 0));
	return KWHY_OK;
}

enum kwhy_status kwhy_gpu_host_event_reached(
	struct kwhy_gpu *gpu, struct kwhy_gpu_event *event, bool *out, struct kwhy_error *error)
{
	(void)gpu;
	(void)error;
	pthread_mutex_lock(&event->monitor.lock);
	*out = event->reached >= event->recorded;
	pthread_mutex_unlock(&event->monitor.lock);
	return KWHY_OK;
}

/*
 * Gets the time on CLOCK_MONOTONIC at which the point of the last event_record() was reached. false: it was
 * not reached yet or never recorded, or the event is not timed.
 */
static bool time_of(const struct kwhy_gpu_event *event, int64_t *out_mono_ns)
{
	struct kwhy_gpu_host_monitor *monitor = (struct kwhy_gpu_host_monitor *)(uintptr_t)&event->monitor;
	bool known;

	pthread_mutex_lock(&monitor->lock);
	known = event->timed && event->recorded > 0 && event->reached == event->recorded;
	*out_mono_ns = event->reached_mono_ns;
	pthread_mutex_unlock(&monitor->lock);
	return known;
}

enum kwhy_status kwhy_gpu_host_event_elapsed_ns(struct kwhy_gpu *gpu, const struct kwhy_gpu_event *start,
	const struct kwhy_gpu_event *end, double *out_ns, struct kwhy_error *error)
{
	int64_t start_mono_ns, end_mono_ns;

	(void)gpu;
	if (!time_of(start, &start_mono_ns) || !time_of(end, &end_mono_ns))
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"the host cannot tell the time between two events that are not timed or not reached; "
			"wait for both first");
	*out_ns = (double)(end_mono_ns - start_mono_ns);
	return KWHY_OK;
}

static void gate_drop(struct kwhy_gpu_gate *gate)
{
	if (atomic_fetch_sub(&gate->holders, 1) > 1)
		return;
	kwhy_gpu_host_monitor_done(&gate->monitor);
	free(gate);
}

/*
 * Opens a gate for all calls of gate_hold() so far. Returns whether the gate had opened by itself (after
 * GATE_LIMIT_NS) before.
 */
static bool open_all(struct kwhy_gpu_gate *gate)
{
	bool gave_up;

	pthread_mutex_lock(&gate->monitor.lock);
	gave_up = gate->gave_up;
	gate->gave_up = false;
	gate->opened = gate->holds;
	pthread_cond_broadcast(&gate->monitor.changed);
	pthread_mutex_unlock(&gate->monitor.lock);
	return gave_up;
}

void kwhy_gpu_host_gate_release(struct kwhy_gpu_host_owned *owned)
{
	struct kwhy_gpu_gate *gate = (struct kwhy_gpu_gate *)(void *)owned;

	kwhy_gpu_host_forget(owned);
	open_all(gate);
	gate_drop(gate);
}

enum kwhy_status kwhy_gpu_host_gate_new(
	struct kwhy_gpu *gpu, struct kwhy_gpu_gate **out, struct kwhy_error *error)
{
	struct kwhy_gpu_gate *gate = calloc(1, sizeof(*gate));

	if (!gate)
		return kwhy_fail_memory(error, "a gate");
	gate->limit_ns = GATE_LIMIT_NS;
	atomic_init(&gate->holders, 1);
	kwhy_gpu_host_monitor_init(&gate->monitor);
	kwhy_gpu_host_keep(gpu, &gate->owned, kwhy_gpu_host_gate_release);
	*out = gate;
	return KWHY_OK;
}

void kwhy_gpu_host_gate_free(struct kwhy_gpu *gpu, struct kwhy_gpu_gate *gate)
{
	(void)gpu;
	if (gate)
		kwhy_gpu_host_gate_release(&gate->owned);
}

static void run_hold(const struct kwhy_gpu_host_operation *operation)
{
	struct kwhy_gpu_gate *gate = operation->gate.gate;
	int64_t end_ns = kwhy_clock_mono_ns() + gate->limit_ns;
	struct timespec end = {.tv_sec = end_ns / 1000000000, .tv_nsec = end_ns % 1000000000};

	pthread_mutex_lock(&gate->monitor.lock);
	while (gate->opened < operation->gate.ticket)
		if (pthread_cond_timedwait(&gate->monitor.changed, &gate->monitor.lock, &end) == ETIMEDOUT &&
			gate->opened < operation->gate.ticket) {
			gate->gave_up = true;
			gate->opened = operation->gate.ticket;
		}
	pthread_mutex_unlock(&gate->monitor.lock);
}

static void drop_gate(struct kwhy_gpu_host_operation *operation)
{
	gate_drop(operation->gate.gate);
}

enum kwhy_status kwhy_gpu_host_gate_hold(struct kwhy_gpu *gpu, struct kwhy_gpu_gate *gate,
	struct kwhy_gpu_stream *stream, struct kwhy_error *error)
{
	static const struct kwhy_gpu_host_verb verb = {.run = run_hold, .drop = drop_gate};
	struct kwhy_gpu_host_operation operation = {.verb = &verb, .gate = {.gate = gate}};

	if (*kwhy_gpu_host_recording(gpu, stream))
		return refuse_recording(error);
	pthread_mutex_lock(&gate->monitor.lock);
	operation.gate.ticket = ++gate->holds;
	pthread_mutex_unlock(&gate->monitor.lock);
	atomic_fetch_add(&gate->holders, 1);
	return kwhy_gpu_host_queue(gpu, stream, &operation, error);
}

enum kwhy_status kwhy_gpu_host_gate_open(
	struct kwhy_gpu *gpu, struct kwhy_gpu_gate *gate, struct kwhy_error *error)
{
	(void)gpu;
	if (open_all(gate))
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"a gate had opened by itself after 10 s, so what was after it did not run alone; "
			"queue less after it");
	return KWHY_OK;
}

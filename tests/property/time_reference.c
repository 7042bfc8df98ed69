/* SPDX-License-Identifier: Apache-2.0 */
#include "property/time_reference.h"

#include <math.h>
#include <string.h>

enum { SYNC, LAUNCH, ALLOC, HOST, REASONS };

static bool on_device(const struct plan *plan, size_t activity, uint32_t device)
{
	return plan->stream_device[plan->activities[activity].stream] == device;
}

static bool runs(const struct plan *plan, size_t activity, uint32_t device, int64_t at_ns)
{
	return on_device(plan, activity, device) && plan->activities[activity].start_ns <= at_ns &&
		at_ns < plan->activities[activity].end_ns;
}

static size_t running(const struct plan *plan, uint32_t device, int64_t at_ns, unsigned kinds)
{
	size_t count = 0;

	for (size_t i = 0; i < plan->activity_count; i++)
		count += runs(plan, i, device, at_ns) && (kinds >> plan->activities[i].kind & 1);
	return count;
}

enum {
	COMPUTE = 1 << KWHY_ACTIVITY_KERNEL | 1 << KWHY_ACTIVITY_GRAPH,
	COLLECTIVE = 1 << KWHY_ACTIVITY_COLLECTIVE,
	COPY = 1 << KWHY_ACTIVITY_COPY,
	MEMSET = 1 << KWHY_ACTIVITY_MEMSET,
	ANY = COMPUTE | COLLECTIVE | COPY | MEMSET,
};

static int reason_of_class(enum kwhy_call_class class)
{
	switch (class) {
	case KWHY_CALL_SYNC:
	case KWHY_CALL_COPY:
		return SYNC;
	case KWHY_CALL_LAUNCH:
		return LAUNCH;
	case KWHY_CALL_ALLOC:
	case KWHY_CALL_FREE:
		return ALLOC;
	default:
		return HOST;
	}
}

/*
 * Returns why the host leaves the device idle at this time, going by the outermost call of the thread: the
 * one with the earliest start and, at equal starts, the latest end. Calls of class OTHER are ignored.
 */
static int thread_reason(const struct plan *plan, uint32_t thread, int64_t at_ns)
{
	const struct plan_call *outer = NULL;

	for (size_t i = 0; i < plan->call_count; i++) {
		const struct plan_call *call = &plan->calls[i];

		if (call->thread != thread || call->start_ns > at_ns || at_ns >= call->end_ns ||
			call->class == KWHY_CALL_OTHER)
			continue;
		if (!outer || call->start_ns < outer->start_ns ||
			(call->start_ns == outer->start_ns && call->end_ns > outer->end_ns))
			outer = call;
	}
	return outer ? reason_of_class(outer->class) : HOST;
}

static bool process_uses(const struct plan *plan, uint32_t process, uint32_t device)
{
	for (size_t i = 0; i < plan->stream_count; i++)
		if (plan->stream_process[i] == process && plan->stream_device[i] == device)
			return true;
	return false;
}

static int any_thread_reason(const struct plan *plan, uint32_t device, int64_t at_ns)
{
	static const int order[] = {LAUNCH, ALLOC, SYNC};

	for (size_t i = 0; i < 3; i++)
		for (uint32_t thread = 0; thread < plan->thread_count; thread++)
			if (process_uses(plan, plan->thread_process[thread], device) &&
				thread_reason(plan, thread, at_ns) == order[i])
				return order[i];
	return HOST;
}

/*
 * Whether activity `a` comes before `b` in the recording: by start, end and stream. Activities that are equal
 * in all three stay in the order of their numbers.
 */
static bool goes_before(const struct plan_activity *a, const struct plan_activity *b)
{
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns;
	if (a->end_ns != b->end_ns)
		return a->end_ns < b->end_ns;
	return a->stream < b->stream;
}

static const struct plan_activity *next_start(const struct plan *plan, uint32_t device, int64_t at_ns)
{
	const struct plan_activity *next = NULL;

	for (size_t i = 0; i < plan->activity_count; i++) {
		const struct plan_activity *activity = &plan->activities[i];

		if (on_device(plan, i, device) && activity->start_ns > at_ns &&
			(!next || goes_before(activity, next)))
			next = activity;
	}
	return next;
}

static int idle_reason(const struct plan *plan, uint32_t device, int64_t at_ns)
{
	const struct plan_activity *next = next_start(plan, device, at_ns);

	if (next->call == KWHY_NONE)
		return any_thread_reason(plan, device, at_ns);
	return thread_reason(plan, plan->calls[next->call].thread, at_ns);
}

/*
 * Returns whether an idle interval of the device begins at this idle nanosecond: an activity runs in the
 * nanosecond before it, or one of length 0 starts then.
 */
static bool gap_begins(const struct plan *plan, uint32_t device, int64_t at_ns)
{
	if (running(plan, device, at_ns - 1, ANY))
		return true;
	for (size_t i = 0; i < plan->activity_count; i++)
		if (on_device(plan, i, device) && plan->activities[i].start_ns == at_ns)
			return true;
	return false;
}

static void add_idle(struct kwhy_device_time *time, bool seen[REASONS], const struct plan *plan,
	uint32_t device, int64_t at_ns)
{
	int64_t *const reason_ns[REASONS] = {
		&time->sync_ns, &time->launch_ns, &time->alloc_ns, &time->host_ns};
	uint64_t *const reason_gaps[REASONS] = {
		&time->sync_gaps, &time->launch_gaps, &time->alloc_gaps, &time->host_gaps};
	int reason;

	time->idle_ns++;
	if (gap_begins(plan, device, at_ns)) {
		time->idle_gaps++;
		memset(seen, 0, REASONS * sizeof(*seen));
	}
	if (plan->call_count == 0)
		return;
	reason = idle_reason(plan, device, at_ns);
	++*reason_ns[reason];
	*reason_gaps[reason] += !seen[reason];
	seen[reason] = true;
}

static void add_busy(struct kwhy_device_time *time, const struct plan *plan, uint32_t device, int64_t at_ns)
{
	bool compute = running(plan, device, at_ns, COMPUTE), copy = running(plan, device, at_ns, COPY);
	bool collective = running(plan, device, at_ns, COLLECTIVE);
	bool set = running(plan, device, at_ns, MEMSET);
	size_t all = running(plan, device, at_ns, ANY);

	time->busy_ns++;
	time->overlap_ns += compute && (copy || collective);
	time->compute_ns += compute && !copy && !collective;
	time->collective_ns += !compute && collective;
	time->copy_ns += !compute && !collective && copy;
	time->memset_ns += set && !compute && !collective && !copy;
	time->kernel_union_ns += compute || collective;
	time->collective_union_ns += collective;
	time->collective_overlap_ns += compute && collective;
	time->copy_union_ns += copy;
	time->memset_union_ns += set;
	if (all > time->max_concurrency)
		time->max_concurrency = (uint32_t)all;
}

static void add_sums(struct kwhy_device_time *time, const struct plan *plan, uint32_t device)
{
	bool stream_seen[PLAN_STREAMS] = {0};

	for (size_t i = 0; i < plan->activity_count; i++) {
		const struct plan_activity *activity = &plan->activities[i];
		int64_t length_ns = activity->end_ns - activity->start_ns;
		unsigned kind = 1u << activity->kind;
		bool known = activity->bytes != KWHY_UNKNOWN_BYTES;

		if (!on_device(plan, i, device))
			continue;
		time->stream_count += !stream_seen[activity->stream];
		stream_seen[activity->stream] = true;
		time->kernel_count += (kind & (COMPUTE | COLLECTIVE)) != 0;
		time->kernel_total_ns += kind & (COMPUTE | COLLECTIVE) ? length_ns : 0;
		time->collective_count += (kind & COLLECTIVE) != 0;
		time->collective_total_ns += kind & COLLECTIVE ? length_ns : 0;
		time->copy_count += (kind & COPY) != 0;
		time->copy_total_ns += kind & COPY ? length_ns : 0;
		time->memset_count += (kind & MEMSET) != 0;
		time->memset_total_ns += kind & MEMSET ? length_ns : 0;
		time->memset_bytes += kind & MEMSET && known ? activity->bytes : 0;
		time->memset_unknown_bytes += kind & MEMSET && !known;
		time->graph_count += activity->kind == KWHY_ACTIVITY_GRAPH;
		time->small_h2d_count += kind & COPY && activity->copy_kind == KWHY_COPY_H2D && known &&
			activity->bytes < 4096;
	}
}

static bool find_span(const struct plan *plan, uint32_t device, struct kwhy_device_time *time)
{
	bool any = false;

	for (size_t i = 0; i < plan->activity_count; i++) {
		if (!on_device(plan, i, device))
			continue;
		if (!any || plan->activities[i].start_ns < time->first_ns)
			time->first_ns = plan->activities[i].start_ns;
		if (!any || plan->activities[i].end_ns > time->last_ns)
			time->last_ns = plan->activities[i].end_ns;
		any = true;
	}
	return any;
}

struct kwhy_device_time reference_time(const struct plan *plan, uint32_t device)
{
	struct kwhy_device_time time = {0};
	bool seen[REASONS] = {0};

	find_span(plan, device, &time);
	for (int64_t at_ns = time.first_ns; at_ns < time.last_ns; at_ns++)
		if (running(plan, device, at_ns, ANY))
			add_busy(&time, plan, device, at_ns);
		else
			add_idle(&time, seen, plan, device, at_ns);
	add_sums(&time, plan, device);
	time.span_ns = time.last_ns - time.first_ns;
	time.collective_exposed_ns = time.collective_union_ns - time.collective_overlap_ns;
	if (plan->call_count == 0)
		time.sync_ns = time.launch_ns = time.alloc_ns = time.host_ns = KWHY_UNKNOWN_NS;
	return time;
}

static bool stream_runs(const struct plan *plan, uint32_t stream, int64_t at_ns)
{
	for (size_t i = 0; i < plan->activity_count; i++)
		if (plan->activities[i].stream == stream && runs(plan, i, plan->stream_device[stream], at_ns))
			return true;
	return false;
}

struct kwhy_stream_sum reference_stream(const struct plan *plan, uint32_t stream)
{
	struct kwhy_stream_sum sum = {.stream = stream};

	for (int64_t at_ns = 0; at_ns < PLAN_END_NS; at_ns++) {
		bool alone = true;

		if (!stream_runs(plan, stream, at_ns))
			continue;
		for (uint32_t other = 0; other < plan->stream_count; other++)
			if (other != stream && plan->stream_device[other] == plan->stream_device[stream] &&
				stream_runs(plan, other, at_ns))
				alone = false;
		sum.busy_ns++;
		sum.alone_ns += alone;
	}
	return sum;
}

static bool launched_inside(const struct plan *plan, const struct plan_range *range, size_t activity)
{
	const struct plan_call *call;

	if (plan->activities[activity].call == KWHY_NONE)
		return false;
	call = &plan->calls[plan->activities[activity].call];
	if (call->start_ns < range->start_ns || call->start_ns >= range->end_ns)
		return false;
	if (range->thread == KWHY_NONE)
		return true;
	if (range->step)
		return plan->thread_process[call->thread] == plan->thread_process[range->thread];
	return call->thread == range->thread;
}

struct kwhy_range_sum reference_range(const struct plan *plan, uint32_t number)
{
	const struct plan_range *range = &plan->ranges[number];
	struct kwhy_range_sum sum = {0};

	for (size_t i = 0; i < plan->activity_count; i++) {
		if (!launched_inside(plan, range, i))
			continue;
		sum.activity_count++;
		sum.device_ns += plan->activities[i].end_ns - plan->activities[i].start_ns;
	}
	for (uint32_t device = 0; device < plan->device_count; device++) {
		if (range->thread != KWHY_NONE &&
			!process_uses(plan, plan->thread_process[range->thread], device))
			continue;
		for (int64_t at_ns = range->start_ns; at_ns < range->end_ns; at_ns++)
			sum.busy_ns += running(plan, device, at_ns, ANY) > 0;
	}
	return sum;
}

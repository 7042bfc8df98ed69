/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/rows.h"

#include "inject/probe/rows.h"
#include "inject/session.h"
#include "inject/state.h"
#include "inject/timed_lock.h"

/* Kind of range, numbered as in a recording (docs/formats/recording.md). */
enum { RANGE_USER = 1 };

#define CLOCK_EVERY_NS INT64_C(10000000000)

static struct kwhy_inject_state *const session = &kwhy_inject_state;

void kwhy_inject_write_ranges(void)
{
	struct kwhy_inject_range range;

	while (kwhy_inject_ranges_next(&session->memory->ranges, &range)) {
		const uint32_t name = kwhy_inject_label(&session->memory->labels, range.name);
		struct kwhy_wire_range *out = kwhy_block_writer_add(&session->writer, KWHY_WIRE_RANGE);

		if (out)
			*out = (struct kwhy_wire_range){.start_mono_ns = range.start_mono_ns,
				.end_mono_ns = range.end_mono_ns,
				.name = name,
				.thread = range.thread};
	}
}

void kwhy_inject_write_stacks(void)
{
	kwhy_stacks_write(&session->memory->stacks, &session->memory->nodes, &session->memory->labels);
}

void kwhy_inject_session_take_range(const char *name, int64_t start_mono_ns, int64_t end_mono_ns)
{
	struct kwhy_wire_range row = {.start_mono_ns = start_mono_ns,
		.end_mono_ns = end_mono_ns,
		.thread = KWHY_WIRE_UNKNOWN_U32,
		.kind = RANGE_USER};
	struct kwhy_wire_range *out;

	pthread_mutex_lock(&session->lock);
	if (atomic_load(&session->state) == KWHY_INJECT_ON) {
		row.name = kwhy_inject_label(&session->memory->labels, name);
		out = kwhy_block_writer_add(&session->writer, KWHY_WIRE_RANGE);
		if (out)
			*out = row;
	}
	pthread_mutex_unlock(&session->lock);
}

void kwhy_inject_write_lost(void)
{
	struct kwhy_inject_translate *translate = &session->memory->translate;
	const uint64_t records = session->dropped + translate->incomplete +
		kwhy_inject_ranges_take_lost(&session->memory->ranges);
	struct kwhy_wire_lost *out = records ? kwhy_block_writer_add(&session->writer, KWHY_WIRE_LOST) : NULL;

	session->dropped = translate->incomplete = 0;
	if (out)
		*out = (struct kwhy_wire_lost){.records = records, .reason = KWHY_WIRE_LOSS_DROPPED};
}

void kwhy_inject_write_costs(int64_t switch_ns, uint64_t switches)
{
	struct kwhy_block_writer *writer = &session->writer;

	kwhy_inject_fact_cost(writer, KWHY_WIRE_COST_THREAD, session->thread_cost_ns, session->ticks);
	kwhy_inject_fact_cost(writer, KWHY_WIRE_COST_BUFFERS, session->buffers_cost_ns, session->buffers);
	kwhy_inject_fact_cost(writer, KWHY_WIRE_COST_START, session->start_cost_ns, 0);
	kwhy_inject_fact_cost(writer, KWHY_WIRE_COST_SWITCH, switch_ns, switches);
}

void kwhy_inject_write_clock(int64_t now_mono_ns, int64_t switch_ns, uint64_t switches)
{
	if (session->last_clock_mono_ns && now_mono_ns - session->last_clock_mono_ns < CLOCK_EVERY_NS)
		return;
	session->last_clock_mono_ns = now_mono_ns;
	kwhy_inject_fact_clock(&session->writer);
	if (session->activity_start_mono_ns)
		kwhy_inject_write_costs(switch_ns, switches);
}

static bool needs_devices(void)
{
	bool needs;

	if (!kwhy_inject_timed_lock(&session->lock))
		return false;
	needs = !session->has_devices && atomic_load(&session->activity_state) != KWHY_INJECT_OFF;
	pthread_mutex_unlock(&session->lock);
	return needs;
}

void kwhy_inject_write_devices(void)
{
	struct kwhy_inject_device devices[KWHY_INJECT_DEVICES_MAX];
	int count;

	if (!needs_devices())
		return;
	count = kwhy_inject_devices_read(devices);
	if (!kwhy_inject_timed_lock(&session->lock))
		return;
	for (int i = 0; i < count && !session->has_devices; i++)
		kwhy_inject_fact_device(&session->memory->labels, &devices[i]);
	session->has_devices |= count > 0;
	pthread_mutex_unlock(&session->lock);
}

/*
 * Writes the coverage record of a window. The window is cut where records may be missing: where another
 * client took CUPTI over, or where the file became full.
 */
static void write_window(struct kwhy_inject_window window)
{
	if (atomic_load(&session->is_taken_over) && window.end_mono_ns > atomic_load(&session->ours_mono_ns))
		window.end_mono_ns = atomic_load(&session->ours_mono_ns);
	if (window.end_mono_ns > session->coverage_end_mono_ns)
		window.end_mono_ns = session->coverage_end_mono_ns;
	if (window.end_mono_ns < window.start_mono_ns && session->choice == KWHY_WIRE_CHOICE_ALL)
		window.end_mono_ns = window.start_mono_ns;
	if (window.end_mono_ns >= window.start_mono_ns)
		kwhy_inject_fact_coverage(&session->writer, &window, session->choice);
}

static bool has_space(void)
{
	bool has_space;

	if (!kwhy_inject_timed_lock(&session->lock))
		return false;
	has_space = !session->writer.full && !session->writer.failure;
	pthread_mutex_unlock(&session->lock);
	return has_space;
}

void kwhy_inject_write_windows(int64_t ended_by_mono_ns)
{
	struct kwhy_inject_window window;

	while (has_space() &&
		kwhy_inject_collection_take(&session->memory->collection, ended_by_mono_ns, &window)) {
		if (!kwhy_inject_timed_lock(&session->lock))
			return;
		if (atomic_load(&session->state) == KWHY_INJECT_ON)
			write_window(window);
		pthread_mutex_unlock(&session->lock);
	}
}

/*
 * If the file is full or writing failed, the coverage ends where the earliest record starts that was not
 * written.
 */
void kwhy_inject_write_gathered(void)
{
	struct kwhy_inject_translate *translate = &session->memory->translate;

	kwhy_block_writer_flush(&session->writer);
	if (!session->writer.full && !session->writer.failure)
		translate->earliest_mono_ns = INT64_MAX;
	else if (translate->earliest_mono_ns < session->coverage_end_mono_ns)
		session->coverage_end_mono_ns = translate->earliest_mono_ns;
}

bool kwhy_inject_is_full_now(int64_t now_mono_ns)
{
	if ((!session->writer.full && !session->writer.failure) || session->is_stopped)
		return false;
	session->is_stopped = true;
	if (now_mono_ns < session->coverage_end_mono_ns)
		session->coverage_end_mono_ns = now_mono_ns;
	return true;
}

/*
 * Time up to which all of CUPTI's records are known to have come: now_mono_ns or, if CUPTI withholds buffers
 * (is_withheld), the time of the last buffer that it returned.
 */
static int64_t known_until(int64_t now_mono_ns, bool is_withheld)
{
	return is_withheld && session->last_buffer_mono_ns < now_mono_ns ? session->last_buffer_mono_ns
									 : now_mono_ns;
}

void kwhy_inject_write_probed(bool is_end)
{
	struct kwhy_probe *probe = kwhy_probe_get();

	if (!probe)
		return;
	kwhy_probe_write_bursts(probe, &session->memory->labels);
	if (is_end)
		kwhy_probe_write_unprobed(probe, &session->memory->labels);
}

void kwhy_inject_write_end(int64_t now_mono_ns)
{
	/*
	 * A takeover of CUPTI by another client is usually noticed by its clock. Where CUPTI's clock does not
	 * show a takeover, buffers that CUPTI has written to but does not return are taken as a sign of one.
	 */
	const bool is_withheld = !session->activity.clock_tells &&
		kwhy_inject_pool_withheld(&session->activity.pool) > 0;
	const int64_t end_mono_ns = known_until(now_mono_ns, is_withheld);

	kwhy_inject_write_ranges();
	kwhy_inject_write_stacks();
	kwhy_inject_write_lost();
	kwhy_inject_write_probed(true);
	kwhy_inject_fact_clock(&session->writer);
	if (is_withheld || atomic_load(&session->is_taken_over))
		kwhy_inject_fact_note(&session->memory->labels, "activity-taken-over",
			"Another profiler inside the program took over CUPTI's records: what ran after that "
			"is not recorded.");
	kwhy_inject_write_gathered();
	if (end_mono_ns < session->coverage_end_mono_ns)
		session->coverage_end_mono_ns = end_mono_ns;
	/* Records of coverage are written even to a file that has reached its size limit. */
	session->writer.full = false;
	session->writer.limit_bytes = 0;
	if (session->activity_start_mono_ns)
		kwhy_inject_fact_selection(&session->memory->labels, &session->options,
			session->activity_start_mono_ns, now_mono_ns);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/collector.h"

#include "base/c_locale.h"

#include "inject/probe/progress.h"
#include "inject/rows.h"
#include "inject/session.h"
#include "inject/state.h"
#include "inject/timed_lock.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

#define STACK_BYTES ((size_t)256 << 10)
#define STACK_MAX_BYTES ((size_t)1 << 30)
/*
 * If this many records of launches came without one record of a call since the last switch, CUPTI is assumed
 * not to record calls. Fewer are normal, because the recording of kernels is switched on before that of calls
 * and off after it.
 */
enum { LAUNCHES_WITHOUT_CALL = 16 };

static struct kwhy_inject_state *const session = &kwhy_inject_state;

_Thread_local bool kwhy_inject_is_own_thread;

/*
 * Whether CUPTI still records for kwhy. Once another client has taken it over, that is stored in the session
 * and the result stays false.
 */
static bool see_whether_ours(void)
{
	const int64_t now_mono_ns = kwhy_clock_mono_ns();

	if (!kwhy_inject_activity_is_ours(&session->activity))
		atomic_store(&session->is_taken_over, true);
	if (atomic_load(&session->is_taken_over))
		return false;
	atomic_store(&session->ours_mono_ns, now_mono_ns);
	return true;
}

/*
 * Whether kernels but no calls were recorded since collection was last switched on. Returns false while
 * another thread is writing records, because waiting for that thread would delay the program, which is
 * opening a range.
 */
static bool are_calls_missing(void)
{
	const struct kwhy_inject_translate *translate = &session->memory->translate;
	bool are_missing;

	if (pthread_mutex_trylock(&session->lock))
		return false;
	are_missing = translate->called == session->called_before &&
		translate->launched - session->launched_before >= LAUNCHES_WITHOUT_CALL;
	session->launched_before = translate->launched;
	session->called_before = translate->called;
	pthread_mutex_unlock(&session->lock);
	return are_missing;
}

/*
 * Leaves CUPTI as it is if another client has taken it over, and at the program's end: switching takes long,
 * and libraries that CUPTI needs may be unloaded during it.
 */
int64_t kwhy_inject_collector_switch(void *context, bool is_on)
{
	(void)context;
	if (!atomic_load(&session->is_ending) && see_whether_ours()) {
		if (is_on && are_calls_missing())
			kwhy_inject_activity_give_up_single_calls(&session->activity);
		kwhy_inject_activity_switch(&session->activity, is_on);
	}
	return kwhy_clock_mono_ns();
}

/*
 * Only one thread at a time flushes: at the end of the program, records that another thread is still
 * receiving would be lost. A thread that waited for the flush at the end of the program then calls CUPTI no
 * more, because the libraries that CUPTI needs are being unloaded.
 */
uint64_t kwhy_inject_collector_flush(bool forced)
{
	uint64_t dropped = 0;
	bool is_locked;

	if (atomic_load(&session->activity_state) != KWHY_INJECT_ON)
		return 0;
	is_locked = kwhy_inject_timed_lock(&session->flushes);
	if (forced || !atomic_load(&session->is_ending)) {
		see_whether_ours();
		kwhy_inject_activity_flush(&session->activity, forced);
		dropped = kwhy_inject_activity_dropped(&session->activity);
	}
	if (is_locked)
		pthread_mutex_unlock(&session->flushes);
	return dropped;
}

/*
 * Writes what has been gathered since the last flush: ranges, stacks, losses (`dropped` by CUPTI), costs and
 * clocks. Returns true if the file is full, so that collection must end.
 */
static bool write_flush(int64_t now_mono_ns, uint64_t dropped)
{
	int64_t switch_ns;
	uint64_t switches;
	bool is_full = false;

	if (!kwhy_inject_collection_cost(&session->memory->collection, &switch_ns, &switches))
		return false;
	pthread_mutex_lock(&session->lock);
	if (atomic_load(&session->state) == KWHY_INJECT_ON) {
		session->dropped += dropped;
		session->ticks++;
		if (kwhy_inject_is_own_thread)
			session->thread_cost_ns = kwhy_clock_thread_cpu_ns();
		kwhy_inject_write_ranges();
		kwhy_inject_write_stacks();
		kwhy_inject_write_lost();
		kwhy_inject_write_probed(false);
		kwhy_inject_write_clock(now_mono_ns, switch_ns, switches);
		kwhy_inject_write_gathered();
		is_full = kwhy_inject_is_full_now(now_mono_ns);
	}
	pthread_mutex_unlock(&session->lock);
	if (kwhy_probe_get())
		kwhy_probe_progress_tell(kwhy_probe_get(), now_mono_ns);
	return is_full;
}

void kwhy_inject_session_flush(int64_t now_mono_ns)
{
	const int64_t settled_mono_ns = now_mono_ns - 2 * session->options.period_ms * INT64_C(1000000);
	uint64_t dropped = 0;

	if (atomic_load(&session->state) != KWHY_INJECT_ON)
		return;
	kwhy_inject_write_devices();
	if (!kwhy_inject_collection_is_idle(&session->memory->collection, now_mono_ns))
		dropped = kwhy_inject_collector_flush(false);
	kwhy_inject_write_windows(settled_mono_ns);
	if (write_flush(now_mono_ns, dropped))
		kwhy_inject_collection_end(&session->memory->collection, now_mono_ns);
}

static void *run(void *unused)
{
	KWHY_C_LOCALE;
	const int64_t period_ns = session->options.period_ms * INT64_C(1000000);
	int64_t next_flush_ns = kwhy_clock_mono_ns() + period_ns, next_ns, now_ns;

	(void)unused;
	kwhy_inject_is_own_thread = true;
	kwhy_stacks_leave_thread_out();
	while (atomic_load(&session->state) == KWHY_INJECT_ON) {
		now_ns = kwhy_clock_mono_ns();
		next_ns = kwhy_inject_collection_advance(&session->memory->collection, now_ns);
		session->clock.sleep_until(
			session->clock.context, next_ns < next_flush_ns ? next_ns : next_flush_ns);
		now_ns = kwhy_clock_mono_ns();
		if (now_ns < next_flush_ns)
			continue;
		kwhy_inject_session_flush(now_ns);
		next_flush_ns = kwhy_clock_mono_ns() + period_ns;
	}
	return NULL;
}

/*
 * Starts the session's thread. A thread's stack also holds the thread-local data of the program and its
 * libraries. If they do not fit into STACK_BYTES, the default stack size is tried, and then doubled until
 * they fit or STACK_MAX_BYTES is passed.
 */
static bool start_thread(pthread_attr_t *attributes)
{
	size_t bytes = STACK_BYTES;
	int result;

	pthread_attr_getstacksize(attributes, &bytes);
	pthread_attr_setstacksize(attributes, STACK_BYTES);
	result = pthread_create(&session->thread, attributes, run, NULL);
	for (; result == EINVAL && bytes <= STACK_MAX_BYTES;
		bytes *= 2) { /* EINVAL: the stack is too small for the thread-local data */
		pthread_attr_setstacksize(attributes, bytes);
		result = pthread_create(&session->thread, attributes, run, NULL);
	}
	return result == 0;
}

/*
 * Starts the thread with all signals blocked, because signals belong to the program. If the thread cannot
 * start, buffers are written only when CUPTI returns full ones and at the end, so more records may be lost.
 */
void kwhy_inject_collector_start(void)
{
	pthread_attr_t attributes;
	sigset_t all, before;

	sigfillset(&all);
	if (pthread_attr_init(&attributes))
		return;
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (start_thread(&attributes)) {
		pthread_setname_np(session->thread, "kwhy");
		atomic_store(&session->has_thread, true);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
}

/*
 * Waits at most two seconds for the end of the thread: if it is in a call of the driver, which is about to be
 * unloaded, it may never end.
 */
void kwhy_inject_collector_stop(void)
{
	const struct timespec latest = kwhy_inject_lock_deadline();

	if (!atomic_exchange(&session->has_thread, false))
		return;
	session->clock.wake(session->clock.context);
	pthread_timedjoin_np(session->thread, NULL, &latest);
}

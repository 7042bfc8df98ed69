/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/session.h"

#include "base/settle.h"
#include "inject/collector.h"
#include "inject/probe/probe.h"
#include "inject/rows.h"
#include "inject/state.h"
#include "inject/timed_lock.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

/*
 * The file's descriptor gets at least the number DESCRIPTOR_MIN. Some programs expect low numbers for their
 * own descriptors, and close or reuse descriptors that they have not opened.
 */
enum { FILES_OF_ONE_PID = 100, DESCRIPTOR_MIN = 500 };

struct kwhy_inject_state kwhy_inject_state = {.begins = PTHREAD_MUTEX_INITIALIZER,
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.flushes = PTHREAD_MUTEX_INITIALIZER};

static struct kwhy_inject_state *const session = &kwhy_inject_state;

/*
 * CUPTI calls it to get an empty buffer, on any thread, including the program's. *out_buffer NULL: there is
 * none, and CUPTI drops records. *out_most_records 0: no limit.
 */
static void on_buffer_wanted(uint8_t **out_buffer, size_t *out_bytes, size_t *out_most_records)
{
	*out_buffer = kwhy_inject_pool_take(&session->activity.pool);
	*out_bytes = *out_buffer ? session->activity.pool.bytes : 0;
	*out_most_records = 0;
}

/*
 * Takes the session's lock to write the records of a buffer that CUPTI has returned. Waits as long as
 * necessary, but returns false if the recording has ended, or if the program is ending and the lock is not
 * free within two seconds.
 */
static bool lock_for_buffer(void)
{
	while (atomic_load(&session->state) == KWHY_INJECT_ON) {
		if (kwhy_inject_timed_lock(&session->lock))
			return true;
		if (atomic_load(&session->is_ending))
			return false;
	}
	return false;
}

static void take_buffer(uint8_t *buffer, size_t valid_bytes)
{
	const int64_t before_ns = kwhy_clock_thread_cpu_ns();

	if (!lock_for_buffer())
		return;
	if (atomic_load(&session->state) == KWHY_INJECT_ON) {
		kwhy_inject_translate_buffer(&session->memory->translate, buffer, valid_bytes);
		session->last_buffer_mono_ns = kwhy_clock_mono_ns();
		session->buffers++;
		if (!kwhy_inject_is_own_thread)
			session->buffers_cost_ns += kwhy_clock_thread_cpu_ns() - before_ns;
	}
	pthread_mutex_unlock(&session->lock);
}

static void on_buffer_done(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid_bytes)
{
	struct kwhy_inject_pool *pool = &session->activity.pool;

	(void)context, (void)stream, (void)bytes;
	if (valid_bytes > pool->bytes || !kwhy_inject_pool_take_back(pool, buffer))
		return;
	take_buffer(buffer, valid_bytes);
	kwhy_inject_pool_give(pool, buffer, valid_bytes);
}

/* Writes the costs and the END record, and closes the file. */
static void close_file(int64_t started_mono_ns)
{
	const int64_t now_mono_ns = kwhy_clock_mono_ns();
	int64_t switch_ns;
	uint64_t switches;

	if (!kwhy_inject_collection_cost(&session->memory->collection, &switch_ns, &switches) ||
		!kwhy_inject_timed_lock(&session->lock))
		return;
	if (atomic_load(&session->state) == KWHY_INJECT_ON) {
		if (session->activity_start_mono_ns)
			kwhy_inject_write_costs(switch_ns, switches);
		kwhy_inject_fact_cost(
			&session->writer, KWHY_WIRE_COST_FINISH, now_mono_ns - started_mono_ns, 0);
		kwhy_block_writer_finish(&session->writer, now_mono_ns);
		kwhy_block_writer_close(&session->writer);
		atomic_store(&session->state, KWHY_INJECT_ENDED);
	}
	pthread_mutex_unlock(&session->lock);
}

/*
 * At the end of the program, waits for KWHY_SETTLE_SHOWN_NS while its context still exists, so that a meter
 * shows the idle power with a context (docs/adr/0027). Many programs end right after their work, and without
 * a context the idle power is different.
 */
static void let_devices_settle(void)
{
	if (session->choice != KWHY_WIRE_CHOICE_ALL ||
		atomic_load(&session->activity_state) != KWHY_INJECT_ON || !kwhy_inject_has_context())
		return;
	kwhy_settle(KWHY_SETTLE_SHOWN_NS);
}

/* Writes CUPTI's remaining records and the coverage, and closes the file with its END record. */
static void end_file(void)
{
	int64_t now_mono_ns;
	uint64_t dropped;

	kwhy_inject_write_devices();
	now_mono_ns = kwhy_clock_mono_ns();
	if (!kwhy_inject_collection_end(&session->memory->collection, now_mono_ns))
		return;
	dropped = kwhy_inject_collector_flush(true);
	if (!kwhy_inject_timed_lock(&session->lock))
		return;
	session->dropped += dropped;
	kwhy_inject_write_end(now_mono_ns);
	pthread_mutex_unlock(&session->lock);
	kwhy_inject_write_windows(INT64_MAX);
	close_file(now_mono_ns);
}

/*
 * Ends the recording at the end of the program (atexit()). If one of the session's locks is not free within
 * two seconds, neither the driver nor CUPTI is called, because the lock's holder may be inside a call of
 * these libraries. The file then lacks its END record, but all that was written before can be read.
 */
static void finish(void)
{
	bool can_end;

	kwhy_probe_stop();
	kwhy_stacks_begin(NULL);
	if (atomic_load(&session->state) != KWHY_INJECT_ON)
		return;
	can_end = kwhy_inject_lock_becomes_free(&session->lock) &&
		kwhy_inject_lock_becomes_free(&session->memory->collection.lock);
	if (can_end)
		let_devices_settle();
	atomic_store(&session->is_ending, true);
	if (can_end)
		end_file();
	atomic_store(&session->state, KWHY_INJECT_ENDED);
	kwhy_inject_collector_stop();
}

/*
 * Runs in a child of fork, which has only one thread and locks in unknown states. It resets the session, so
 * that a new recording begins at the child's first call of kwhy_inject_session_begin().
 */
static void on_fork_child(void)
{
	kwhy_probe_forget();
	kwhy_stacks_begin(NULL);
	if (atomic_load(&session->state) == KWHY_INJECT_ON)
		kwhy_block_writer_close(&session->writer);
	atomic_store(&session->state, KWHY_INJECT_OFF);
	atomic_store(&session->activity_state, KWHY_INJECT_OFF);
	pthread_mutex_init(&session->begins, NULL);
	pthread_mutex_init(&session->lock, NULL);
	pthread_mutex_init(&session->flushes, NULL);
	session->clock = kwhy_clock_system_init(&session->sleeper);
	atomic_store(&session->has_thread, false);
	session->activity.runs = false;
	session->activity.pool = (struct kwhy_inject_pool){0};
	session->memory = NULL;
}

/*
 * Replaces a descriptor by one of at least DESCRIPTOR_MIN for the same file, and returns it; the old one, if
 * the process's limit allows no such number.
 */
static int move_high(int file)
{
	const int high = fcntl(file, F_DUPFD_CLOEXEC, DESCRIPTOR_MIN);

	if (high < 0)
		return file;
	close(file);
	return high;
}

/*
 * Creates HOST-PID.blocks in the recording's folder and returns its descriptor; -1: it cannot. If there is
 * such a file already, as after exec(), a number is added to the name.
 */
static int open_file(void)
{
	char host[256], path[sizeof(kwhy_inject_state.options.folder) + 300];

	kwhy_inject_host(host, sizeof(host));
	for (int i = 1; i <= FILES_OF_ONE_PID; i++) {
		char number[16] = "";
		int file;

		if (i > 1)
			snprintf(number, sizeof(number), "-%d", i);
		snprintf(path, sizeof(path), "%s/%s-%ld%s.blocks", session->options.folder, host,
			(long)getpid(), number);
		file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
		if (file >= 0)
			return move_high(file);
	}
	return -1;
}

/*
 * Initialises the session's state for a new recording with the given memory: in a child of fork, the state is
 * still that of the parent process's recording.
 */
static void reset(struct kwhy_inject_memory *memory)
{
	const struct kwhy_clock_relation relation = kwhy_clock_relate();
	const struct kwhy_inject_plan plan = kwhy_inject_plan_of(&session->options, &relation);

	session->memory = memory;
	session->choice = kwhy_inject_choice(&session->options);
	kwhy_inject_collection_init(
		&memory->collection, &plan, session->options.range, kwhy_inject_collector_switch, NULL);
	session->coverage_end_mono_ns = memory->translate.earliest_mono_ns = INT64_MAX;
	session->activity_start_mono_ns = session->last_buffer_mono_ns = session->last_clock_mono_ns = 0;
	session->dropped = session->ticks = session->buffers = 0;
	session->launched_before = session->called_before = 0;
	session->start_cost_ns = session->thread_cost_ns = session->buffers_cost_ns = 0;
	session->has_devices = session->is_stopped = false;
	atomic_store(&session->is_taken_over, false);
	atomic_store(&session->is_ending, false);
	atomic_store(&session->ours_mono_ns, 0);
}

static bool prepare(void)
{
	struct kwhy_inject_memory *memory;
	uint64_t id;
	int file;

	if (!kwhy_inject_options_read(&session->options, secure_getenv))
		return false;
	if (getrandom(&id, sizeof(id), 0) != sizeof(id))
		id = (uint64_t)kwhy_clock_unix_ns() ^ (uint64_t)getpid() << 40;
	memory = kwhy_inject_pool_memory(sizeof(*memory));
	if (!memory)
		return false;
	file = open_file();
	if (file < 0) {
		munmap(memory, sizeof(*memory));
		return false;
	}
	reset(memory);
	kwhy_block_writer_init(&session->writer, file, id, memory->shares, KWHY_INJECT_SHARE_BYTES);
	session->writer.limit_bytes = session->options.limit_bytes;
	kwhy_inject_labels_init(&memory->labels, &session->writer);
	memory->translate.writer = &session->writer;
	memory->translate.labels = &memory->labels;
	memory->translate.cupti = &session->activity.cupti;
	return true;
}

static void register_handlers(void)
{
	if (session->has_handlers)
		return;
	session->has_handlers = true;
	session->clock = kwhy_clock_system_init(&session->sleeper);
	atexit(finish);
	pthread_atfork(NULL, NULL, on_fork_child);
}

/*
 * Begins the recording. If that fails, the state becomes KWHY_INJECT_ENDED, so that later calls of
 * kwhy_inject_session_begin() do not try again.
 */
static void begin(int64_t now_mono_ns)
{
	if (!prepare()) {
		atomic_store(&session->state, KWHY_INJECT_ENDED);
		return;
	}
	kwhy_inject_fact_process(&session->memory->labels, secure_getenv, now_mono_ns);
	kwhy_inject_write_clock(now_mono_ns, 0, 0);
	kwhy_block_writer_flush(&session->writer);
	atomic_store(&session->state, KWHY_INJECT_ON);
	register_handlers();
	kwhy_inject_collector_start();
}

bool kwhy_inject_session_begin(void)
{
	const int64_t now_mono_ns = kwhy_clock_mono_ns();

	/*
	 * The lock `begins` must not be taken here again: at its start CUPTI loads libraries that use NVTX,
	 * which calls this function on the thread that holds the lock.
	 */
	if (atomic_load(&session->state) != KWHY_INJECT_OFF)
		return atomic_load(&session->state) == KWHY_INJECT_ON;
	pthread_mutex_lock(&session->begins);
	if (atomic_load(&session->state) == KWHY_INJECT_OFF)
		begin(now_mono_ns);
	pthread_mutex_unlock(&session->begins);
	return atomic_load(&session->state) == KWHY_INJECT_ON;
}

static void note_refusal(const struct kwhy_error *error)
{
	char text[900];

	snprintf(text, sizeof(text), "Activity is not recorded, only power: %s.", error->text);
	kwhy_inject_fact_note(&session->memory->labels, "no-activity", text);
}

/* Starts the prober if KWHY_PROBE is 1. If that fails, a note in the recording says why. */
static void start_probe(void)
{
	const char *refusal = kwhy_probe_start(&session->activity.cupti, secure_getenv);
	char text[400];

	pthread_mutex_lock(&session->lock);
	if (kwhy_probe_get())
		session->memory->translate.accounts = &kwhy_probe_get()->accounts;
	if (refusal) {
		snprintf(text, sizeof(text), "Kernels were not probed: %s.", refusal);
		kwhy_inject_fact_note(&session->memory->labels, "not-probed", text);
	}
	pthread_mutex_unlock(&session->lock);
}

/*
 * Starts the collection of activity. The driver calls it while it initialises, so CUPTI may be called here,
 * but not the driver.
 */
static void start_activity(void)
{
	struct kwhy_error error;
	const int64_t now_mono_ns = kwhy_clock_mono_ns();
	const enum kwhy_status status = kwhy_inject_activity_start(
		&session->activity, &session->options, on_buffer_wanted, on_buffer_done, &error);

	if (!status &&
		(session->options.kinds & (KWHY_INJECT_LINE | KWHY_INJECT_CALL)) ==
			(KWHY_INJECT_LINE | KWHY_INJECT_CALL))
		kwhy_stacks_begin(&session->memory->stacks);
	if (!status)
		kwhy_inject_collection_begin(&session->memory->collection, now_mono_ns);
	pthread_mutex_lock(&session->lock);
	if (status) {
		note_refusal(&error);
	} else {
		session->memory->translate.offset_ns = session->activity.offset_ns;
		session->activity_start_mono_ns = now_mono_ns;
		session->start_cost_ns = kwhy_clock_mono_ns() - now_mono_ns;
		kwhy_inject_fact_selection(
			&session->memory->labels, &session->options, now_mono_ns, INT64_MAX);
	}
	kwhy_block_writer_flush(&session->writer);
	pthread_mutex_unlock(&session->lock);
	session->clock.wake(session->clock.context);
}

void kwhy_inject_session_begin_activity(void)
{
	pthread_mutex_lock(&session->begins);
	if (atomic_load(&session->state) == KWHY_INJECT_ON &&
		atomic_load(&session->activity_state) == KWHY_INJECT_OFF) {
		start_activity();
		if (session->activity.runs)
			start_probe();
		atomic_store(&session->activity_state, KWHY_INJECT_ON);
	}
	pthread_mutex_unlock(&session->begins);
}

struct kwhy_inject_ranges *kwhy_inject_session_ranges(void)
{
	if (atomic_load_explicit(&session->state, memory_order_acquire) != KWHY_INJECT_ON ||
		!(session->options.kinds & KWHY_INJECT_RANGE))
		return NULL;
	return &session->memory->ranges;
}

struct kwhy_inject_collection *kwhy_inject_session_collection(void)
{
	return kwhy_inject_session_ranges() && session->options.range[0] ? &session->memory->collection
									 : NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/session.h"

#include "base/clock.h"
#include "inject/activity.h"
#include "inject/facts.h"
#include "inject/translate.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

enum { OFF, ON, ENDED };
enum { SHARE_BYTES = 256 << 10, FILES_OF_ONE_PID = 100, STACK_BYTES = 256 << 10 };
#define CLOCK_EVERY_NS INT64_C(10000000000)

/* What is too large for a static: made when a recording begins. */
struct memory {
	struct kwhy_inject_labels labels;
	struct kwhy_inject_translate translate;
	struct kwhy_inject_ranges ranges;
	struct kwhy_inject_device devices[KWHY_INJECT_DEVICES_MOST];
	unsigned char shares[KWHY_BLOCK_WRITER_BYTES(SHARE_BYTES)];
};

static struct {
	pthread_mutex_t begins; /* one thread begins; may be held while CUPTI is called */
	pthread_mutex_t lock;	/* of the writer and all that writes; never held while a library is called */
	atomic_int state, activity_state;
	struct kwhy_inject_options options;
	struct kwhy_inject_activity activity;
	struct kwhy_block_writer writer;
	struct memory *memory;
	int64_t activity_start_mono_ns, coverage_end_mono_ns, last_buffer_mono_ns, last_clock_mono_ns;
	int64_t ours_mono_ns; /* when CUPTI was last seen to be ours */
	uint64_t dropped;     /* not yet said */
	bool has_devices, has_handlers, is_stopped, is_taken_over;
} session = {.begins = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER};

/* CUPTI asks on any thread, the program's among them. */
static void on_buffer_wanted(uint8_t **out_buffer, size_t *out_bytes, size_t *out_most_records)
{
	*out_buffer = kwhy_inject_pool_take(&session.activity.pool);
	*out_bytes = *out_buffer ? session.activity.pool.bytes : 0;
	*out_most_records = 0;
}

static void on_buffer_done(void *context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid_bytes)
{
	struct kwhy_inject_pool *pool = &session.activity.pool;

	(void)context, (void)stream, (void)bytes;
	if (!kwhy_inject_pool_owns(pool, buffer) || valid_bytes > pool->bytes)
		return;
	pthread_mutex_lock(&session.lock);
	if (atomic_load(&session.state) == ON) {
		kwhy_inject_translate_buffer(&session.memory->translate, buffer, valid_bytes);
		session.last_buffer_mono_ns = kwhy_clock_mono_ns();
	}
	pthread_mutex_unlock(&session.lock);
	kwhy_inject_pool_give(pool, buffer, valid_bytes);
}

static void write_ranges(void)
{
	struct kwhy_inject_range range;

	while (kwhy_inject_ranges_next(&session.memory->ranges, &range)) {
		const uint32_t name = kwhy_inject_label(&session.memory->labels, range.name);
		struct kwhy_wire_range *out = kwhy_block_writer_add(&session.writer, KWHY_WIRE_RANGE);

		if (out)
			*out = (struct kwhy_wire_range){.start_mono_ns = range.start_mono_ns,
				.end_mono_ns = range.end_mono_ns,
				.name = name,
				.thread = range.thread};
	}
}

static void write_lost(void)
{
	struct kwhy_inject_translate *translate = &session.memory->translate;
	const uint64_t records = session.dropped + translate->incomplete +
		kwhy_inject_ranges_take_lost(&session.memory->ranges);
	struct kwhy_wire_lost *out = records ? kwhy_block_writer_add(&session.writer, KWHY_WIRE_LOST) : NULL;

	session.dropped = translate->incomplete = 0;
	if (out)
		*out = (struct kwhy_wire_lost){.records = records, .reason = KWHY_WIRE_LOSS_DROPPED};
}

static void write_clock(int64_t now_mono_ns)
{
	if (session.last_clock_mono_ns && now_mono_ns - session.last_clock_mono_ns < CLOCK_EVERY_NS)
		return;
	session.last_clock_mono_ns = now_mono_ns;
	kwhy_inject_fact_clock(&session.writer);
}

/* Once a process uses CUDA, its devices: read without the lock, for the driver may be calling us meanwhile.
 */
static void write_devices(void)
{
	struct kwhy_inject_device *devices = session.memory->devices;
	int count;

	if (session.has_devices || atomic_load(&session.activity_state) == OFF)
		return;
	count = kwhy_inject_devices_read(devices);
	pthread_mutex_lock(&session.lock);
	for (int i = 0; i < count && !session.has_devices; i++)
		kwhy_inject_fact_device(&session.memory->labels, &devices[i]);
	session.has_devices |= count > 0;
	pthread_mutex_unlock(&session.lock);
}

/* Writes what is gathered. What a file that takes no more has lost began no earlier than the coverage ends.
 */
static void write_all(void)
{
	struct kwhy_inject_translate *translate = &session.memory->translate;

	kwhy_block_writer_flush(&session.writer);
	if (!session.writer.full && !session.writer.failure)
		translate->earliest_mono_ns = INT64_MAX;
	else if (translate->earliest_mono_ns < session.coverage_end_mono_ns)
		session.coverage_end_mono_ns = translate->earliest_mono_ns;
}

/* A file that takes no more needs no more records: whether CUPTI is to be told so now. */
static bool is_full_now(int64_t now_mono_ns)
{
	if ((!session.writer.full && !session.writer.failure) || session.is_stopped)
		return false;
	session.is_stopped = true;
	if (now_mono_ns < session.coverage_end_mono_ns)
		session.coverage_end_mono_ns = now_mono_ns;
	return true;
}

/* Lets CUPTI hand over what it has; gives how many records it dropped. */
static uint64_t flush_activity(bool forced)
{
	const int64_t now_mono_ns = kwhy_clock_mono_ns();
	bool is_ours;

	if (atomic_load(&session.activity_state) != ON)
		return 0;
	is_ours = kwhy_inject_activity_is_ours(&session.activity);
	pthread_mutex_lock(&session.lock);
	session.is_taken_over |= !is_ours;
	if (!session.is_taken_over)
		session.ours_mono_ns = now_mono_ns;
	pthread_mutex_unlock(&session.lock);
	kwhy_inject_activity_flush(&session.activity, forced);
	return kwhy_inject_activity_dropped(&session.activity);
}

void kwhy_inject_session_tick(int64_t now_mono_ns)
{
	bool is_full = false;
	uint64_t dropped;

	if (atomic_load(&session.state) != ON)
		return;
	write_devices();
	dropped = flush_activity(false);
	pthread_mutex_lock(&session.lock);
	if (atomic_load(&session.state) == ON) {
		session.dropped += dropped;
		write_ranges();
		write_lost();
		write_clock(now_mono_ns);
		write_all();
		is_full = is_full_now(now_mono_ns);
	}
	pthread_mutex_unlock(&session.lock);
	if (is_full)
		kwhy_inject_activity_stop(&session.activity);
}

static void *run(void *unused)
{
	const struct timespec period = {.tv_sec = session.options.period_ms / 1000,
		.tv_nsec = (long)(session.options.period_ms % 1000) * 1000000};

	(void)unused;
	while (atomic_load(&session.state) == ON) {
		clock_nanosleep(CLOCK_MONOTONIC, 0, &period, NULL);
		kwhy_inject_session_tick(kwhy_clock_mono_ns());
	}
	return NULL;
}

/* The thread takes no signal: those are the program's. Without a thread what is lost is more, not the whole.
 */
static void start_thread(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	sigset_t all, before;

	sigfillset(&all);
	if (pthread_attr_init(&attributes))
		return;
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&thread, &attributes, run, NULL) == 0)
		pthread_setname_np(thread, "kwhy");
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
}

/* What a writer says of coverage: only what it knows to be whole. */
static void write_coverage(int64_t end_mono_ns)
{
	struct kwhy_wire_coverage *out;

	if (!session.activity_start_mono_ns)
		return;
	if (session.coverage_end_mono_ns < end_mono_ns)
		end_mono_ns = session.coverage_end_mono_ns;
	if (end_mono_ns < session.activity_start_mono_ns)
		end_mono_ns = session.activity_start_mono_ns;
	out = kwhy_block_writer_add(&session.writer, KWHY_WIRE_COVERAGE);
	if (out)
		*out = (struct kwhy_wire_coverage){.start_mono_ns = session.activity_start_mono_ns,
			.end_mono_ns = end_mono_ns,
			.device = -1};
}

static void write_end(int64_t now_mono_ns)
{
	const bool is_withheld = kwhy_inject_pool_withheld(&session.activity.pool) > 0;
	int64_t end_mono_ns = now_mono_ns;

	if (session.is_taken_over)
		end_mono_ns = session.ours_mono_ns;
	if (is_withheld && session.last_buffer_mono_ns < end_mono_ns)
		end_mono_ns = session.last_buffer_mono_ns;
	write_ranges();
	write_lost();
	kwhy_inject_fact_clock(&session.writer);
	if (is_withheld || session.is_taken_over)
		kwhy_inject_fact_note(&session.memory->labels, "activity-taken-over",
			"Another profiler inside the program took CUPTI's records over: what ran from then "
			"on is not "
			"recorded.");
	write_all();
	/* A recording that reached its limit still says what it covers. */
	session.writer.full = false;
	session.writer.limit_bytes = 0;
	write_coverage(end_mono_ns);
	kwhy_block_writer_finish(&session.writer, now_mono_ns);
	close(session.writer.fd);
}

void kwhy_inject_session_finish(void)
{
	int64_t now_mono_ns;
	uint64_t dropped;

	if (atomic_load(&session.state) != ON)
		return;
	write_devices();
	now_mono_ns = kwhy_clock_mono_ns();
	dropped = flush_activity(true);
	pthread_mutex_lock(&session.lock);
	if (atomic_load(&session.state) == ON) {
		session.dropped += dropped;
		write_end(now_mono_ns);
		atomic_store(&session.state, ENDED);
	}
	pthread_mutex_unlock(&session.lock);
}

/* A child of fork has one thread and none of our promises: it begins anew when it needs to. */
static void on_fork_child(void)
{
	if (atomic_load(&session.state) == ON)
		close(session.writer.fd);
	atomic_store(&session.state, OFF);
	atomic_store(&session.activity_state, OFF);
	pthread_mutex_init(&session.begins, NULL);
	pthread_mutex_init(&session.lock, NULL);
	session.activity.runs = false;
	session.activity.pool = (struct kwhy_inject_pool){0};
	session.memory = NULL;
}

/* HOST-PID.blocks; with a number where the process has one already, as after exec. */
static int open_file(void)
{
	char host[256], path[sizeof(session.options.folder) + 300];

	kwhy_inject_host(host, sizeof(host));
	for (int i = 1; i <= FILES_OF_ONE_PID; i++) {
		char number[16] = "";
		int file;

		if (i > 1)
			snprintf(number, sizeof(number), "-%d", i);
		snprintf(path, sizeof(path), "%s/%s-%ld%s.blocks", session.options.folder, host,
			(long)getpid(), number);
		file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
		if (file >= 0)
			return file;
	}
	return -1;
}

static bool prepare(void)
{
	struct memory *memory;
	uint64_t id;
	int file;

	if (!kwhy_inject_options_read(&session.options, getenv))
		return false;
	if (getrandom(&id, sizeof(id), 0) != sizeof(id))
		id = (uint64_t)kwhy_clock_unix_ns() ^ (uint64_t)getpid() << 40;
	memory = kwhy_inject_pool_memory(sizeof(*memory));
	file = memory ? open_file() : -1;
	if (file < 0)
		return false;
	session.memory = memory;
	kwhy_block_writer_init(&session.writer, file, id, memory->shares, SHARE_BYTES);
	session.writer.limit_bytes = session.options.limit_bytes;
	kwhy_inject_labels_init(&memory->labels, &session.writer);
	memory->translate.writer = &session.writer;
	memory->translate.labels = &memory->labels;
	memory->translate.cupti = &session.activity.cupti;
	memory->translate.earliest_mono_ns = session.coverage_end_mono_ns = INT64_MAX;
	session.activity_start_mono_ns = 0;
	session.last_buffer_mono_ns = session.last_clock_mono_ns = 0;
	session.has_devices = session.is_stopped = session.is_taken_over = false;
	session.ours_mono_ns = 0;
	return true;
}

static void register_handlers(void)
{
	if (session.has_handlers)
		return;
	session.has_handlers = true;
	atexit(kwhy_inject_session_finish);
	pthread_atfork(NULL, NULL, on_fork_child);
}

bool kwhy_inject_session_begin(void)
{
	const int64_t now_mono_ns = kwhy_clock_mono_ns();

	/* Asked for again while CUPTI starts, on the same thread, too: libraries that it loads use NVTX. */
	if (atomic_load(&session.state) == ON)
		return true;
	pthread_mutex_lock(&session.begins);
	if (atomic_load(&session.state) == OFF && prepare()) {
		kwhy_inject_fact_process(&session.memory->labels, getenv, now_mono_ns);
		write_clock(now_mono_ns);
		kwhy_block_writer_flush(&session.writer);
		atomic_store(&session.state, ON);
		register_handlers();
		start_thread();
	}
	pthread_mutex_unlock(&session.begins);
	return atomic_load(&session.state) == ON;
}

/* On a thread that the driver has called: CUPTI may be called, the driver not. */
static void start_activity(void)
{
	struct kwhy_error error;
	const int64_t now_mono_ns = kwhy_clock_mono_ns();
	const enum kwhy_status status = kwhy_inject_activity_start(
		&session.activity, &session.options, on_buffer_wanted, on_buffer_done, &error);
	char text[900];

	pthread_mutex_lock(&session.lock);
	if (status) {
		snprintf(text, sizeof(text), "Activity is not recorded, only power: %s.", error.text);
		kwhy_inject_fact_note(&session.memory->labels, "no-activity", text);
	} else {
		session.memory->translate.offset_ns = session.activity.offset_ns;
		session.memory->translate.all_calls = session.activity.all_calls;
		session.activity_start_mono_ns = now_mono_ns;
	}
	kwhy_block_writer_flush(&session.writer);
	pthread_mutex_unlock(&session.lock);
}

void kwhy_inject_session_begin_activity(void)
{
	pthread_mutex_lock(&session.begins);
	if (atomic_load(&session.state) == ON && atomic_load(&session.activity_state) == OFF) {
		start_activity();
		atomic_store(&session.activity_state, ON);
	}
	pthread_mutex_unlock(&session.begins);
}

struct kwhy_inject_ranges *kwhy_inject_session_ranges(void)
{
	if (atomic_load_explicit(&session.state, memory_order_acquire) != ON ||
		!(session.options.kinds & KWHY_INJECT_RANGE))
		return NULL;
	return &session.memory->ranges;
}

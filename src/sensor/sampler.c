/* SPDX-License-Identifier: Apache-2.0 */
#include "sensor/sampler.h"

#include "base/c_locale.h"

#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#define RELATE_PERIOD_NS INT64_C(1000000000)
#define DRIFT_MIN_NS INT64_C(10000000000)

/*
 * The kernel slews Unix time and CLOCK_MONOTONIC alike, so the offset between them stays. If it changes by
 * more than this and the uncertainties of both readings of it, Unix time was set.
 */
#define STEP_MIN_NS INT64_C(1000000)

/*
 * Values that any thread may read while the sampler's thread writes them. Each value is atomic. The last
 * three fields, which are the relation of Unix time to CLOCK_MONOTONIC, must be read together: `turn` shows
 * whether they are from one write (a sequence lock).
 */
struct published {
	_Atomic int64_t running_ns, cpu_ns, longest_read_ns, step_ns, stepped_ns;
	_Atomic uint64_t reads, missed;
	_Atomic uint64_t turn; /* is odd while the relation is being written */
	_Atomic int64_t mono_ns, offset_ns, width_ns;
};

struct kwhy_sampler {
	struct kwhy_sensors *sensors;
	struct kwhy_clock_sleeper sleeper;
	struct kwhy_clock clock;
	int64_t *due_mono_ns; /* next deadline of each task, on CLOCK_MONOTONIC */
	int64_t relate_mono_ns, started_mono_ns;
	/*
	 * relations of Unix time to CLOCK_MONOTONIC at the start and when last read; only the sampler's
	 * thread uses `last`
	 */
	struct kwhy_clock_relation first, last;
	struct published published;
	pthread_t thread;
	/*
	 * held by the thread that is in kwhy_sampler_flush(), so that one flush runs at a time; never locked
	 * by the sampler's thread
	 */
	pthread_mutex_t flushing;
	sem_t flushed;
	atomic_bool flush_wanted, stop_wanted;
};

static int64_t now_ns(const struct kwhy_sampler *sampler)
{
	return sampler->clock.now_mono_ns(sampler->clock.context);
}

static void raise_to(_Atomic int64_t *most, int64_t value)
{
	if (value > atomic_load_explicit(most, memory_order_relaxed))
		atomic_store_explicit(most, value, memory_order_relaxed);
}

static void publish_relation(struct published *out, const struct kwhy_clock_relation *relation)
{
	atomic_fetch_add_explicit(&out->turn, 1, memory_order_acq_rel);
	atomic_store_explicit(&out->mono_ns, relation->mono_ns, memory_order_release);
	atomic_store_explicit(&out->offset_ns, relation->offset_ns, memory_order_release);
	atomic_store_explicit(&out->width_ns, relation->width_ns, memory_order_release);
	atomic_fetch_add_explicit(&out->turn, 1, memory_order_release);
}

static struct kwhy_clock_relation read_relation(const struct published *published)
{
	struct kwhy_clock_relation relation;
	uint64_t turn;

	do {
		turn = atomic_load_explicit(&published->turn, memory_order_acquire);
		relation.mono_ns = atomic_load_explicit(&published->mono_ns, memory_order_acquire);
		relation.offset_ns = atomic_load_explicit(&published->offset_ns, memory_order_acquire);
		relation.width_ns = atomic_load_explicit(&published->width_ns, memory_order_acquire);
	} while (turn % 2 || turn != atomic_load_explicit(&published->turn, memory_order_acquire));
	return relation;
}

/*
 * Reads the relation of the clocks. A change of more than STEP_MIN_NS since the last reading counts as a step
 * (the clock was set), not as drift.
 */
static void relate(struct kwhy_sampler *sampler)
{
	struct kwhy_clock_relation now = sampler->clock.relate(sampler->clock.context);
	int64_t change = now.offset_ns - sampler->last.offset_ns, size = change < 0 ? -change : change;

	if (size > STEP_MIN_NS + now.width_ns + sampler->last.width_ns) {
		raise_to(&sampler->published.step_ns, size);
		atomic_fetch_add_explicit(&sampler->published.stepped_ns, change, memory_order_relaxed);
	}
	sampler->last = now;
	publish_relation(&sampler->published, &now);
	sampler->relate_mono_ns = now.mono_ns + RELATE_PERIOD_NS;
}

/*
 * The task's first deadline after `now`. Deadlines are period_ns apart, and `due_ns` is the one for which the
 * task has just run. Deadlines after `due_ns` and up to `now` are counted as missed.
 */
static int64_t next_on_grid(struct kwhy_sampler *sampler, int64_t due_ns, int64_t period_ns, int64_t now)
{
	int64_t late = now - due_ns, skipped = late > 0 ? late / period_ns : 0;

	if (skipped > 0)
		atomic_fetch_add_explicit(
			&sampler->published.missed, (uint64_t)skipped, memory_order_relaxed);
	return due_ns + (skipped + 1) * period_ns;
}

/*
 * Runs a task and returns the time at which the task wants to be run next; 0: one period later.
 * *out_after_ns: the time at which the task ended.
 */
static int64_t run_task(struct kwhy_sampler *sampler, size_t i, int64_t *out_after_ns)
{
	const struct kwhy_sensor_task *task = &sampler->sensors->tasks[i];
	int64_t before = now_ns(sampler);
	int64_t asked = task->read(task->state, task->argument, before);

	*out_after_ns = now_ns(sampler);
	raise_to(&sampler->published.longest_read_ns, *out_after_ns - before);
	atomic_fetch_add_explicit(&sampler->published.reads, 1, memory_order_relaxed);
	return asked;
}

static void run_due(struct kwhy_sampler *sampler, size_t i)
{
	int64_t *due = &sampler->due_mono_ns[i], after;
	int64_t asked = run_task(sampler, i, &after);

	if (asked > after)
		*due = asked;
	else
		*due = next_on_grid(
			sampler, asked ? asked : *due, sampler->sensors->tasks[i].period_ns, after);
}

/* Runs a task before its deadline. The deadline does not change, unless the task returns an earlier time. */
static void run_early(struct kwhy_sampler *sampler, size_t i)
{
	int64_t *due = &sampler->due_mono_ns[i], after;
	int64_t asked = run_task(sampler, i, &after);

	if (asked > after && asked < *due)
		*due = asked;
}

/* Runs the tasks whose deadline has come; with `all`, every task. */
static void run_tasks(struct kwhy_sampler *sampler, bool all)
{
	for (size_t i = 0; i < sampler->sensors->task_count; i++)
		if (now_ns(sampler) >= sampler->due_mono_ns[i])
			run_due(sampler, i);
		else if (all)
			run_early(sampler, i);
	if (all || now_ns(sampler) >= sampler->relate_mono_ns)
		relate(sampler);
}

static int64_t earliest_due(const struct kwhy_sampler *sampler)
{
	int64_t earliest = sampler->relate_mono_ns;

	for (size_t i = 0; i < sampler->sensors->task_count; i++)
		if (sampler->due_mono_ns[i] < earliest)
			earliest = sampler->due_mono_ns[i];
	return earliest;
}

static void publish_cost(struct kwhy_sampler *sampler)
{
	struct published *out = &sampler->published;

	atomic_store_explicit(
		&out->running_ns, now_ns(sampler) - sampler->started_mono_ns, memory_order_relaxed);
	atomic_store_explicit(&out->cpu_ns, kwhy_clock_thread_cpu_ns(), memory_order_relaxed);
}

static void *run(void *argument)
{
	KWHY_C_LOCALE;
	struct kwhy_sampler *sampler = argument;
	bool stop, flush;

	do {
		stop = atomic_load_explicit(&sampler->stop_wanted, memory_order_acquire);
		flush = atomic_exchange_explicit(&sampler->flush_wanted, false, memory_order_acq_rel);
		run_tasks(sampler, stop || flush);
		publish_cost(sampler);
		if (flush)
			sem_post(&sampler->flushed);
		if (!stop)
			sampler->clock.sleep_until(sampler->clock.context, earliest_due(sampler));
	} while (!stop);
	return NULL;
}

/* Creates the thread with all signals blocked, so that signals are delivered to threads of the program. */
static int create_thread(struct kwhy_sampler *sampler)
{
	sigset_t all, before;
	int result;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	result = pthread_create(&sampler->thread, NULL, run, sampler);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (result == 0)
		pthread_setname_np(sampler->thread, "kwhy-sampler");
	return result;
}

static void release(struct kwhy_sampler *sampler)
{
	pthread_mutex_destroy(&sampler->flushing);
	sem_destroy(&sampler->flushed);
	free(sampler->due_mono_ns);
	free(sampler);
}

static void set_start(struct kwhy_sampler *sampler)
{
	sampler->started_mono_ns = now_ns(sampler);
	sampler->first = sampler->last = sampler->clock.relate(sampler->clock.context);
	sampler->relate_mono_ns = sampler->started_mono_ns + RELATE_PERIOD_NS;
	publish_relation(&sampler->published, &sampler->first);
	for (size_t i = 0; i < sampler->sensors->task_count; i++)
		sampler->due_mono_ns[i] = sampler->started_mono_ns;
}

enum kwhy_status kwhy_sampler_start(struct kwhy_sensors *sensors, const struct kwhy_clock *clock,
	struct kwhy_sampler **out, struct kwhy_error *error)
{
	struct kwhy_sampler *sampler = calloc(1, sizeof(*sampler));

	if (!sampler)
		return kwhy_fail_memory(error, "the sampler");
	sampler->sensors = sensors;
	sampler->clock = kwhy_clock_system_init(&sampler->sleeper);
	if (clock)
		sampler->clock = *clock;
	pthread_mutex_init(&sampler->flushing, NULL);
	sem_init(&sampler->flushed, 0, 0);
	sampler->due_mono_ns = calloc(sensors->task_count + 1, sizeof(*sampler->due_mono_ns));
	if (!sampler->due_mono_ns) {
		release(sampler);
		return kwhy_fail_memory(error, "the sampler");
	}
	set_start(sampler);
	if (create_thread(sampler)) {
		release(sampler);
		return kwhy_fail(error, KWHY_E_IO,
			"the system starts no further thread for reading meters; raise `ulimit -u`");
	}
	*out = sampler;
	return KWHY_OK;
}

static void wait_flushed(struct kwhy_sampler *sampler)
{
	while (sem_wait(&sampler->flushed))
		continue; /* a signal interrupted the wait */
}

void kwhy_sampler_flush(struct kwhy_sampler *sampler)
{
	pthread_mutex_lock(&sampler->flushing);
	atomic_store_explicit(&sampler->flush_wanted, true, memory_order_release);
	sampler->clock.wake(sampler->clock.context);
	wait_flushed(sampler);
	pthread_mutex_unlock(&sampler->flushing);
}

/*
 * Drift of the clocks against each other: the change of their offset since the start, without steps, divided
 * by the time since the start. NAN: too little time has passed.
 */
static double drift_of(const struct kwhy_sampler *sampler, const struct kwhy_clock_relation *last)
{
	int64_t length_ns = last->mono_ns - sampler->first.mono_ns;
	int64_t stepped_ns = atomic_load_explicit(&sampler->published.stepped_ns, memory_order_relaxed);

	if (length_ns < DRIFT_MIN_NS)
		return NAN;
	return (double)(last->offset_ns - sampler->first.offset_ns - stepped_ns) / (double)length_ns;
}

void kwhy_sampler_cost(const struct kwhy_sampler *sampler, struct kwhy_sampler_cost *out)
{
	const struct published *published = &sampler->published;
	struct kwhy_clock_relation last = read_relation(published);

	*out = (struct kwhy_sampler_cost){
		.started_mono_ns = sampler->started_mono_ns,
		.running_ns = atomic_load_explicit(&published->running_ns, memory_order_relaxed),
		.cpu_ns = atomic_load_explicit(&published->cpu_ns, memory_order_relaxed),
		.reads = atomic_load_explicit(&published->reads, memory_order_relaxed),
		.missed = atomic_load_explicit(&published->missed, memory_order_relaxed),
		.longest_read_ns = atomic_load_explicit(&published->longest_read_ns, memory_order_relaxed),
		.first = sampler->first,
		.last = last,
		.drift_ratio = drift_of(sampler, &last),
		.step_ns = atomic_load_explicit(&published->step_ns, memory_order_relaxed),
	};
}

void kwhy_sampler_stop(struct kwhy_sampler *sampler, struct kwhy_sampler_cost *out)
{
	atomic_store_explicit(&sampler->stop_wanted, true, memory_order_release);
	sampler->clock.wake(sampler->clock.context);
	pthread_join(sampler->thread, NULL);
	if (out)
		kwhy_sampler_cost(sampler, out);
	release(sampler);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/transfers/sweep.h"

#include "base/clock.h"
#include "base/quantity.h"
#include "base/random.h"
#include "base/text.h"
#include "bench/transfers/cpus.h"
#include "bench/transfers/energy.h"
#include "bench/transfers/measure.h"
#include "bench/transfers/sensors.h"
#include "bench/transfers/store.h"
#include "gpu/numa.h"
#include "launch/stop.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	BATCH_SAMPLES = 2,
	/*
	 * Minimum number of visits of a point, unless it has spent more than ENOUGH_S. Samples of one visit
	 * resemble each other; drift shows only between visits.
	 */
	BATCHES_MIN = 80,
	RESTS_MAX = 40,
	WARM_UPS = 8,
	HISTORY_S = 30
};

/* in ns: a visit (one batch of samples of a point) that has lasted this long takes no further sample */
#define BATCH_NS INT64_C(2000000)
/* in ns: warm-up transfers are repeated until this time has passed */
#define WARM_NS INT64_C(200000)
/* in seconds: after a visit that took longer, a point is left out of the next rounds */
#define EXPENSIVE_S 0.0005
/*
 * in seconds: a point whose interval is narrow enough is finished if its visits took longer in all, even if
 * they were fewer than BATCHES_MIN
 */
#define ENOUGH_S 0.03
/*
 * A point that has its minimum of samples is finished, even with a wide interval, when its visits took more
 * than this share of request->time_s.
 */
#define POINT_SHARE (1.0 / 200)

struct sweep {
	const struct kwhy_bench_request *request;
	struct kwhy_transfers *transfers;
	struct kwhy_bench_plan plan;
	struct kwhy_gpu *gpu;
	struct kwhy_bench_buffers *buffers;
	struct kwhy_bench_sensors sensors;
	struct kwhy_bench_cpus cpus;
	struct kwhy_bench_store *store; /* files to which samples are written; NULL: samples are only returned
					   in `transfers` */
	int64_t start_ns, end_ns;	/* start and end of the time budget, on CLOCK_MONOTONIC */
	size_t closed;
	uint64_t random; /* state of the random numbers that give the offsets of the bytes in their buffers */
};

static bool is_narrow(const struct kwhy_transfer_point *point)
{
	return point->sample_count >= KWHY_BENCH_SAMPLES_MIN &&
		kwhy_bench_point_width(point) <= KWHY_BENCH_WIDTH_RATIO;
}

/* Whether a point needs no further visit. Sets its `capped` if its interval is still wider than wanted. */
static bool is_done(const struct sweep *sweep, struct kwhy_bench_task *task)
{
	struct kwhy_transfer_point *point = task->point;

	point->capped = false;
	if (point->sample_count < KWHY_BENCH_SAMPLES_MIN)
		return false;
	if (is_narrow(point))
		return task->batches >= BATCHES_MIN || task->spent_s > ENOUGH_S;
	point->capped = true;
	return point->sample_count == KWHY_TRANSFER_SAMPLES_MAX ||
		task->spent_s > sweep->request->time_s * POINT_SHARE;
}

/* Whether a point of the same transfer, timed by this or another clock, was verified. */
static bool was_verified(const struct sweep *sweep, const struct kwhy_transfer_point *point)
{
	for (size_t i = 0; i < sweep->transfers->point_count; i++) {
		const struct kwhy_transfer_point *other = &sweep->transfers->points[i];

		if (other->verified && other->strategy == point->strategy &&
			other->direction == point->direction && other->bytes == point->bytes &&
			other->pieces == point->pieces)
			return true;
	}
	return false;
}

/*
 * Runs transfers for WARM_NS, at most WARM_UPS, before samples are taken: the thread may just have moved to
 * another CPU, whose caches are cold.
 */
static enum kwhy_status warm_up(struct kwhy_bench_work *work, struct kwhy_error *error)
{
	int64_t end_ns = kwhy_clock_mono_ns() + WARM_NS;
	enum kwhy_status status = kwhy_bench_warm_up(work, error);

	for (int i = 1; !status && i < WARM_UPS && kwhy_clock_mono_ns() < end_ns; i++)
		status = kwhy_bench_warm_up(work, error);
	return status;
}

static enum kwhy_status take_samples(
	struct kwhy_bench_work *work, struct kwhy_transfer_point *point, struct kwhy_error *error)
{
	int64_t start_ns = kwhy_clock_mono_ns();
	enum kwhy_status status = KWHY_OK;

	for (int i = 0; !status && i < BATCH_SAMPLES; i++) {
		if (point->sample_count == KWHY_TRANSFER_SAMPLES_MAX ||
			(i > 0 && kwhy_clock_mono_ns() - start_ns > BATCH_NS))
			break;
		status = kwhy_bench_sample(work, point->clock, &point->samples_s[point->sample_count], error);
		if (!status)
			point->sample_count++;
	}
	return status;
}

static enum kwhy_status verify(
	struct kwhy_bench_work *work, struct kwhy_transfer_point *point, struct kwhy_error *error)
{
	bool same = true;
	enum kwhy_status status = work->strategy->verify ? work->strategy->verify(work, &same, error)
							 : KWHY_OK;

	if (status)
		return status;
	if (!same)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"%s, %s, %llu bytes: the received bytes differ from those sent; the link or the "
			"driver of this machine is not to be trusted",
			point->strategy, kwhy_transfer_direction_name(point->direction),
			(unsigned long long)point->bytes);
	point->verified = true;
	return KWHY_OK;
}

/*
 * Visits a point: warms up, takes samples and, unless the same transfer has been verified, verifies it. For
 * that, the sinks are overwritten before the warm-up and compared with the pattern after the samples. *out_s
 * receives the seconds of the visit, without the time for verifying and for making buffers, which happens
 * only once.
 */
static enum kwhy_status measure_point(
	struct sweep *sweep, struct kwhy_bench_task *task, double *out_s, struct kwhy_error *error)
{
	struct kwhy_transfer_point *point = task->point;
	struct kwhy_bench_work work;
	enum kwhy_status status = kwhy_bench_work_begin(sweep->buffers, task->strategy, point, &work, error);
	int64_t start_ns;
	bool verifies;

	if (status)
		return status;
	if (!point->verified)
		point->verified = was_verified(sweep, point);
	verifies = !point->verified;
	status = verifies ? kwhy_bench_spoil_sinks(&work, error) : KWHY_OK;
	start_ns = kwhy_clock_mono_ns();
	if (!status)
		status = warm_up(&work, error);
	if (!status)
		status = take_samples(&work, point, error);
	*out_s = (double)(kwhy_clock_mono_ns() - start_ns) * 1e-9;
	if (!status && verifies)
		status = verify(&work, point, error);
	point->link_bytes = work.link_bytes;
	kwhy_bench_work_end(&work);
	return status;
}

static void close_task(struct sweep *sweep, struct kwhy_bench_task *task)
{
	sweep->closed += !task->closed;
	task->closed = true;
}

/*
 * Finishes, for lack of memory, all points that have no samples yet and have the strategy, size and number of
 * pieces of the task `without`. tell_shortages() reports `error` as the reason after the last round.
 */
static enum kwhy_status leave_size_out(
	struct sweep *sweep, const struct kwhy_bench_task *without, struct kwhy_error *error)
{
	const char *shortage = kwhy_arena_copy(&sweep->transfers->arena, error->text);

	if (!shortage)
		return kwhy_fail_memory(error, "what a benchmark lacks");
	for (size_t i = 0; i < sweep->plan.count; i++) {
		struct kwhy_bench_task *task = &sweep->plan.tasks[i];

		if (task->strategy != without->strategy || task->point->bytes != without->point->bytes ||
			task->point->pieces != without->point->pieces || task->point->sample_count)
			continue;
		task->shortage = shortage;
		close_task(sweep, task);
	}
	return KWHY_OK;
}

static void add_size(struct kwhy_text *list, const struct kwhy_transfer_point *point)
{
	const uint32_t pieces = point->pieces > 1 ? point->pieces : 1;
	char bytes[KWHY_QUANTITY_BYTES], count[KWHY_QUANTITY_BYTES];

	kwhy_text_addf(list, "%s%s%s%s", list->length ? ", " : "",
		pieces > 1 ? kwhy_quantity_count(count, pieces) : "", pieces > 1 ? " x " : "",
		kwhy_quantity_count(bytes, point->bytes / pieces));
}

/*
 * Makes the text "not at 1,048,576, 2,097,152 bytes: ...", with all sizes that the strategy of tasks[first]
 * was left out at and the reason for the first; NULL: out of memory.
 */
static const char *list_shortages(struct sweep *sweep, size_t first)
{
	const struct kwhy_bench_task *tasks = sweep->plan.tasks;
	const struct kwhy_transfer_point *last = NULL;
	struct kwhy_text list = {0};
	const char *kept;

	for (size_t i = first; i < sweep->plan.count; i++) {
		const struct kwhy_transfer_point *point = tasks[i].point;

		if (tasks[i].strategy != tasks[first].strategy || !tasks[i].shortage ||
			(last && last->bytes == point->bytes && last->pieces == point->pieces))
			continue;
		add_size(&list, point);
		last = point;
	}
	kept = list.failed ? NULL
			   : kwhy_arena_printf(&sweep->transfers->arena, "not at %s bytes: %s", list.data,
				     tasks[first].shortage);
	kwhy_text_done(&list);
	return kept;
}

/*
 * Adds to the absences an entry for each strategy that lacked memory at some sizes. In the plan, tasks of one
 * strategy follow each other in ascending order of size.
 */
static enum kwhy_status tell_shortages(struct sweep *sweep, struct kwhy_error *error)
{
	const struct kwhy_bench_strategy *reported = NULL;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < sweep->plan.count; i++) {
		const struct kwhy_bench_task *task = &sweep->plan.tasks[i];
		const char *words;

		if (!task->shortage || task->strategy == reported)
			continue;
		reported = task->strategy;
		words = list_shortages(sweep, i);
		status = words ? kwhy_transfers_add_absence(sweep->transfers, reported->id, words, error)
			       : kwhy_fail_memory(error, "what a benchmark lacks");
	}
	return status;
}

/*
 * Finishes all points of a strategy that this machine cannot run, and adds the reason in `error` to the
 * absences.
 */
static enum kwhy_status leave_out(
	struct sweep *sweep, const struct kwhy_bench_strategy *strategy, struct kwhy_error *error)
{
	for (size_t i = 0; i < sweep->plan.count; i++)
		if (sweep->plan.tasks[i].strategy == strategy)
			close_task(sweep, &sweep->plan.tasks[i]);
	return kwhy_transfers_add_absence(sweep->transfers, strategy->id, error->text, error);
}

/*
 * After a visit of took_s seconds, an expensive point skips took_s / EXPENSIVE_S rounds, at most RESTS_MAX.
 * Unless that limit applies, each point thus takes at most EXPENSIVE_S seconds per round on average, and
 * cheap points are visited often. After its first visit, a point skips `number` modulo (1 + that many) rounds
 * instead, where `number` is its index in the plan, so that expensive points do not all return in the same
 * round.
 */
static void rest(struct kwhy_bench_task *task, double took_s, uint32_t number)
{
	task->rests = (uint32_t)fmin(took_s / EXPENSIVE_S, RESTS_MAX);
	if (task->batches == 0)
		task->rests = number % (task->rests + 1);
}

static double cpu_now(void)
{
	int cpu = sched_getcpu();

	return cpu < 0 ? NAN : cpu;
}

static enum kwhy_status batch(struct sweep *sweep, struct kwhy_bench_task *task, struct kwhy_error *error)
{
	struct kwhy_transfer_point *point = task->point;
	size_t before = point->sample_count, taken;
	int64_t start_ns = kwhy_clock_mono_ns();
	double took_s = 0;
	enum kwhy_status status, kept;
	struct kwhy_error other;
	struct kwhy_transfer_moment moment = {.at_s = (double)(start_ns - sweep->start_ns) * 1e-9};

	kwhy_bench_cpus_next(&sweep->cpus);
	moment.cpu = cpu_now();
	sweep->buffers->places = point->verified ? kwhy_random_next(&sweep->random) : 0;
	status = measure_point(sweep, task, &took_s, error);
	sweep->buffers->places = 0;
	if (status == KWHY_E_UNSUPPORTED && point->sample_count == 0)
		return leave_out(sweep, task->strategy, error);
	if (status == KWHY_E_MEMORY && point->sample_count == 0)
		return leave_size_out(sweep, task, error);
	if (status == KWHY_E_MEMORY) { /* samples that were taken while memory still sufficed are kept */
		close_task(sweep, task);
		return KWHY_OK;
	}
	if (!(task->first_s > 0))
		task->first_s = (double)(kwhy_clock_mono_ns() - start_ns) * 1e-9;
	task->last_s = took_s;
	taken = point->sample_count - before;
	for (size_t i = before; i < point->sample_count; i++)
		point->moments[i] = moment;
	/*
	 * conditions is a mean over visits. Its weight, the number of earlier visits, is estimated: each is
	 * assumed to have taken as many samples as this one.
	 */
	kwhy_bench_conditions_fold(&sweep->sensors, taken ? before / taken : before, &point->conditions);
	kwhy_bench_point_sum_up(point);
	task->spent_s += took_s;
	rest(task, took_s, (uint32_t)(task - sweep->plan.tasks));
	task->batches++;
	kept = sweep->store ? kwhy_bench_store_add(sweep->store, point, before, status ? &other : error)
			    : KWHY_OK;
	task->closed = is_done(sweep, task);
	sweep->closed += task->closed;
	return status ? status : kept;
}

static void tell(const struct sweep *sweep, const char *what)
{
	if (sweep->request->progress)
		sweep->request->progress(sweep->request->context, what,
			(double)sweep->closed / (double)(sweep->plan.count ? sweep->plan.count : 1));
}

/* Whether the time budget ends within the next `more_s` seconds. */
static bool is_over(const struct sweep *sweep, double more_s)
{
	return kwhy_clock_mono_ns() + (int64_t)(more_s * 1e9) > sweep->end_ns;
}

static enum kwhy_status run_round(
	struct sweep *sweep, const size_t *order, bool *out_late, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && !*out_late && i < sweep->plan.count; i++) {
		struct kwhy_bench_task *task = &sweep->plan.tasks[order[i]];
		double foreseen_s;

		if (task->closed)
			continue;
		if (task->rests > 0) {
			task->rests--;
			continue;
		}
		foreseen_s = kwhy_bench_task_foreseen_s(&sweep->plan, task);
		*out_late = foreseen_s > 0 && is_over(sweep, foreseen_s);
		if (*out_late)
			break;
		tell(sweep, task->strategy->id);
		status = kwhy_stop_check(error);
		if (!status)
			status = batch(sweep, task, error);
		*out_late = is_over(sweep, 0);
	}
	return status;
}

/*
 * Sets transfers->ended_early to a text that says how many points have no samples, or intervals that are too
 * wide, because the time was over. If there are none, leaves it NULL.
 */
static enum kwhy_status tell_late(struct sweep *sweep, struct kwhy_error *error)
{
	size_t missing = 0, wide = 0;

	for (size_t i = 0; i < sweep->plan.count; i++) {
		const struct kwhy_bench_task *task = &sweep->plan.tasks[i];

		if (task->closed || is_narrow(task->point))
			continue;
		if (task->point->sample_count)
			wide++;
		else
			missing++;
	}
	if (missing + wide == 0)
		return KWHY_OK;
	sweep->transfers->ended_early = kwhy_arena_printf(&sweep->transfers->arena,
		"the time was too short (%.3g s): of %zu transfers %zu were not measured and %zu to a wider "
		"interval than 2 %%; give more with --time",
		sweep->request->time_s, sweep->plan.count, missing, wide);
	return sweep->transfers->ended_early ? KWHY_OK : kwhy_fail_memory(error, "why a benchmark ended");
}

static enum kwhy_status run_rounds(struct sweep *sweep, struct kwhy_error *error)
{
	size_t *order = calloc(sweep->plan.count, sizeof(*order));
	uint64_t random = sweep->request->seed;
	enum kwhy_status status = order ? KWHY_OK : kwhy_fail_memory(error, "the order of a benchmark");
	bool late = false;

	for (size_t i = 0; i < sweep->plan.count; i++) {
		struct kwhy_bench_task *task = &sweep->plan.tasks[i];

		task->batches = (uint32_t)(task->point->sample_count + BATCH_SAMPLES - 1) / BATCH_SAMPLES;
		task->closed = is_done(sweep, task);
		sweep->closed += task->closed;
	}
	for (uint32_t round = 0; !status && !late && sweep->closed < sweep->plan.count; round++) {
		if (round == sweep->request->most_rounds && round > 0)
			break;
		kwhy_bench_shuffle(order, sweep->plan.count, &random);
		status = run_round(sweep, order, &late, error);
	}
	free(order);
	return status || !late ? status : tell_late(sweep, error);
}

static enum kwhy_status run_passes(struct sweep *sweep, struct kwhy_error *error)
{
	int64_t start_ns = kwhy_clock_mono_ns();
	enum kwhy_status status = run_rounds(sweep, error);

	sweep->transfers->time_pass_s = (double)(kwhy_clock_mono_ns() - start_ns) * 1e-9;
	if (!status)
		status = tell_shortages(sweep, error);
	if (status || !sweep->request->energy)
		return status;
	kwhy_bench_sensors_close(&sweep->sensors); /* the energy pass opens the meters itself */
	return kwhy_bench_energies_measure(
		sweep->request, sweep->buffers, sweep->store, sweep->transfers, error);
}

/*
 * If the device was lost or the user interrupted (KWHY_E_LOST), notes the reason and returns KWHY_OK, so that
 * the results are kept. Otherwise returns `status`.
 */
static enum kwhy_status end_cleanly(
	struct sweep *sweep, enum kwhy_status status, const struct kwhy_error *error)
{
	if (status != KWHY_E_LOST)
		return status;
	sweep->transfers->ended_early = kwhy_arena_copy(&sweep->transfers->arena, error->text);
	sweep->transfers->is_lost = true;
	return sweep->transfers->ended_early ? KWHY_OK : status;
}

static void describe(struct sweep *sweep)
{
	struct kwhy_transfers *transfers = sweep->transfers;
	const struct kwhy_bench_request *request = sweep->request;
	struct kwhy_arena *arena = &transfers->arena;

	transfers->backend = kwhy_gpu_backend_name(request->backend);
	transfers->device_name = kwhy_bench_known(arena, sweep->gpu->facts.name);
	transfers->pci_address = kwhy_bench_known(arena, sweep->gpu->facts.pci_address);
	transfers->cuda = kwhy_bench_known(arena, sweep->gpu->facts.driver_api);
	transfers->driver = kwhy_bench_known(arena, sweep->sensors.driver);
	transfers->data = request->data_path ? kwhy_bench_known(arena, request->data_path) : "random";
	transfers->measured_on = kwhy_bench_now_text(arena);
	transfers->seed = request->seed;
	transfers->time_budget_s = request->time_s;
}

static void find_cpus(struct sweep *sweep)
{
	const cpu_set_t *near = NULL;
	struct kwhy_numa numa;

	kwhy_numa_read("/sys", &numa);
	for (uint32_t i = 0; i < numa.count; i++)
		if (numa.nodes[i].node == sweep->gpu->facts.numa_node)
			near = &numa.nodes[i].cpus;
	kwhy_bench_cpus_find(&sweep->cpus, near, sweep->request->seed);
}

static enum kwhy_status set_up(struct sweep *sweep, struct kwhy_error *error)
{
	const struct kwhy_bench_request *request = sweep->request;
	enum kwhy_status status = kwhy_gpu_open(request->backend, request->device, &sweep->gpu, error);

	if (!status)
		status = sweep->gpu->ops->enter(sweep->gpu, error);
	if (!status)
		status = kwhy_bench_sensors_open(sweep->gpu, HISTORY_S, &sweep->sensors, error);
	if (status)
		return status;
	describe(sweep);
	find_cpus(sweep);
	status = kwhy_bench_plan_make(request, sweep->transfers, &sweep->plan, error);
	if (!status && request->folder)
		status = kwhy_bench_store_open(request, sweep->transfers, &sweep->store, error);
	if (!status)
		status = kwhy_bench_buffers_new(sweep->gpu, (size_t)sweep->plan.capacity,
			(uint32_t)request->seed, &sweep->buffers, error);
	if (!status)
		sweep->buffers->data_path = request->data_path;
	return status;
}

static void tear_down(struct sweep *sweep)
{
	kwhy_bench_buffers_free(sweep->buffers);
	kwhy_bench_store_close(sweep->store);
	kwhy_bench_sensors_close(&sweep->sensors);
	if (sweep->gpu)
		sweep->gpu->ops->close(sweep->gpu);
}

enum kwhy_status kwhy_transfers_measure(
	const struct kwhy_bench_request *given, struct kwhy_transfers **out, struct kwhy_error *error)
{
	struct kwhy_bench_request request = *given;
	struct sweep sweep = {.request = &request};
	enum kwhy_status status = kwhy_bench_request_complete(&request, error);

	if (status)
		return status;
	sweep.random = ~request.seed;
	sweep.transfers = kwhy_transfers_new();
	status = sweep.transfers ? set_up(&sweep, error) : kwhy_fail_memory(error, "measured transfers");
	if (!status) {
		sweep.start_ns = kwhy_clock_mono_ns();
		sweep.end_ns = sweep.start_ns + (int64_t)(request.time_s * 1e9);
		status = end_cleanly(&sweep, run_passes(&sweep, error), error);
	}
	tear_down(&sweep);
	if (status)
		kwhy_transfers_free(sweep.transfers);
	else
		*out = sweep.transfers;
	return status;
}

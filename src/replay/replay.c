/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/replay_case.h"

#include "base/clock.h"
#include "replay/factor.h"
#include "replay/powers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IDLE_S 2.0
#define NET_KNOWN_RATIO 0.25
/*
 * in s: approximate limit of the total time of the timed runs, for the replay as recorded and for the changed
 * replay each, unless the request states a number of runs
 */
#define RUNS_S 60.0
#define WARM_MAX_S 10.0

enum { RUNS = 6, PROXIES_SHOWN = 16 };

/* --- Powers of the proxy kernels --- */

/*
 * Measures the powers of the grids whose accounts drew most energy. Powers stay unknown if this GPU has no
 * meter, or the recorded energy above idle is not known well enough.
 */
static enum kwhy_status measure_powers(struct kwhy_replay_case *replay_case, struct kwhy_error *error)
{
	struct kwhy_replay_job *job = replay_case->job;
	uint32_t grids[KWHY_REPLAY_GRIDS_MEASURED];
	struct kwhy_replay_burns burns;
	size_t count = kwhy_replay_net_is_known(job->replay)
		? kwhy_replay_grids_that_matter(
			  replay_case->pattern, job->proxies->grids, job->replay->recorded_idle_w, grids)
		: 0;

	if (!job->energy || kwhy_device_energy_missing(job->energy) || !count)
		return KWHY_OK;
	kwhy_replay_tell(job, "powers");
	burns = (struct kwhy_replay_burns){grids, count, (double)replay_case->pattern->queued_ns};
	return kwhy_proxies_measure_powers(job->proxies, job->energy, &burns, error);
}

static enum kwhy_status choose(struct kwhy_replay_case *replay_case, struct kwhy_error *error)
{
	const struct kwhy_replay_pattern *pattern = replay_case->pattern;

	replay_case->choices = calloc(pattern->account_count + 1, sizeof(*replay_case->choices));
	if (!replay_case->choices)
		return kwhy_fail_memory(error, "the accounts of kernels");
	kwhy_replay_choose_all(replay_case);
	return KWHY_OK;
}

/*
 * Chooses proxy kernels for each account. The wanted power of an account's kernels is this GPU's idle power,
 * plus the account's recorded power above the recording's idle power times the work factor.
 */
void kwhy_replay_choose_all(struct kwhy_replay_case *replay_case)
{
	const struct kwhy_replay_pattern *pattern = replay_case->pattern;
	const struct kwhy_replay_job *job = replay_case->job;

	for (size_t i = 0; i < pattern->account_count; i++) {
		const struct kwhy_replay_account *account = &pattern->accounts[i];

		if (account->count)
			replay_case->choices[i] = kwhy_replay_choose(&job->proxies->grids[account->grid],
				job->proxies->idle_w +
					job->work_factor * (account->power_w - job->replay->recorded_idle_w));
	}
}

/* --- Results --- */

static void count_short(struct kwhy_replay_case *replay_case)
{
	const struct kwhy_replay_pattern *pattern = replay_case->pattern;
	const struct kwhy_proxies *proxies = replay_case->job->proxies;
	struct kwhy_replay_outcome *outcome = replay_case->outcome;

	for (size_t i = 0; i < pattern->work_count; i++) {
		const struct kwhy_replay_work *work = &pattern->works[i];
		double longer_ns;

		if (work->kind != KWHY_REPLAY_KERNEL)
			continue;
		longer_ns = kwhy_proxy_floor_ns(proxies, work->grid, (double)pattern->queued_ns) -
			(double)work->length_ns;
		if (longer_ns <= 0)
			continue;
		outcome->short_kernels++;
		outcome->short_ns += (int64_t)longer_ns;
	}
	for (size_t i = 0; i < proxies->grid_count; i++)
		outcome->capped_grids += proxies->grids[i].is_capped;
}

static void describe(struct kwhy_replay_case *replay_case)
{
	const struct kwhy_replay_pattern *pattern = replay_case->pattern;

	*replay_case->outcome = (struct kwhy_replay_outcome){.pattern_span_ns = pattern->span_ns,
		.gross = {NAN, NAN, NAN},
		.net = {NAN, NAN, NAN},
		.threads = pattern->thread_count,
		.calls = pattern->op_count,
		.kernels = pattern->kernels,
		.copies = pattern->copies,
		.fills = pattern->fills,
		.waits = pattern->waits,
		.graphs = pattern->graph_count,
		.replay_streams = pattern->replay_stream_count,
		.loose_graphs = kwhy_replay_run_loose_graphs(replay_case->run),
		.left = pattern->left};
	count_short(replay_case);
}

static int by_time(const void *a, const void *b)
{
	const struct kwhy_replay_proxy *left = a, *right = b;

	return (left->time_ns < right->time_ns) - (left->time_ns > right->time_ns);
}

static enum kwhy_status list_proxies(struct kwhy_replay_case *replay_case, struct kwhy_error *error)
{
	const struct kwhy_replay_pattern *pattern = replay_case->pattern;
	struct kwhy_replay *replay = replay_case->job->replay;

	replay->proxies = kwhy_arena_alloc(
		&replay->arena, pattern->account_count + 1, sizeof(*replay->proxies));
	if (!replay->proxies)
		return kwhy_fail_memory(error, "the accounts of kernels");
	for (size_t i = 0; i < pattern->account_count; i++) {
		const struct kwhy_replay_account *account = &pattern->accounts[i];

		if (!account->count)
			continue;
		replay->proxies[replay->proxy_count++] = (struct kwhy_replay_proxy){
			.account = kwhy_arena_copy(&replay->arena, account->name),
			.count = account->count,
			.time_ns = account->time_ns,
			.recorded_w = account->power_w,
			.choice = replay_case->choices[i]};
	}
	qsort(replay->proxies, replay->proxy_count, sizeof(*replay->proxies), by_time);
	if (replay->proxy_count > PROXIES_SHOWN)
		replay->proxy_count = PROXIES_SHOWN;
	return KWHY_OK;
}

/* --- Runs --- */

/*
 * Number of timed runs that a replay makes unless it ends early. Six (RUNS) are enough for an interval of
 * their median; fewer are made if six would take longer than RUNS_S.
 */
static size_t runs_wanted(const struct kwhy_replay_case *replay_case)
{
	double span_s = (double)replay_case->pattern->span_ns * 1e-9;

	if (replay_case->job->request->repeat)
		return replay_case->job->request->repeat;
	if (span_s * RUNS <= RUNS_S)
		return RUNS;
	return span_s < RUNS_S ? (size_t)(RUNS_S / span_s) : 1;
}

static void note_runs(struct kwhy_replay_case *replay_case)
{
	struct kwhy_replay_outcome *outcome = replay_case->outcome;
	double spans_s[KWHY_REPLAY_RUNS_KEPT];
	size_t kept = outcome->runs < KWHY_REPLAY_RUNS_KEPT ? outcome->runs : KWHY_REPLAY_RUNS_KEPT;

	for (size_t i = 0; i < kept; i++)
		spans_s[i] = replay_case->window.spans[i].span_s;
	kwhy_median_of(spans_s, kept, &outcome->span_s);
	memcpy(outcome->spans, replay_case->window.spans, sizeof(outcome->spans));
}

static enum kwhy_status run_all(struct kwhy_replay_case *replay_case, struct kwhy_error *error)
{
	struct kwhy_replay_job *job = replay_case->job;
	struct kwhy_replay_window *window = &replay_case->window;
	enum kwhy_status status = KWHY_OK;

	kwhy_replay_tell(job, replay_case->name);
	snprintf(window->name, sizeof(window->name), "%s", replay_case->name);
	window->seconds = job->request->energy_s;
	if (job->energy)
		status = kwhy_replay_window_run(job->energy, replay_case->run, window, error);
	replay_case->window_is_whole = !status;
	for (replay_case->outcome->runs = window->runs;
		!status && replay_case->outcome->runs < runs_wanted(replay_case);
		replay_case->outcome->runs++) {
		struct kwhy_replay_span span = {0};

		status = kwhy_replay_run_once(replay_case->run, &span, error);
		if (status)
			break;
		if (replay_case->outcome->runs < KWHY_REPLAY_RUNS_KEPT)
			window->spans[replay_case->outcome->runs] = span;
	}
	note_runs(replay_case);
	return status;
}

/* Stores why the GPU's energy is unknown: either its meters could not be opened, or they failed later. */
static void learn_missing(struct kwhy_replay_job *job)
{
	const char *missing = kwhy_device_energy_missing(job->energy);

	if (missing)
		job->replay->energy_missing = kwhy_arena_copy(&job->replay->arena, missing);
}

static enum kwhy_status read_energy(struct kwhy_replay_case *replay_case, struct kwhy_error *error)
{
	struct kwhy_replay_job *job = replay_case->job;
	struct kwhy_replay_joules joules;
	enum kwhy_status status = KWHY_OK;

	if (!job->energy || !replay_case->window_is_whole)
		return KWHY_OK;
	status = kwhy_device_energy_read(job->energy, error);
	if (status)
		return status;
	joules = kwhy_replay_window_joules(job->energy, &replay_case->window);
	learn_missing(job);
	if (!isfinite(joules.gross.value))
		return KWHY_OK;
	job->replay->replayed_idle_w = joules.idle_w;
	replay_case->outcome->gross = joules.gross;
	replay_case->outcome->net = joules.net;
	return KWHY_OK;
}

/*
 * Collects the results of a part of the replay (as recorded or changed). `ended`: status with which the part
 * ended early, or KWHY_OK. If it is an error, it is returned, whatever fails here.
 */
static enum kwhy_status sum_up(
	struct kwhy_replay_case *replay_case, enum kwhy_status ended, struct kwhy_error *error)
{
	struct kwhy_replay_job *job = replay_case->job;
	struct kwhy_error second;
	enum kwhy_status status = read_energy(replay_case, ended ? &second : error);

	if (!status && replay_case->outcome == &job->replay->as_recorded)
		status = list_proxies(replay_case, ended ? &second : error);
	if (!status && replay_case->outcome == &job->replay->as_recorded)
		status = kwhy_replay_run_call_times(
			replay_case->run, job->latencies.calls, ended ? &second : error);
	memcpy(job->replay->calls, job->latencies.calls, sizeof(job->replay->calls));
	return ended ? ended : status;
}

/* --- A pattern, as recorded or changed --- */

static enum kwhy_status prepare(struct kwhy_replay_case *replay_case,
	const struct kwhy_whatif_request *change_requests, size_t change_request_count,
	struct kwhy_error *error)
{
	struct kwhy_replay_job *job = replay_case->job;
	struct kwhy_replay_runner runner = {
		.gpu = job->gpu, .proxies = job->proxies, .latencies = &job->latencies};
	enum kwhy_status status = kwhy_replay_change(
		job->whatif, change_requests, change_request_count, &replay_case->changes, error);

	if (!status)
		status = kwhy_replay_pattern_new(
			job->whatif, &replay_case->changes, &replay_case->pattern, error);
	if (!status)
		status = kwhy_proxies_measure_grids(job->proxies, replay_case->pattern, error);
	if (!status)
		status = measure_powers(replay_case, error);
	if (!status)
		status = choose(replay_case, error);
	if (status)
		return status;
	runner.pattern = replay_case->pattern;
	runner.choices = replay_case->choices;
	runner.is_timed = replay_case->outcome == &job->replay->changed;
	if (runner.is_timed)
		job->latencies.late_ns = kwhy_replay_late_of_waits_ns(&job->latencies);
	return kwhy_replay_run_new(&runner, &replay_case->run, error);
}

static void release(struct kwhy_replay_case *replay_case)
{
	kwhy_replay_run_free(replay_case->run);
	kwhy_replay_pattern_free(replay_case->pattern);
	kwhy_replay_changes_done(&replay_case->changes);
	free(replay_case->choices);
	free(replay_case);
}

/* Makes a first run, which loads code and is not timed, unless the pattern is longer than WARM_MAX_S. */
static enum kwhy_status warm_up(struct kwhy_replay_case *replay_case, struct kwhy_error *error)
{
	struct kwhy_replay_span ignored;

	return (double)replay_case->pattern->span_ns * 1e-9 > WARM_MAX_S
		? KWHY_OK
		: kwhy_replay_run_once(replay_case->run, &ignored, error);
}

static enum kwhy_status replay_one(struct kwhy_replay_job *job, const char *name, size_t change_request_count,
	struct kwhy_replay_outcome *outcome, struct kwhy_error *error)
{
	struct kwhy_replay_case *replay_case = calloc(1, sizeof(*replay_case));
	enum kwhy_status status;

	if (!replay_case)
		return kwhy_fail_memory(error, "a replay");
	replay_case->job = job;
	replay_case->name = name;
	replay_case->outcome = outcome;
	status = prepare(replay_case, job->request->change_requests, change_request_count, error);
	if (!status)
		status = warm_up(replay_case, error);
	if (!status) {
		describe(replay_case);
		status = outcome == &job->replay->as_recorded ? kwhy_replay_settle(replay_case, error)
							      : KWHY_OK;
	}
	if (!status)
		status = run_all(replay_case, error);
	if (!status || (status == KWHY_E_LOST && outcome->runs))
		status = sum_up(replay_case, status, error);
	release(replay_case);
	return status;
}

/*
 * Stores in the replay that the part `name` was interrupted or its device was lost; the results of the part
 * are returned. If not even one run as recorded was made, returns KWHY_E_LOST.
 */
static enum kwhy_status end_early(struct kwhy_replay_job *job, const char *name,
	const struct kwhy_replay_outcome *outcome, const struct kwhy_error *error)
{
	struct kwhy_replay *replay = job->replay;
	char words[sizeof(error->text) + 64];

	if (!replay->as_recorded.runs)
		return KWHY_E_LOST;
	snprintf(words, sizeof(words), "%s, after %zu run%s %s", error->text, outcome->runs,
		outcome->runs == 1 ? "" : "s", name);
	replay->ended = kwhy_arena_copy(&replay->arena, words);
	return replay->ended ? KWHY_OK : KWHY_E_MEMORY;
}

static enum kwhy_status replay_part(struct kwhy_replay_job *job, const char *name,
	size_t change_request_count, struct kwhy_replay_outcome *outcome, struct kwhy_error *error)
{
	enum kwhy_status status = replay_one(job, name, change_request_count, outcome, error);

	return status == KWHY_E_LOST ? end_early(job, name, outcome, error) : status;
}

/* --- Steps of kwhy_replay() --- */

/* Opens the meters and measures the GPU's idle power, unless no energy was requested. */
static enum kwhy_status open_meters(struct kwhy_replay_job *job, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (job->request->energy_s <= 0) {
		job->replay->energy_missing = "not asked for";
		return KWHY_OK;
	}
	kwhy_replay_tell(job, "idle");
	status = kwhy_device_energy_open(&job->gpu, 1, &job->energy, error);
	if (!status)
		status = kwhy_device_energy_idle(job->energy, IDLE_S, error);
	if (status)
		return status;
	learn_missing(job);
	return KWHY_OK;
}

/*
 * Reads from the recording the name and idle power of the replayed device, and the uncertainty of the idle
 * energy of all devices. has_others: other devices worked, too, so that the energy of this one alone is not
 * known.
 */
static void read_recording(struct kwhy_replay_job *job)
{
	struct kwhy_replay *replay = job->replay;
	const struct kwhy_recording *recording = job->whatif->recording;
	uint32_t device = kwhy_replay_device(recording);

	replay->recorded_idle_w = device == KWHY_NONE ? NAN : job->whatif->idle_w[device];
	if (device != KWHY_NONE && recording->devices[device].name)
		replay->recorded_on = kwhy_arena_copy(&replay->arena, recording->devices[device].name);
	for (uint32_t d = 0; d < recording->device_count; d++) {
		if (recording->activities.first[d + 1] == recording->activities.first[d])
			continue;
		job->has_others |= d != device;
		replay->recorded_idle_half_ci90_j += job->whatif->idle_half_ci90_w[d] *
			(double)(job->whatif->last_ns - job->whatif->first_ns) * 1e-9;
	}
}

static enum kwhy_status project(struct kwhy_replay_job *job, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_whatif_project(job->whatif, job->request->change_requests,
		job->request->change_request_count, &job->replay->plan, error);

	if (status)
		return status;
	job->replay->recorded_j = job->has_others || job->replay->plan->before.energy_nj == KWHY_UNKNOWN_NJ
		? NAN
		: (double)job->replay->plan->before.energy_nj * 1e-9;
	return KWHY_OK;
}

static void carry_factor(struct kwhy_replay_job *job)
{
	struct kwhy_replay *replay = job->replay;

	if (isfinite(replay->first_net_off_ratio))
		job->work_factor = replay->changed_work_factor = kwhy_replay_carried_factor(
			replay->work_factor, replay->first_net_off_ratio);
}

static enum kwhy_status replay_all(struct kwhy_replay_job *job, struct kwhy_error *error)
{
	struct kwhy_replay *replay = job->replay;
	enum kwhy_status status = kwhy_gpu_open(
		job->request->backend, job->request->device, &job->gpu, error);

	if (!status)
		status = job->gpu->ops->enter(job->gpu, error);
	if (status)
		return status;
	replay->gpu = job->gpu->facts;
	kwhy_replay_tell(job, "proxy kernels");
	status = kwhy_proxies_new(job->gpu, &job->proxies, error);
	if (!status)
		status = kwhy_replay_latencies_measure(job->proxies, &job->latencies, error);
	if (!status)
		status = open_meters(job, error);
	if (!status)
		status = replay_part(job, "as recorded", 0, &replay->as_recorded, error);
	/* If no change was requested or every change was refused, there is nothing else to run. */
	if (!status && !replay->ended && replay->plan->change_count) {
		carry_factor(job);
		status = replay_part(
			job, "changed", job->request->change_request_count, &replay->changed, error);
	}
	replay->has_changed = replay->changed.runs > 0;
	return status;
}

enum kwhy_status kwhy_replay(struct kwhy_whatif *whatif, const struct kwhy_replay_request *request,
	struct kwhy_replay **out, struct kwhy_error *error)
{
	struct kwhy_replay_job job = {
		.whatif = whatif, .request = request, .replay = calloc(1, sizeof(*job.replay))};
	enum kwhy_status status;

	if (!job.replay)
		return kwhy_fail_memory(error, "a replay");
	job.replay->backend = request->backend;
	job.work_factor = 1;
	job.replay->replayed_idle_w = job.replay->first_off_ratio = job.replay->wait_late_ns = NAN;
	job.replay->first_net_off_ratio = job.replay->work_factor = job.replay->changed_work_factor = NAN;
	read_recording(&job);
	status = project(&job, error);
	if (!status)
		status = replay_all(&job, error);
	kwhy_whatif_undo(whatif->graph, 0);
	kwhy_proxies_free(job.proxies);
	kwhy_device_energy_close(job.energy);
	if (job.gpu)
		job.gpu->ops->close(job.gpu);
	if (status)
		kwhy_replay_free(job.replay);
	else
		*out = job.replay;
	return status;
}

void kwhy_replay_free(struct kwhy_replay *replay)
{
	if (!replay)
		return;
	kwhy_plan_free(replay->plan);
	kwhy_arena_done(&replay->arena);
	free(replay);
}

double kwhy_replay_recorded_net_j(const struct kwhy_replay *replay)
{
	return replay->recorded_j -
		replay->recorded_idle_w * (double)replay->as_recorded.pattern_span_ns * 1e-9;
}

double kwhy_replay_projected_net_j(const struct kwhy_replay *replay)
{
	const struct kwhy_projection *after = kwhy_plan_after(replay->plan);

	/*
	 * recorded_j is unknown if other devices worked in the recording; the projected energy is then that
	 * of all devices.
	 */
	if (!isfinite(replay->recorded_j) || after->energy_nj == KWHY_UNKNOWN_NJ)
		return NAN;
	return ((double)after->energy_nj - replay->recorded_idle_w * (double)after->time_ns) * 1e-9;
}

bool kwhy_replay_net_is_known(const struct kwhy_replay *replay)
{
	int64_t net_nj = replay->plan->before.net_nj;

	return net_nj != KWHY_UNKNOWN_NJ &&
		replay->recorded_idle_half_ci90_j <= NET_KNOWN_RATIO * (double)net_nj * 1e-9;
}

double kwhy_replay_net_off_ratio(const struct kwhy_replay *replay, double is_j, double should_j)
{
	return kwhy_replay_net_is_known(replay) && should_j > 0 ? is_j / should_j - 1 : NAN;
}

bool kwhy_replay_joules_compare(const struct kwhy_replay *replay)
{
	return !isfinite(replay->changed_work_factor) || replay->changed_work_factor == replay->work_factor;
}

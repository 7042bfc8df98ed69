/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/replay.h"

#include "base/clock.h"
#include "replay/choices.h"
#include "replay/powers.h"
#include "replay/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IDLE_S 2.0
#define LEAST_NET_RATIO 0.05
#define RUNS_S 60.0 /* what a replay whose runs nobody counted takes, about */
#define WARM_MOST_S 10.0

enum { RUNS = 6, STANDINS_SHOWN = 16, SETTLING_RUNS = 4 };

/* A replay under way. */
struct work {
	struct kwhy_whatif *whatif;
	const struct kwhy_replay_request *request;
	struct kwhy_replay *replay;
	struct kwhy_gpu *gpu;
	struct kwhy_device_energy *energy; /* NULL: not asked for */
	struct kwhy_standins *standins;
	struct kwhy_replay_trips trips;
	bool has_others; /* other devices worked in the recording, too */
};

/* A pattern with all that it needs to run. */
struct subject {
	struct work *work;
	const char *name; /* "as recorded", "changed" */
	struct kwhy_replay_changes changes;
	struct kwhy_replay_pattern *pattern;
	struct kwhy_standin_choice *choices; /* [accounts] */
	struct kwhy_replay_run *run;
	struct kwhy_replay_outcome *outcome;
	double spans_s[KWHY_REPLAY_RUNS_KEPT];
	double energy_span_s; /* of the runs in the window of energy, together */
	size_t energy_runs;
};

static void tell(const struct work *work, const char *what)
{
	if (work->request->progress)
		work->request->progress(work->request->context, what);
}

/* --- Powers of the stand-ins --- */

/* Of the grids that matter; without a meter none is known. */
static enum kwhy_status measure_powers(struct subject *subject, struct kwhy_error *error)
{
	struct work *work = subject->work;
	uint32_t grids[KWHY_REPLAY_GRIDS_MEASURED];
	double energy_nj = (double)work->replay->plan->before.energy_nj;
	size_t count = work->whatif->has_energy
		? kwhy_replay_grids_that_matter(subject->pattern, work->standins->grids,
			  work->replay->recorded_idle_w, energy_nj, grids)
		: 0;

	if (!work->energy || kwhy_device_energy_missing(work->energy) || !count)
		return KWHY_OK;
	tell(work, "powers");
	return kwhy_standins_measure_powers(work->standins, work->energy, grids, count, error);
}

static enum kwhy_status choose(struct subject *subject, struct kwhy_error *error)
{
	const struct kwhy_replay_pattern *pattern = subject->pattern;

	subject->choices = calloc(pattern->account_count + 1, sizeof(*subject->choices));
	if (!subject->choices)
		return kwhy_fail_memory(error, "the accounts of kernels");
	for (size_t i = 0; i < pattern->account_count; i++)
		if (pattern->accounts[i].count)
			subject->choices[i] = kwhy_replay_choose(
				&subject->work->standins->grids[pattern->accounts[i].grid],
				pattern->accounts[i].power_w);
	return KWHY_OK;
}

/* --- What is shown --- */

static void count_short(struct subject *subject)
{
	const struct kwhy_replay_pattern *pattern = subject->pattern;
	const struct kwhy_standins *standins = subject->work->standins;
	struct kwhy_replay_outcome *outcome = subject->outcome;

	for (size_t i = 0; i < pattern->work_count; i++) {
		const struct kwhy_replay_work *work = &pattern->works[i];
		double longer_ns;

		if (work->kind != KWHY_REPLAY_KERNEL)
			continue;
		longer_ns = kwhy_standin_floor_ns(standins, work->grid, (double)pattern->queued_ns) -
			(double)work->length_ns;
		if (longer_ns <= 0)
			continue;
		outcome->short_kernels++;
		outcome->short_ns += (int64_t)longer_ns;
	}
	for (size_t i = 0; i < standins->grid_count; i++)
		outcome->capped_grids += standins->grids[i].is_capped;
}

static void describe(struct subject *subject)
{
	const struct kwhy_replay_pattern *pattern = subject->pattern;

	*subject->outcome = (struct kwhy_replay_outcome){.pattern_span_ns = pattern->span_ns,
		.gross = {NAN, NAN, NAN},
		.net = {NAN, NAN, NAN},
		.threads = pattern->thread_count,
		.calls = pattern->op_count,
		.kernels = pattern->kernels,
		.copies = pattern->copies,
		.fills = pattern->fills,
		.waits = pattern->waits,
		.graphs = pattern->graph_count,
		.lanes = pattern->lane_count,
		.loose_graphs = kwhy_replay_run_loose_graphs(subject->run),
		.left = pattern->left};
	count_short(subject);
}

static int by_time(const void *a, const void *b)
{
	const struct kwhy_replay_standin *left = a, *right = b;

	return (left->time_ns < right->time_ns) - (left->time_ns > right->time_ns);
}

static enum kwhy_status list_standins(struct subject *subject, struct kwhy_error *error)
{
	const struct kwhy_replay_pattern *pattern = subject->pattern;
	struct kwhy_replay *replay = subject->work->replay;

	replay->standins = kwhy_arena_alloc(
		&replay->arena, pattern->account_count + 1, sizeof(*replay->standins));
	if (!replay->standins)
		return kwhy_fail_memory(error, "the accounts of kernels");
	for (size_t i = 0; i < pattern->account_count; i++) {
		const struct kwhy_replay_account *account = &pattern->accounts[i];

		if (!account->count)
			continue;
		replay->standins[replay->standin_count++] = (struct kwhy_replay_standin){
			.account = kwhy_arena_copy(&replay->arena, account->name),
			.count = account->count,
			.time_ns = account->time_ns,
			.recorded_w = account->power_w,
			.choice = subject->choices[i]};
	}
	qsort(replay->standins, replay->standin_count, sizeof(*replay->standins), by_time);
	if (replay->standin_count > STANDINS_SHOWN)
		replay->standin_count = STANDINS_SHOWN;
	return KWHY_OK;
}

/* --- Runs --- */

static enum kwhy_status run_once(struct subject *subject, double *out_span_s, struct kwhy_error *error)
{
	struct kwhy_replay_outcome *outcome = subject->outcome;
	double span_s;
	enum kwhy_status status = kwhy_replay_run_once(subject->run, &span_s, error);

	if (status)
		return status;
	if (outcome->runs < KWHY_REPLAY_RUNS_KEPT)
		subject->spans_s[outcome->runs] = span_s;
	outcome->runs++;
	*out_span_s = span_s;
	return KWHY_OK;
}

static enum kwhy_status run_energy(struct subject *subject, struct kwhy_error *error)
{
	struct work *work = subject->work;
	double span_s = 0;
	int64_t end_ns;
	enum kwhy_status status;

	if (!work->energy)
		return KWHY_OK;
	status = kwhy_device_energy_begin(work->energy, subject->name, error);
	end_ns = kwhy_clock_mono_ns() + (int64_t)(work->request->energy_s * 1e9);
	while (!status && (!subject->energy_runs || kwhy_clock_mono_ns() < end_ns)) {
		status = run_once(subject, &span_s, error);
		subject->energy_span_s += span_s;
		subject->energy_runs++;
	}
	kwhy_device_energy_end(work->energy);
	return status;
}

/* Six make an interval. */
static size_t runs_wanted(const struct subject *subject)
{
	double span_s = (double)subject->pattern->span_ns * 1e-9;

	if (subject->work->request->repeat)
		return subject->work->request->repeat;
	if (span_s * RUNS <= RUNS_S)
		return RUNS;
	return span_s < RUNS_S ? (size_t)(RUNS_S / span_s) : 1;
}

static enum kwhy_status run_all(struct subject *subject, struct kwhy_error *error)
{
	struct kwhy_replay_outcome *outcome = subject->outcome;
	enum kwhy_status status;
	double span_s;
	size_t kept;

	tell(subject->work, subject->name);
	status = run_energy(subject, error);
	while (!status && outcome->runs < runs_wanted(subject))
		status = run_once(subject, &span_s, error);
	if (status)
		return status;
	kept = outcome->runs < KWHY_REPLAY_RUNS_KEPT ? outcome->runs : KWHY_REPLAY_RUNS_KEPT;
	kwhy_median_of(subject->spans_s, kept, &outcome->span_s);
	return KWHY_OK;
}

static struct kwhy_joules share_of(const struct kwhy_joules *joules, double less_j, size_t runs)
{
	double one = 1 / (double)runs;

	return (struct kwhy_joules){
		(joules->value - less_j) * one, (joules->low - less_j) * one, (joules->high - less_j) * one};
}

/* Of one run: what the window drew less its idle level between the runs. */
static void read_energy(struct subject *subject)
{
	struct work *work = subject->work;
	struct kwhy_window_joules window;
	double idle_w;

	kwhy_device_energy_of(work->energy, subject->name, 1, &window);
	if (!isfinite(window.gross.value) || !subject->energy_runs)
		return;
	idle_w = (window.gross.value - window.net.value) / window.seconds;
	work->replay->replayed_idle_w = idle_w;
	subject->outcome->gross = share_of(
		&window.gross, idle_w * (window.seconds - subject->energy_span_s), subject->energy_runs);
	subject->outcome->net = share_of(&window.net, 0, subject->energy_runs);
}

/* --- A pattern, as recorded or changed --- */

static enum kwhy_status prepare(struct subject *subject, const struct kwhy_whatif_ask *asks, size_t ask_count,
	struct kwhy_error *error)
{
	struct work *work = subject->work;
	struct kwhy_replay_runner runner = {
		.gpu = work->gpu, .standins = work->standins, .trips = &work->trips};
	enum kwhy_status status = kwhy_replay_change(work->whatif, asks, ask_count, &subject->changes, error);

	if (!status)
		status = kwhy_replay_pattern_new(work->whatif, &subject->changes, &subject->pattern, error);
	if (!status)
		status = kwhy_standins_measure_grids(work->standins, subject->pattern, error);
	if (!status)
		status = measure_powers(subject, error);
	if (!status)
		status = choose(subject, error);
	if (status)
		return status;
	runner.pattern = subject->pattern;
	runner.choices = subject->choices;
	return kwhy_replay_run_new(&runner, &subject->run, error);
}

static void release(struct subject *subject)
{
	kwhy_replay_run_free(subject->run);
	kwhy_replay_pattern_free(subject->pattern);
	kwhy_replay_changes_done(&subject->changes);
	free(subject->choices);
	free(subject);
}

/* The first run loads code and is not timed, where that could matter. */
static enum kwhy_status warm_up(struct subject *subject, struct kwhy_error *error)
{
	double span_s;

	return (double)subject->pattern->span_ns * 1e-9 > WARM_MOST_S
		? KWHY_OK
		: kwhy_replay_run_once(subject->run, &span_s, error);
}

/*
 * What a call and its work take here beside what was recorded is measured piece by piece, and adds up to
 * something else in a run. So the pattern as it was recorded is run first: what it takes longer, for each of
 * its waits, is taken off the waits of all later runs, changed or not. How far off the first one was is kept.
 */
static enum kwhy_status settle(struct subject *subject, struct kwhy_error *error)
{
	const struct kwhy_replay_pattern *pattern = subject->pattern;
	struct work *work = subject->work;
	double span_s = 0, recorded_s = (double)pattern->span_ns * 1e-9;
	enum kwhy_status status = KWHY_OK;

	if (subject->outcome != &work->replay->as_recorded || !pattern->waits || recorded_s > WARM_MOST_S)
		return KWHY_OK;
	tell(work, "settling");
	for (int i = 0; !status && i < SETTLING_RUNS; i++) {
		status = kwhy_replay_run_once(subject->run, &span_s, error);
		if (status)
			break;
		if (i == 0)
			work->replay->first_off_ratio = span_s / recorded_s - 1;
		/* less of each further run, as of a mean */
		work->trips.late_ns += (span_s - recorded_s) * 1e9 / (double)pattern->waits / (i + 1);
	}
	work->replay->wait_late_ns = work->trips.late_ns;
	return status;
}

static enum kwhy_status replay_one(struct work *work, const char *name, size_t ask_count,
	struct kwhy_replay_outcome *outcome, struct kwhy_error *error)
{
	struct subject *subject = calloc(1, sizeof(*subject));
	enum kwhy_status status;

	if (!subject)
		return kwhy_fail_memory(error, "a replay");
	subject->work = work;
	subject->name = name;
	subject->outcome = outcome;
	status = prepare(subject, work->request->asks, ask_count, error);
	if (!status)
		status = warm_up(subject, error);
	if (!status)
		status = settle(subject, error);
	if (!status) {
		describe(subject);
		status = run_all(subject, error);
	}
	if (!status && work->energy)
		status = kwhy_device_energy_read(work->energy, error);
	if (!status && work->energy)
		read_energy(subject);
	if (!status && outcome == &work->replay->as_recorded)
		status = list_standins(subject, error);
	release(subject);
	return status;
}

/* --- Around it --- */

/* The idle level is that of a GPU whose clocks have been up. */
static enum kwhy_status open_meters(struct work *work, struct kwhy_error *error)
{
	const char *missing;
	enum kwhy_status status;

	if (work->request->energy_s <= 0) {
		work->replay->energy_missing = "not asked for";
		return KWHY_OK;
	}
	tell(work, "idle");
	status = kwhy_device_energy_open(&work->gpu, 1, &work->energy, error);
	if (!status)
		status = kwhy_device_energy_idle(work->energy, IDLE_S, error);
	if (status)
		return status;
	missing = kwhy_device_energy_missing(work->energy);
	if (missing)
		work->replay->energy_missing = kwhy_arena_copy(&work->replay->arena, missing);
	return KWHY_OK;
}

/* Of the device that is replayed; its energy is not known apart from that of others. */
static void read_recording(struct work *work)
{
	struct kwhy_replay *replay = work->replay;
	const struct kwhy_recording *recording = work->whatif->recording;
	uint32_t device = kwhy_replay_device(recording);

	replay->recorded_idle_w = device == KWHY_NONE ? NAN : work->whatif->idle_w[device];
	if (device != KWHY_NONE && recording->devices[device].name)
		replay->recorded_on = kwhy_arena_copy(&replay->arena, recording->devices[device].name);
	for (uint32_t d = 0; d < recording->device_count; d++)
		if (d != device && recording->activities.first[d + 1] > recording->activities.first[d])
			work->has_others = true;
}

static enum kwhy_status project(struct work *work, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_whatif_project(
		work->whatif, work->request->asks, work->request->ask_count, &work->replay->plan, error);

	if (status)
		return status;
	work->replay->recorded_j = work->has_others || work->replay->plan->before.energy_nj == KWHY_UNKNOWN_NJ
		? NAN
		: (double)work->replay->plan->before.energy_nj * 1e-9;
	return KWHY_OK;
}

static enum kwhy_status replay_all(struct work *work, struct kwhy_error *error)
{
	struct kwhy_replay *replay = work->replay;
	enum kwhy_status status = kwhy_gpu_open(
		work->request->backend, work->request->device, &work->gpu, error);

	if (!status)
		status = work->gpu->ops->enter(work->gpu, error);
	if (status)
		return status;
	replay->gpu = work->gpu->facts;
	tell(work, "stand-ins");
	status = kwhy_standins_new(work->gpu, &work->standins, error);
	if (!status)
		status = kwhy_replay_trips_measure(work->standins, &work->trips, error);
	if (!status)
		status = open_meters(work, error);
	if (!status)
		status = replay_one(work, "as recorded", 0, &replay->as_recorded, error);
	/* where every change was refused there is nothing else to run */
	replay->has_changed = replay->plan->change_count > 0;
	if (!status && replay->has_changed)
		status = replay_one(work, "changed", work->request->ask_count, &replay->changed, error);
	return status;
}

enum kwhy_status kwhy_replay(struct kwhy_whatif *whatif, const struct kwhy_replay_request *request,
	struct kwhy_replay **out, struct kwhy_error *error)
{
	struct work work = {.whatif = whatif, .request = request, .replay = calloc(1, sizeof(*work.replay))};
	enum kwhy_status status;

	if (!work.replay)
		return kwhy_fail_memory(error, "a replay");
	work.replay->backend = request->backend;
	work.replay->replayed_idle_w = work.replay->first_off_ratio = work.replay->wait_late_ns = NAN;
	read_recording(&work);
	status = project(&work, error);
	if (!status)
		status = replay_all(&work, error);
	kwhy_whatif_undo(whatif->graph, 0);
	kwhy_standins_free(work.standins);
	kwhy_device_energy_close(work.energy);
	if (work.gpu)
		work.gpu->ops->close(work.gpu);
	if (status)
		kwhy_replay_free(work.replay);
	else
		*out = work.replay;
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

	/* of several devices the energy of one is not known apart */
	if (!isfinite(replay->recorded_j) || after->energy_nj == KWHY_UNKNOWN_NJ)
		return NAN;
	return ((double)after->energy_nj - replay->recorded_idle_w * (double)after->time_ns) * 1e-9;
}

double kwhy_replay_net_off_ratio(const struct kwhy_replay *replay, double is_j, double should_j)
{
	return should_j >= LEAST_NET_RATIO * replay->recorded_j ? is_j / should_j - 1 : NAN;
}

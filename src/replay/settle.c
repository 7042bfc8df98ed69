/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/choices.h"
#include "replay/factor.h"
#include "replay/replay_case.h"

#include <stdio.h>
#include <string.h>

#define RUN_MAX_S 10.0
#define WINDOW_S 2.0
#define NEAR_RATIO 0.02

enum { RUNS = 4, WINDOWS = 6, RUNS_MEANT = 3 };

/* State of the calibration (kwhy_replay_settle()), which finds the corrections of waits and of energy. */
struct settling {
	struct kwhy_replay_case *replay_case;
	/*
	 * for each of the last three runs or windows, the correction of waits in ns with which it would have
	 * taken the recorded time
	 */
	double needed_ns[RUNS_MEANT];
	size_t runs;
};

static void note_step(struct settling *settling, const struct kwhy_replay_step *step)
{
	struct kwhy_replay *replay = settling->replay_case->job->replay;

	if (replay->step_count < KWHY_REPLAY_STEPS_MAX)
		replay->steps[replay->step_count++] = *step;
}

/* --- Time --- */

/*
 * Updates late_ns, the time that is subtracted from each wait of the replay. It is needed because the
 * overheads of calls were measured one by one and do not add up in a run. The run that took span_s should
 * have had the present late_ns, plus the quotient of the time by which it was longer than the pattern and the
 * number of its waits. The median over the last three runs or windows is used, because something other than
 * waits may delay one of them.
 */
static void learn_wait(struct settling *settling, double span_s)
{
	const struct kwhy_replay_pattern *pattern = settling->replay_case->pattern;
	struct kwhy_replay_job *job = settling->replay_case->job;
	double longer_ns = span_s * 1e9 - (double)pattern->span_ns, sorted[RUNS_MEANT];
	size_t count;
	struct kwhy_median median;

	if (!pattern->waits)
		return;
	settling->needed_ns[settling->runs++ % RUNS_MEANT] = job->latencies.late_ns +
		longer_ns / (double)pattern->waits;
	count = settling->runs < RUNS_MEANT ? settling->runs : RUNS_MEANT;
	memcpy(sorted, settling->needed_ns, sizeof(sorted));
	kwhy_median_of(sorted, count, &median);
	job->latencies.late_ns = job->replay->wait_late_ns = median.median;
}

static enum kwhy_status settle_time(struct settling *settling, struct kwhy_error *error)
{
	struct kwhy_replay_case *replay_case = settling->replay_case;
	struct kwhy_replay_job *job = replay_case->job;
	enum kwhy_status status = KWHY_OK;

	for (int i = 0; !status && i < RUNS; i++) {
		struct kwhy_replay_step step = {.wait_late_ns = job->latencies.late_ns,
			.work_factor = job->work_factor,
			.net_j = NAN};

		status = kwhy_replay_run_once(replay_case->run, &step.span, error);
		if (status)
			break;
		note_step(settling, &step);
		learn_wait(settling, step.span.span_s);
	}
	return status;
}

/* --- Energy above idle --- */

/*
 * Measures the energy of one run above idle with the current corrections, as the mean over the runs of a
 * window of at most 2 s (or one run); also updates late_ns.
 */
static enum kwhy_status measure_net(struct settling *settling, double *out_j, struct kwhy_error *error)
{
	struct kwhy_replay_case *replay_case = settling->replay_case;
	struct kwhy_replay_job *job = replay_case->job;
	struct kwhy_replay_window window = {.seconds = fmin(WINDOW_S, job->request->energy_s)};
	struct kwhy_replay_step step = {
		.wait_late_ns = job->latencies.late_ns, .work_factor = job->work_factor};
	enum kwhy_status status;

	snprintf(window.name, sizeof(window.name), "settling %zu", job->replay->step_count);
	status = kwhy_replay_window_run(job->energy, replay_case->run, &window, error);
	if (!status)
		status = kwhy_device_energy_read(job->energy, error);
	if (status)
		return status;
	step.span.span_s = window.sum.span_s / (double)window.runs;
	step.span.late_s = window.sum.late_s / (double)window.runs;
	step.net_j = *out_j = kwhy_replay_window_joules(job->energy, &window).net.value;
	note_step(settling, &step);
	learn_wait(settling, step.span.span_s);
	return KWHY_OK;
}

static enum kwhy_status use_factor(
	struct kwhy_replay_case *replay_case, double factor, struct kwhy_error *error)
{
	replay_case->job->work_factor = factor;
	kwhy_replay_choose_all(replay_case);
	return kwhy_replay_run_renew(replay_case->run, error);
}

/*
 * Whether all proxy kernels already draw the most, or the least, that they can, so that no other factor
 * brings the energy closer to wanted_j.
 */
static bool is_at_end(
	struct kwhy_replay_case *replay_case, const struct kwhy_replay_attempt *last, double wanted_j)
{
	enum kwhy_replay_bound bound = last->net_j < wanted_j ? KWHY_REPLAY_ALL_WORK : KWHY_REPLAY_ALL_WAIT;

	if (!kwhy_replay_is_at(
		    bound, replay_case->pattern, replay_case->job->proxies->grids, replay_case->choices))
		return false;
	replay_case->job->replay->bound = bound;
	return true;
}

/*
 * Calibrates the work factor. Tries factors until a run draws wanted_j above idle to within NEAR_RATIO, at
 * most WINDOWS of them. The factor whose energy came closest is then used.
 */
static enum kwhy_status settle_work(struct settling *settling, double wanted_j, struct kwhy_error *error)
{
	struct kwhy_replay_case *replay_case = settling->replay_case;
	struct kwhy_replay_attempt attempts[WINDOWS];
	size_t count = 0, best = 0;
	enum kwhy_status status = KWHY_OK;

	while (count < WINDOWS) {
		struct kwhy_replay_attempt *last = &attempts[count];

		last->factor = replay_case->job->work_factor;
		status = measure_net(settling, &last->net_j, error);
		if (status)
			return status;
		if (!isfinite(last->net_j))
			break;
		if (fabs(last->net_j - wanted_j) < fabs(attempts[best].net_j - wanted_j))
			best = count;
		count++;
		if (fabs(last->net_j / wanted_j - 1) <= NEAR_RATIO || is_at_end(replay_case, last, wanted_j))
			break;
		status = use_factor(replay_case, kwhy_replay_next_factor(attempts, count, wanted_j), error);
		if (status)
			return status;
	}
	if (!count)
		return KWHY_OK;
	replay_case->job->replay->first_net_off_ratio = attempts[0].net_j / wanted_j - 1;
	replay_case->job->replay->work_factor = attempts[best].factor;
	return use_factor(replay_case, attempts[best].factor, error);
}

enum kwhy_status kwhy_replay_settle(struct kwhy_replay_case *replay_case, struct kwhy_error *error)
{
	struct settling settling = {.replay_case = replay_case};
	struct kwhy_replay *replay = replay_case->job->replay;
	double recorded_s = (double)replay_case->pattern->span_ns * 1e-9,
	       wanted_j = kwhy_replay_recorded_net_j(replay);
	enum kwhy_status status = KWHY_OK;

	if (recorded_s > RUN_MAX_S)
		return KWHY_OK;
	if (replay_case->pattern->waits) {
		kwhy_replay_tell(replay_case->job, "settling");
		status = settle_time(&settling, error);
		if (!status)
			replay->first_off_ratio = replay->steps[0].span.span_s / recorded_s - 1;
	}
	if (status || !replay_case->job->energy ||
		!isfinite(kwhy_replay_net_off_ratio(replay, 0, wanted_j)) ||
		!isfinite(replay_case->job->proxies->idle_w))
		return status;
	kwhy_replay_tell(replay_case->job, "power");
	return settle_work(&settling, wanted_j, error);
}

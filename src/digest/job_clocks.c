/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantile.h"
#include "digest/joining.h"

#include <math.h>
#include <stdlib.h>

/*
 * Corrects the ranks' clocks. All ranks leave a collective at nearly the same time if none can leave before
 * the last one has entered. The mean of these times is taken as the job's time. The difference between a
 * rank's clock and the job's time is fitted by a straight line, with an offset and a drift. As the means
 * depend on the lines and the lines on the means, both are computed in turns. If one communicator has all
 * ranks, one turn is enough. If ranks are linked through several communicators, each turn brings the
 * correction from one communicator to those with which it shares ranks.
 */

enum {
	TURNS_MAX = 24,
	DRIFT_MIN = 12 /* with fewer collectives than this, only an offset is fitted */
};

/* If no clock was moved by more than this in a turn, no further turn follows. */
static const double SETTLED_NS = 50;

/* Points of the fit farther from the line than this number of standard deviations are left out. */
static const double OUTLIER_SDS = 3;

struct line {
	double offset_ns, drift;
};

/*
 * A rank's leaving of a collective, as a point of the fit. at_ns: time of its clock less its middle_ns.
 * apart_ns: its corrected time less the mean over all ranks.
 */
struct point {
	double at_ns, apart_ns;
};

static bool is_used(const struct kwhy_job *job, const struct kwhy_job_visit *visit)
{
	return kwhy_job_is_compared(job, &job->collectives[visit->collective]);
}

static struct point point_of(
	const struct kwhy_job *job, const struct kwhy_job_rank *rank, const struct kwhy_job_visit *visit)
{
	const struct kwhy_job_collective *at = &job->collectives[visit->collective];
	const int64_t exit_ns = kwhy_job_time(rank, visit->exit_ns);

	return (struct point){(double)(visit->exit_ns - rank->middle_ns),
		(double)(exit_ns - at->anchor_ns) - (double)at->exits_ns / at->ranks};
}

/*
 * Fits a line by least squares to the points at most `limit_ns` from the line `from`. *sd_ns: standard
 * deviation of the points from the new line; NAN: there are no points.
 */
static struct line fit(const struct kwhy_job *job, const struct kwhy_job_rank *rank,
	const struct kwhy_job_visit *visits, size_t count, struct line from, double limit_ns, double *sd_ns)
{
	double n = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0, mean_x, mean_y, spread_x, left;
	struct line line = {0};

	for (size_t i = 0; i < count; i++) {
		struct point point;

		if (!is_used(job, &visits[i]))
			continue;
		point = point_of(job, rank, &visits[i]);
		if (fabs(point.apart_ns - from.offset_ns - from.drift * point.at_ns) > limit_ns)
			continue;
		n++;
		x += point.at_ns;
		y += point.apart_ns;
		xx += point.at_ns * point.at_ns;
		xy += point.at_ns * point.apart_ns;
		yy += point.apart_ns * point.apart_ns;
	}
	*sd_ns = NAN;
	if (!(n > 0))
		return line;
	mean_x = x / n;
	mean_y = y / n;
	spread_x = xx / n - mean_x * mean_x;
	if (n >= DRIFT_MIN && spread_x > 0)
		line.drift = (xy / n - mean_x * mean_y) / spread_x;
	line.offset_ns = mean_y - line.drift * mean_x;
	left = yy / n - mean_y * mean_y - line.drift * line.drift * spread_x;
	*sd_ns = sqrt(fmax(0, left));
	return line;
}

/*
 * Sets exits_ns of all collectives to `value`. The value INT64_MIN marks collectives that have no anchor_ns
 * yet.
 */
static void clear_exits(struct kwhy_job *job, int64_t value)
{
	for (size_t i = 0; i < job->collective_count; i++)
		job->collectives[i].exits_ns = value;
}

/*
 * Sets a rank's offset by the first compared collective that an earlier rank has, too. In a collective
 * without an anchor, the corrected time at which this rank left becomes the anchor. Clocks of machines may be
 * days apart; sums of times less the anchor remain small, so they do not overflow.
 */
static void set_roughly(struct kwhy_job *job, struct kwhy_job_rank *rank, const struct kwhy_job_visit *visits,
	size_t count, void *context)
{
	bool is_set = false;

	(void)context;
	rank->middle_ns = visits->exit_ns + (visits[count - 1].exit_ns - visits->exit_ns) / 2;
	for (size_t i = 0; i < count && !is_set; i++) {
		const struct kwhy_job_collective *at = &job->collectives[visits[i].collective];

		is_set = is_used(job, &visits[i]) && at->exits_ns != INT64_MIN;
		if (is_set)
			rank->offset_ns = (double)(visits[i].exit_ns - at->anchor_ns);
	}
	for (size_t i = 0; i < count; i++) {
		struct kwhy_job_collective *at = &job->collectives[visits[i].collective];

		if (at->exits_ns != INT64_MIN)
			continue;
		at->exits_ns = 0;
		at->anchor_ns = kwhy_job_time(rank, visits[i].exit_ns);
	}
}

static void add_exits(struct kwhy_job *job, struct kwhy_job_rank *rank, const struct kwhy_job_visit *visits,
	size_t count, void *context)
{
	(void)context;
	for (size_t i = 0; i < count; i++) {
		struct kwhy_job_collective *at = &job->collectives[visits[i].collective];

		kwhy_job_sum(&at->exits_ns, kwhy_job_time(rank, visits[i].exit_ns) - at->anchor_ns);
	}
}

/*
 * Corrects a rank's clock further, so that its times of leaving fit the means. *context (double): raised to
 * the largest change of a time, ns.
 */
static void move_clock(struct kwhy_job *job, struct kwhy_job_rank *rank, const struct kwhy_job_visit *visits,
	size_t count, void *context)
{
	double *largest_ns = context, sd_ns, reach_ns;
	struct line line = fit(job, rank, visits, count, (struct line){0}, HUGE_VAL, &sd_ns);

	if (isnan(sd_ns))
		return;
	line = fit(job, rank, visits, count, line, OUTLIER_SDS * sd_ns + 1, &sd_ns);
	reach_ns = fabs((double)(visits[count - 1].exit_ns - rank->middle_ns));
	rank->offset_ns += line.offset_ns;
	rank->drift += line.drift;
	rank->clock_error_ns = sd_ns;
	*largest_ns = fmax(*largest_ns, fabs(line.offset_ns) + fabs(line.drift) * reach_ns);
}

static enum kwhy_status find_error(struct kwhy_job *job, struct kwhy_error *error)
{
	double *errors = malloc((job->rank_count + 1) * sizeof(*errors));
	size_t count = 0;

	if (!errors)
		return kwhy_fail_memory(error, "clocks");
	for (size_t i = 0; i < job->rank_count; i++)
		if (!isnan(job->ranks[i].clock_error_ns))
			errors[count++] = job->ranks[i].clock_error_ns;
	job->clock_error_ns = count ? kwhy_middle_real(errors, count) : NAN;
	free(errors);
	return KWHY_OK;
}

enum kwhy_status kwhy_job_fit_clocks(struct kwhy_job *job, struct kwhy_error *error)
{
	enum kwhy_status status;
	double moved_ns = HUGE_VAL;

	clear_exits(job, INT64_MIN);
	status = kwhy_job_visit_all(job, set_roughly, NULL, error);
	for (int turn = 0; !status && turn < TURNS_MAX && moved_ns > SETTLED_NS; turn++) {
		clear_exits(job, 0);
		moved_ns = 0;
		status = kwhy_job_visit_all(job, add_exits, NULL, error);
		if (!status)
			status = kwhy_job_visit_all(job, move_clock, &moved_ns, error);
	}
	return status ? status : find_error(job, error);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/costs.h"

#include "model/gpu_generation.h"
#include "whatif/curves.h"
#include "whatif/graph.h"
#include "whatif/samples.h"

#include <math.h>
#include <stdlib.h>

/*
 * Costs of calls and copies. A cost comes from the recording if that has enough samples, since then all times
 * are from one machine and one profiler; else from the machine profile; else it is assumed.
 */

#define SPREADS 1.645 /* half-width of a 90 % interval of a normal distribution, in standard deviations */

/*
 * Time in ns that one more empty kernel adds to a queue of kernels, as measured on an H100
 * (profiles/nvidia-h100.json; 1336 on an H200).
 */
#define SMALL_KERNEL_NS 1659

enum {
	FIT_COPIES = 4, /* smallest number of copies to which a line is fitted */
	/*
	 * A line is fitted only if the largest copy has at least this many times the bytes of the smallest,
	 * and used for copies of up to this many times the bytes of the largest.
	 */
	FIT_RANGE = 8,
	SMALL_BYTES = 65536, /* in bytes; the time of smaller copies is mostly latency, not transfer */
	FIT_CALLS = 3,
	/*
	 * In ns. A shorter gap between calls counts as part of the calls, also in
	 * kwhy_whatif_link_threads().
	 */
	PAUSE_NS = 20000
};

static const struct kwhy_whatif_cost unknown = {NAN, NAN, NAN, NULL, false};

/*
 * Costs in ns that are used where neither the recording nor a profile has them; they are from
 * profiles/nvidia-h200.json.
 */
static const struct kwhy_whatif_cost generic_launch = {3027, 3027, 3027, "an H200, not known here", true};
static const struct kwhy_whatif_cost generic_graph_launch = {
	1145, 1145, 1145, "an H200, not known here", true};

static struct kwhy_whatif_cost cost_of(double expected_ns, double fast_ns, double slow_ns, const char *source)
{
	return (struct kwhy_whatif_cost){expected_ns, fast_ns, slow_ns, source, false};
}

static size_t fit_index(unsigned kind, unsigned src, unsigned dst)
{
	return (kind * KWHY_MEMORY_KIND_COUNT + src) * KWHY_MEMORY_KIND_COUNT + dst;
}

/*
 * Sums over the copies of one kind, for fitting time in ns (y) = alpha + beta * bytes (x) with weights w = 1
 * / y^2: wx is the sum of w * x, and so on. least, most: bytes of the smallest and the largest copy.
 */
struct line {
	double w, wx, wy, wxx, wxy, wyy, x, y;
	uint64_t count, least, most;
};

static void add_copy(struct line *line, uint64_t bytes, int64_t length_ns)
{
	double x = (double)bytes, y = (double)(length_ns > 0 ? length_ns : 1), w = 1 / (y * y);

	line->least = line->count && line->least < bytes ? line->least : bytes;
	line->most = line->most > bytes ? line->most : bytes;
	line->count++;
	line->w += w;
	line->wx += w * x;
	line->wy += w * y;
	line->wxx += w * x * x;
	line->wxy += w * x * y;
	line->wyy += w * y * y;
	line->x += x;
	line->y += y;
}

static void fit_line(const struct line *line, struct kwhy_whatif_copy_fit *fit)
{
	double determinant = line->w * line->wxx - line->wx * line->wx, squares;

	fit->count = line->count;
	fit->bytes_least = line->least;
	fit->bytes_most = line->most;
	fit->alpha_ns = fit->beta_ns = NAN;
	fit->mean_ns = line->y / (double)line->count;
	fit->mean_bytes = line->x / (double)line->count;
	if (line->count < FIT_COPIES || (double)line->most < FIT_RANGE * fmax((double)line->least, 1) ||
		!(determinant > 0))
		return;
	fit->beta_ns = fmax((line->w * line->wxy - line->wx * line->wy) / determinant, 0);
	fit->alpha_ns = fmax((line->wy - fit->beta_ns * line->wx) / line->w, 0);
	squares = line->wyy + fit->alpha_ns * fit->alpha_ns * line->w +
		fit->beta_ns * fit->beta_ns * line->wxx - 2 * fit->alpha_ns * line->wy -
		2 * fit->beta_ns * line->wxy + 2 * fit->alpha_ns * fit->beta_ns * line->wx;
	fit->residual_ratio = sqrt(fmax(squares, 0) / (double)line->count);
}

static struct kwhy_whatif_known_copy least_copy(const struct kwhy_whatif_costs *costs, unsigned kind)
{
	struct kwhy_whatif_known_copy least = {NAN, NAN};

	for (size_t i = fit_index(kind, 0, 0); i < fit_index(kind + 1, 0, 0); i++) {
		const struct kwhy_whatif_copy_fit *fit = &costs->copies[i];
		bool fitted = isfinite(fit->alpha_ns);
		double time_ns = fitted ? fit->alpha_ns : fit->mean_ns;

		if (!fit->count || (!fitted && fit->mean_bytes >= SMALL_BYTES) || least.time_ns <= time_ns)
			continue;
		least = (struct kwhy_whatif_known_copy){fitted ? 0 : fit->mean_bytes, time_ns};
	}
	return least;
}

static void fit_copies(struct kwhy_whatif_costs *costs, const struct kwhy_recording *recording)
{
	const struct kwhy_activities *rows = &recording->activities;
	struct line lines[KWHY_WHATIF_COPY_FITS] = {{0}};

	for (size_t i = 0; i < rows->count; i++)
		if (rows->kind[i] == KWHY_ACTIVITY_COPY && rows->bytes[i] != KWHY_UNKNOWN_BYTES)
			add_copy(&lines[fit_index(
					 rows->copy_kind[i], rows->src_memory[i], rows->dst_memory[i])],
				rows->bytes[i], rows->end_ns[i] - rows->start_ns[i]);
	for (size_t i = 0; i < KWHY_WHATIF_COPY_FITS; i++)
		if (lines[i].count)
			fit_line(&lines[i], &costs->copies[i]);
	for (unsigned kind = 0; kind < KWHY_COPY_KIND_COUNT; kind++)
		costs->least_copy[kind] = least_copy(costs, kind);
}

static struct kwhy_whatif_cost measured(struct kwhy_measured seconds)
{
	double sd = isfinite(seconds.sd) ? SPREADS * seconds.sd : 0;

	if (!isfinite(seconds.value))
		return unknown;
	return cost_of(seconds.value * 1e9, fmax(seconds.value - sd, 0) * 1e9, (seconds.value + sd) * 1e9,
		"the machine profile");
}

/*
 * Cost from samples: the median is the expected cost; the quartiles are the fast and the slow cost. It is
 * unknown if there are fewer than FIT_CALLS samples.
 */
static struct kwhy_whatif_cost sampled(struct kwhy_whatif_samples *samples)
{
	if (samples->count < FIT_CALLS)
		return unknown;
	return cost_of((double)kwhy_whatif_quantile(samples, 0.5),
		(double)kwhy_whatif_quantile(samples, 0.25), (double)kwhy_whatif_quantile(samples, 0.75),
		"this recording");
}

enum call_sort { SORT_OTHER, SORT_LAUNCH, SORT_GRAPH, SORT_EVENT, SORT_POOL, SORT_COUNT };

static enum call_sort sort_of(const struct kwhy_whatif_graph *graph, size_t call)
{
	const enum kwhy_call_class class = graph->recording->calls.class[call];

	if (kwhy_whatif_call_is(graph, call, KWHY_MARK_GRAPH))
		return SORT_GRAPH;
	if (kwhy_whatif_call_is(graph, call, KWHY_MARK_EVENT))
		return SORT_EVENT;
	if (class == KWHY_CALL_ALLOC || class == KWHY_CALL_FREE)
		return kwhy_whatif_call_is(graph, call, KWHY_MARK_ASYNC) ? SORT_POOL : SORT_OTHER;
	return class == KWHY_CALL_LAUNCH && kwhy_whatif_call_is(graph, call, KWHY_MARK_LAUNCH) ? SORT_LAUNCH
											       : SORT_OTHER;
}

/*
 * Samples in ns: durations of outermost calls by sort of call, and pauses of the thread before them by class
 * of call.
 */
struct call_samples {
	struct kwhy_whatif_samples sorts[SORT_COUNT], gaps[KWHY_CALL_CLASS_COUNT];
};

static void sample_calls(const struct kwhy_whatif_graph *graph, struct call_samples *samples)
{
	const struct kwhy_calls *calls = &graph->recording->calls;

	for (size_t i = 0; i < calls->count; i++) {
		uint32_t before = graph->nodes[graph->activity_count + i].from[KWHY_LINK_ORDER];
		enum call_sort sort;

		if (graph->outer[i] != i)
			continue;
		sort = sort_of(graph, i);
		kwhy_whatif_sample(&samples->sorts[sort], calls->end_ns[i] - calls->start_ns[i]);
		if (before != KWHY_NONE)
			kwhy_whatif_sample(&samples->gaps[calls->class[i]],
				calls->start_ns[i] - calls->end_ns[before - graph->activity_count]);
	}
}

/* Mean number of activities of a recorded graph launch. */
static double mean_graph_nodes(const struct kwhy_whatif_graph *graph, const struct call_samples *samples)
{
	const struct kwhy_activities *rows = &graph->recording->activities;
	size_t nodes = 0;

	for (size_t i = 0; i < rows->count; i++)
		nodes += rows->graph_node[i] != KWHY_NONE;
	return (double)nodes / (double)samples->sorts[SORT_GRAPH].seen;
}

static double known_or_0(double seconds)
{
	return isfinite(seconds) ? seconds * 1e9 : 0;
}

/*
 * Finds the costs of graphs. graph_launch is from the recording, with graph_nodes, or from the profile, where
 * it is for a graph of one node, or assumed. The other costs are from the profile alone.
 */
static void graph_costs(
	struct kwhy_whatif_costs *costs, const struct kwhy_whatif_graph *graph, struct call_samples *samples)
{
	const struct kwhy_profile *profile = costs->profile;

	costs->graph_launch = sampled(&samples->sorts[SORT_GRAPH]);
	costs->graph_nodes = 1;
	if (isfinite(costs->graph_launch.expected_ns))
		costs->graph_nodes = fmax(mean_graph_nodes(graph, samples), 1);
	else if (profile)
		costs->graph_launch = measured(profile->graph_launch_s);
	if (!isfinite(costs->graph_launch.expected_ns))
		costs->graph_launch = generic_graph_launch;
	if (!profile)
		return;
	costs->graph_launch_node = measured(profile->graph_launch_node_s);
	costs->graph_start_node = measured(profile->graph_start_node_s);
	costs->graph_node_ns = known_or_0(profile->graph_node_s.value);
	costs->graph_saves_ns = known_or_0(
		fmax(profile->queued_kernel_s.value - profile->graph_node_s.value, 0));
}

static int64_t not_below_0(int64_t value)
{
	return value < 0 ? 0 : value;
}

/*
 * Computes, from the gaps before calls of a class, their median, and the limit above which a gap is an
 * outlier: the third quartile plus three interquartile ranges, at least PAUSE_NS.
 */
static void usual_gaps(struct kwhy_whatif_samples *gaps, int64_t *usual_ns, int64_t *far_ns)
{
	int64_t low_ns = not_below_0(kwhy_whatif_quantile(gaps, 0.25));
	int64_t high_ns = not_below_0(kwhy_whatif_quantile(gaps, 0.75));

	*usual_ns = not_below_0(kwhy_whatif_quantile(gaps, 0.5));
	*far_ns = high_ns + 3 * (high_ns - low_ns);
	*far_ns = *far_ns < PAUSE_NS ? PAUSE_NS : *far_ns;
}

static void call_costs(struct kwhy_whatif_costs *costs, struct call_samples *samples)
{
	costs->launch = sampled(&samples->sorts[SORT_LAUNCH]);
	costs->event = sampled(&samples->sorts[SORT_EVENT]);
	costs->pool = sampled(&samples->sorts[SORT_POOL]);
	if (costs->profile && !isfinite(costs->launch.expected_ns))
		costs->launch = measured(costs->profile->launch_s);
	if (!isfinite(costs->launch.expected_ns))
		costs->launch = generic_launch;
	for (size_t class = 0; class < KWHY_CALL_CLASS_COUNT; class ++)
		usual_gaps(&samples->gaps[class], &costs->usual_gap_ns[class], &costs->far_gap_ns[class]);
	/*
	 * Without samples, recording an event and allocating from a pool are taken to cost as much as a
	 * launch, since these calls return at once, too.
	 */
	if (!isfinite(costs->event.expected_ns))
		costs->event = costs->launch;
	if (!isfinite(costs->pool.expected_ns))
		costs->pool = costs->launch;
}

/*
 * Device time of one more small kernel: the profile's, if it states one; else the length of the shortest
 * recorded kernel, but at most SMALL_KERNEL_NS.
 */
static struct kwhy_whatif_cost small_kernel(const struct kwhy_whatif_costs *costs)
{
	double least_ns = costs->least_kernel_ns;

	if (costs->profile && isfinite(costs->profile->queued_kernel_s.value))
		return measured(costs->profile->queued_kernel_s);
	if (least_ns <= SMALL_KERNEL_NS)
		return cost_of(least_ns, least_ns, least_ns, "the shortest kernel seen");
	return cost_of(SMALL_KERNEL_NS, SMALL_KERNEL_NS, SMALL_KERNEL_NS, "as measured on an H100");
}

static const struct kwhy_gpu_generation *fastest_link(const struct kwhy_recording *recording)
{
	const struct kwhy_gpu_generation *fastest = NULL;

	for (size_t d = 0; d < recording->device_count; d++) {
		const struct kwhy_gpu_generation *here = kwhy_gpu_generation_of(&recording->devices[d]);

		if (!fastest || here->link_bytes_per_s > fastest->link_bytes_per_s)
			fastest = here;
	}
	return fastest;
}

enum kwhy_status kwhy_whatif_costs_init(struct kwhy_whatif_costs *costs,
	const struct kwhy_whatif_graph *graph, const struct kwhy_profile *profile, struct kwhy_error *error)
{
	const struct kwhy_activities *rows = &graph->recording->activities;
	struct call_samples *samples = calloc(1, sizeof(*samples));

	*costs = (struct kwhy_whatif_costs){.graph_launch = unknown,
		.graph_launch_node = unknown,
		.graph_start_node = unknown,
		.launch = unknown,
		.event = unknown,
		.pool = unknown,
		.least_kernel_ns = NAN,
		.profile = profile,
		.link = fastest_link(graph->recording)};
	fit_copies(costs, graph->recording);
	for (size_t i = 0; i < rows->count; i++)
		if (rows->kind[i] == KWHY_ACTIVITY_KERNEL && rows->end_ns[i] > rows->start_ns[i])
			costs->least_kernel_ns = fmin(
				costs->least_kernel_ns, (double)(rows->end_ns[i] - rows->start_ns[i]));
	costs->small_kernel = small_kernel(costs);
	if (!samples)
		return kwhy_fail_memory(error, "costs of calls");
	sample_calls(graph, samples);
	graph_costs(costs, graph, samples);
	call_costs(costs, samples);
	free(samples);
	return KWHY_OK;
}

static struct kwhy_measured profile_rate(
	const struct kwhy_profile *profile, enum kwhy_copy_kind kind, bool pageable)
{
	if (profile && kind == KWHY_COPY_H2D)
		return pageable ? profile->h2d_pageable_rate_bytes_per_s
				: profile->h2d_pinned_rate_bytes_per_s;
	if (profile && kind == KWHY_COPY_D2H)
		return pageable ? profile->d2h_pageable_rate_bytes_per_s
				: profile->d2h_pinned_rate_bytes_per_s;
	return (struct kwhy_measured){NAN, NAN};
}

static double fitted_ns(const struct kwhy_whatif_copy_fit *fit, double bytes)
{
	return fit->alpha_ns + fit->beta_ns * bytes;
}

/*
 * A copy whose time is known, from which the times of copies of other sizes are computed. If the recording
 * has copies of the same direction and kinds of memory, it is the largest one at its fitted time or, without
 * a fit, a copy of mean size and time. Otherwise it is `least`, the least copy of that direction.
 */
static struct kwhy_whatif_known_copy known_copy_of(
	const struct kwhy_whatif_copy_fit *fit, const struct kwhy_whatif_known_copy *least)
{
	if (!fit->count)
		return *least;
	if (isfinite(fit->alpha_ns))
		return (struct kwhy_whatif_known_copy){
			(double)fit->bytes_most, fitted_ns(fit, (double)fit->bytes_most)};
	return (struct kwhy_whatif_known_copy){fit->mean_bytes, fit->mean_ns};
}

static struct kwhy_whatif_cost with_spread(double expected_ns, double ratio, const char *source)
{
	ratio = fmin(ratio, 0.9);
	return cost_of(expected_ns, expected_ns * (1 - ratio), expected_ns * (1 + ratio), source);
}

/*
 * Cost of a copy from a measured transfer curve (time by bytes). The curve contains the latency before and
 * after the transfer, recorded times do not. So the expected cost is the time of a known copy plus the
 * difference of the curve between the two sizes; without a known copy, the curve itself.
 */
static struct kwhy_whatif_cost by_curve(const struct kwhy_transfer_curve *curve,
	const struct kwhy_whatif_known_copy *known_copy, double bytes)
{
	double curve_ns = kwhy_whatif_curve_ns(curve, bytes), expected_ns = curve_ns;
	double sd = isfinite(curve->residual_ratio) ? SPREADS * curve->residual_ratio : 0;

	if (isfinite(known_copy->time_ns))
		expected_ns = fmax(
			known_copy->time_ns + curve_ns - kwhy_whatif_curve_ns(curve, known_copy->bytes),
			fmin(known_copy->time_ns, curve_ns));
	return with_spread(expected_ns, sd, "the machine profile's curve");
}

struct kwhy_whatif_cost kwhy_whatif_copy_cost(const struct kwhy_whatif_costs *costs, enum kwhy_copy_kind kind,
	enum kwhy_memory_kind src, enum kwhy_memory_kind dst, double bytes)
{
	const struct kwhy_whatif_copy_fit *fit = &costs->copies[fit_index(kind, src, dst)];
	bool pageable = src == KWHY_MEMORY_PAGEABLE || dst == KWHY_MEMORY_PAGEABLE;
	const struct kwhy_transfer_curve *curve = kwhy_whatif_copy_curve(costs->profile, kind, pageable);
	struct kwhy_measured rate = profile_rate(costs->profile, kind, pageable);
	const struct kwhy_whatif_known_copy *least = &costs->least_copy[kind];
	struct kwhy_whatif_known_copy known_copy = known_copy_of(fit, least);
	bool fitted = fit->count && isfinite(fit->alpha_ns);
	bool in_range = bytes <= FIT_RANGE * (double)fit->bytes_most;

	if (fitted && (in_range || (!curve && !isfinite(rate.value))))
		return with_spread(fitted_ns(fit, bytes), fit->residual_ratio, "this recording");
	if (curve)
		return by_curve(curve, &known_copy, bytes);
	if (isfinite(rate.value)) {
		double sd = isfinite(rate.sd) ? SPREADS * rate.sd / rate.value : 0;
		double least_ns = isfinite(least->time_ns) ? least->time_ns : 0;

		return with_spread(least_ns + bytes / rate.value * 1e9, sd, "the machine profile");
	}
	if (fit->count && fit->mean_bytes >= SMALL_BYTES)
		return with_spread(bytes * fit->mean_ns / fit->mean_bytes, 0, "the rate of this recording");
	return unknown;
}

struct kwhy_whatif_cost kwhy_whatif_link_cost(const struct kwhy_whatif_costs *costs, double bytes)
{
	double time_ns = bytes / costs->link->link_bytes_per_s * 1e9;

	return (struct kwhy_whatif_cost){time_ns, time_ns, time_ns, costs->link->link, true};
}

double kwhy_whatif_cost_at(const struct kwhy_whatif_cost *cost, enum kwhy_whatif_corner corner)
{
	switch (corner) {
	case KWHY_CORNER_FAST:
		return cost->fast_ns;
	case KWHY_CORNER_SLOW:
		return cost->slow_ns;
	default:
		return cost->expected_ns;
	}
}

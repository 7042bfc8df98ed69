/* SPDX-License-Identifier: Apache-2.0 */
#include "mixture_generator.h"

#include "base/column.h"
#include "mixture_parts.h"

#include <stdlib.h>
#include <string.h>

/*
 * Standard deviation of an activity's power, relative to the mean power of its kind of work (kernels of one
 * name differ because of their data).
 */
#define VARIATION_RATIO 0.005
/* Time constant with which the power of a kind of work rises to its full value after another kind ran. */
#define WARM_UP_NS 30e6
/*
 * Time for which the meters run before and after the work, as in the measurements on an H200 that the
 * mixtures imitate.
 */
#define METERED_EDGE_NS 1e9
/* Time constant of the mean power that determines the additional leakage of warm silicon. */
#define HEAT_NS 1e9
/*
 * Longest stretch (struct kwhy_mixture_stretch). Powers drift from stretch to stretch and are constant within
 * one.
 */
#define DRIFT_STEP_NS 50e6
#define NO_WORK SIZE_MAX

struct schedule_words {
	const char *name, *text;
};

static const struct schedule_words words[KWHY_MIXTURE_SCHEDULE_COUNT] = {
	[KWHY_MIXTURE_BURST] = {"burst", "runs of one kind, 0.2-70 ms, and idle"},
	[KWHY_MIXTURE_FINE] = {"fine", "0.1-0.3 ms in random order"},
	[KWHY_MIXTURE_LOOP] = {"loop", "five or six kinds and idle in a fixed order, period 4-100 ms"},
	[KWHY_MIXTURE_DECODE] = {"decode", "kernels of microseconds, 85 % idle"},
	[KWHY_MIXTURE_TRAIN] = {"train", "steps of 2-3 ms of a copy and many kernels"},
	[KWHY_MIXTURE_LONG_TAIL] = {"long-tail", "40-60 kernel names, few dominate"},
	[KWHY_MIXTURE_STREAMS] = {"streams", "bursts in one stream, copies under them in another"},
};

const char *kwhy_mixture_schedule_name(enum kwhy_mixture_schedule schedule)
{
	return words[schedule].name;
}

const char *kwhy_mixture_schedule_text(enum kwhy_mixture_schedule schedule)
{
	return words[schedule].text;
}

static struct kwhy_measured measured(double value, double sd)
{
	return (struct kwhy_measured){.value = value, .sd = sd};
}

static void forget_profile(struct kwhy_profile *profile)
{
	const struct kwhy_measured unknown = {.value = NAN, .sd = NAN};

	*profile = (struct kwhy_profile){
		.device_name = "simulated",
		.memory_rate_bytes_per_s = NAN,
		.clean_idle_w = unknown,
		.context_idle_w = unknown,
		.launch_s = unknown,
		.synchronize_s = unknown,
		.copy_latency_s = unknown,
		.graph_launch_s = unknown,
		.h2d_pinned_rate_bytes_per_s = unknown,
		.h2d_pageable_rate_bytes_per_s = unknown,
		.d2h_pinned_rate_bytes_per_s = unknown,
		.d2h_pageable_rate_bytes_per_s = unknown,
	};
	profile->limit_w = NAN;
}

/*
 * Chooses a machine at random, and sets the profile. What the profile states about the meter are the values
 * measured on one H200 with their standard deviations; the machine's true values are drawn from these
 * distributions. The profile's idle level is the true one as the machine's meter shows it (`gain`), with an
 * error of 2 W (standard deviation), as if read at another temperature.
 */
void kwhy_mixture_draw_machine(struct kwhy_mixture_builder *builder, bool level_unknown)
{
	struct kwhy_mixture *mixture = builder->mixture;
	struct kwhy_random *random = &builder->random;
	struct kwhy_profile *profile = &mixture->profile;
	bool small = kwhy_mixture_random_unit(random) < 0.25;
	double level_error_w = kwhy_mixture_random_normal(random, 0, 2);

	builder->scale = small ? 0.5 : 1;
	builder->sm_count = small ? 108 : 132;
	mixture->idle_w = small ? kwhy_mixture_random_range(random, 45, 90)
				: kwhy_mixture_random_range(random, 110, 130);
	mixture->leak_ratio = kwhy_mixture_random_range(random, 0.005, 0.02);
	mixture->gain = kwhy_mixture_random_normal(random, 1, 0.025);
	mixture->time_constant_s = fmax(5e-3, kwhy_mixture_random_normal(random, 14.5e-3, 1.5e-3));
	mixture->delay_s = fmax(0, kwhy_mixture_random_normal(random, 3.5e-3, 1e-3));
	mixture->look_period_s = kwhy_mixture_random_range(random, 0.3e-3, 0.7e-3);
	forget_profile(profile);
	profile->sm_count = (uint32_t)builder->sm_count;
	profile->limit_w = small ? 350 : 700;
	profile->sensor.time_constant_s = measured(14.5e-3, 1.5e-3);
	profile->sensor.delay_s = measured(3.5e-3, 1e-3);
	profile->sensor.sample_period_s = measured(20.02e-3, 0.1e-3);
	profile->sensor.counter_period_s = measured(100e-3, 0.03e-3);
	profile->sensor.late_share = 0.2;
	profile->sensor.late_s = measured(8e-3, 1.2e-3);
	profile->sensor.average_window_s = 1;
	if (!level_unknown)
		profile->context_idle_w = measured(mixture->gain * mixture->idle_w + level_error_w, 3);
}

static double power_of(
	struct kwhy_mixture_builder *builder, uint32_t stream, const struct kwhy_mixture_kind *kind)
{
	double warm_ns = builder->now_ns[stream] - builder->run_start_ns[stream];
	double varied = kwhy_mixture_random_normal(&builder->random, 1, VARIATION_RATIO);

	return kind->net_w * varied * (1 - kind->cooling_ratio * exp(-warm_ns / WARM_UP_NS));
}

void kwhy_mixture_run(
	struct kwhy_mixture_builder *builder, uint32_t stream, uint32_t kind, double length_ns, double gap_ns)
{
	struct kwhy_mixture *mixture = builder->mixture;
	double start_ns = builder->now_ns[stream] + gap_ns;

	if (!builder->status)
		builder->status = kwhy_column_reserve((void **)&mixture->works, &mixture->work_capacity,
			mixture->work_count + 1, sizeof(*mixture->works), "the mixture", builder->error);
	if (builder->status)
		return;
	builder->now_ns[stream] = start_ns;
	if (builder->last_kind[stream] != kind) {
		builder->last_kind[stream] = kind;
		builder->run_start_ns[stream] = start_ns;
	}
	mixture->works[mixture->work_count++] = (struct kwhy_mixture_work){
		.start_ns = start_ns,
		.end_ns = start_ns + length_ns,
		.net_w = power_of(builder, stream, &mixture->kinds[kind]),
		.kind = kind,
		.stream = stream,
	};
	builder->now_ns[stream] = start_ns + length_ns;
}

/*
 * State while time is divided into stretches. Entries of `works` that belong to one stream are in order of
 * time.
 */
struct cutter {
	struct kwhy_mixture_builder *builder;
	size_t next[KWHY_MIXTURE_STREAMS_MAX]; /* index of the work of each stream that runs or comes next;
						  work_count: no work is left */
	double now_ns, end_ns;
	double drift, drift_per_root_ns;
	/* exponential mean of the power above the cold idle level, with the time constant HEAT_NS, W */
	double heat_w;
};

static size_t next_of_stream(const struct kwhy_mixture *mixture, uint32_t stream, size_t from)
{
	while (from < mixture->work_count && mixture->works[from].stream != stream)
		from++;
	return from;
}

static void add_stretch(struct cutter *cutter, struct kwhy_mixture_stretch stretch)
{
	struct kwhy_mixture_builder *builder = cutter->builder;
	struct kwhy_mixture *mixture = builder->mixture;
	double length_ns = stretch.end_ns - stretch.start_ns, above_w;
	double step = cutter->drift_per_root_ns * sqrt(length_ns);

	if (!builder->status)
		builder->status = kwhy_column_reserve((void **)&mixture->stretches,
			&mixture->stretch_capacity, mixture->stretch_count + 1, sizeof(*mixture->stretches),
			"the mixture", builder->error);
	if (builder->status)
		return;
	cutter->drift = kwhy_mixture_random_normal(&builder->random, cutter->drift, step);
	stretch.idle_w = mixture->idle_w * cutter->drift + mixture->leak_ratio * cutter->heat_w;
	above_w = stretch.idle_w - mixture->idle_w;
	for (uint32_t s = 0; s < KWHY_MIXTURE_STREAMS_MAX; s++)
		above_w += stretch.net_w[s] *= cutter->drift;
	cutter->heat_w += (above_w - cutter->heat_w) * -expm1(-length_ns / HEAT_NS);
	mixture->stretches[mixture->stretch_count++] = stretch;
}

/*
 * Returns the stretch that begins at now_ns. It lasts until the next start or end of an activity in any
 * stream, but at most DRIFT_STEP_NS.
 */
static struct kwhy_mixture_stretch stretch_from_now(struct cutter *cutter)
{
	const struct kwhy_mixture *mixture = cutter->builder->mixture;
	struct kwhy_mixture_stretch stretch = {
		.start_ns = cutter->now_ns,
		.end_ns = fmin(cutter->end_ns, cutter->now_ns + DRIFT_STEP_NS),
		.work = {NO_WORK, NO_WORK},
	};

	for (uint32_t s = 0; s < mixture->stream_count; s++) {
		const struct kwhy_mixture_work *work = &mixture->works[cutter->next[s]];
		bool runs = cutter->next[s] < mixture->work_count && work->start_ns <= cutter->now_ns;

		if (cutter->next[s] == mixture->work_count)
			continue;
		stretch.end_ns = fmin(stretch.end_ns, runs ? work->end_ns : work->start_ns);
		stretch.net_w[s] = runs ? work->net_w : 0;
		stretch.work[s] = runs ? cutter->next[s] : NO_WORK;
	}
	return stretch;
}

static void cut(struct cutter *cutter)
{
	const struct kwhy_mixture *mixture = cutter->builder->mixture;

	while (!cutter->builder->status && cutter->now_ns < cutter->end_ns) {
		struct kwhy_mixture_stretch stretch = stretch_from_now(cutter);

		add_stretch(cutter, stretch);
		cutter->now_ns = stretch.end_ns;
		for (uint32_t s = 0; s < mixture->stream_count; s++)
			if (stretch.work[s] != NO_WORK &&
				mixture->works[stretch.work[s]].end_ns <= stretch.end_ns)
				cutter->next[s] = next_of_stream(mixture, s, stretch.work[s] + 1);
	}
}

void kwhy_mixture_lay_stretches(struct kwhy_mixture_builder *builder)
{
	double end_ns = fmax(builder->now_ns[0], builder->now_ns[1]);
	double unrecorded_ns = builder->coverage_start_ns -
		1e6; /* end of the work, if there is any, that runs before the recording begins */
	bool unrecorded = kwhy_mixture_random_unit(&builder->random) < 1 / 3.0;
	struct cutter cutter = {
		.builder = builder,
		.now_ns = unrecorded_ns,
		.end_ns = end_ns + METERED_EDGE_NS,
		.drift = 1,
		.drift_per_root_ns = kwhy_mixture_random_range(&builder->random, 0.005, 0.015) / sqrt(end_ns),
	};

	for (uint32_t s = 0; s < KWHY_MIXTURE_STREAMS_MAX; s++)
		cutter.next[s] = next_of_stream(builder->mixture, s, 0);
	add_stretch(&cutter,
		(struct kwhy_mixture_stretch){
			.start_ns = unrecorded_ns - METERED_EDGE_NS,
			.end_ns = unrecorded_ns,
			.net_w = {unrecorded ? 250 * builder->scale : 0},
			.work = {NO_WORK, NO_WORK},
		});
	cut(&cutter);
}

static double work_w(const struct kwhy_mixture *mixture, const struct kwhy_mixture_stretch *stretch,
	uint32_t stream, bool alone)
{
	const struct kwhy_mixture_work *work = &mixture->works[stretch->work[stream]];

	return alone ? mixture->kinds[work->kind].net_w * (1 + mixture->leak_ratio) : stretch->net_w[stream];
}

/*
 * Adds the energy of length_ns of a stretch to the truth of the activities that run in it, or to *idle_nj if
 * none runs.
 */
static void add_stretch_truth(const struct kwhy_mixture *mixture, const struct kwhy_mixture_stretch *stretch,
	double length_ns, double *idle_nj, struct kwhy_mixture_truth *truth)
{
	int running = (stretch->work[0] != NO_WORK) + (stretch->work[1] != NO_WORK);
	double idle_w = truth->alone ? mixture->idle_w : stretch->idle_w;

	if (!running)
		*idle_nj += idle_w * length_ns;
	for (uint32_t s = 0; s < KWHY_MIXTURE_STREAMS_MAX; s++)
		if (stretch->work[s] != NO_WORK)
			truth->row_nj[mixture->works[stretch->work[s]].row] +=
				(idle_w / running + work_w(mixture, stretch, s, truth->alone)) * length_ns;
}

void kwhy_mixture_truth_sum(const struct kwhy_mixture *mixture, int64_t start_ns, int64_t end_ns,
	struct kwhy_mixture_truth *truth)
{
	double from_ns = (double)(start_ns - mixture->origin_ns),
	       to_ns = (double)(end_ns - mixture->origin_ns);
	double last_ns = 0;

	truth->idle_nj = truth->outside_nj = 0;
	memset(truth->row_nj, 0, mixture->recording->activities.count * sizeof(*truth->row_nj));
	for (size_t i = 0; i < mixture->work_count; i++)
		last_ns = fmax(last_ns, mixture->works[i].end_ns);
	for (size_t i = 0; i < mixture->stretch_count; i++) {
		const struct kwhy_mixture_stretch *stretch = &mixture->stretches[i];
		double length_ns = fmin(stretch->end_ns, to_ns) - fmax(stretch->start_ns, from_ns);
		bool inside = stretch->start_ns >= 0 && stretch->start_ns < last_ns;

		if (length_ns > 0)
			add_stretch_truth(mixture, stretch, length_ns,
				inside ? &truth->idle_nj : &truth->outside_nj, truth);
	}
}

enum kwhy_status kwhy_mixture_init(
	struct kwhy_mixture *out, const struct kwhy_mixture_options *options, struct kwhy_error *error)
{
	struct kwhy_mixture mixture = {0};
	struct kwhy_mixture_builder builder = {
		.mixture = &mixture,
		.error = error,
		.last_kind = {UINT32_MAX, UINT32_MAX},
	};
	double duration_s;

	kwhy_random_init(&builder.random, options->seed << 8 | (uint64_t)options->schedule);
	duration_s = kwhy_mixture_random_range(&builder.random, 10, 30);
	if (options->duration_s > 0)
		duration_s = options->duration_s;
	if (kwhy_mixture_random_unit(&builder.random) < 0.5)
		builder.coverage_start_ns = -kwhy_mixture_random_range(&builder.random, 0, 0.3e9);
	kwhy_mixture_draw_machine(&builder, options->level_unknown);
	kwhy_mixture_draw_work(&builder, options->schedule, duration_s * 1e9);
	kwhy_mixture_lay_stretches(&builder);
	kwhy_mixture_record(&builder);
	if (builder.status) {
		kwhy_mixture_done(&mixture);
		return builder.status;
	}
	*out = mixture;
	return KWHY_OK;
}

void kwhy_mixture_done(struct kwhy_mixture *mixture)
{
	kwhy_recording_free(mixture->recording);
	free(mixture->works);
	free(mixture->stretches);
	*mixture = (struct kwhy_mixture){0};
}

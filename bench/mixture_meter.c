/* SPDX-License-Identifier: Apache-2.0 */
#include "mixture_parts.h"

#include <string.h>

/*
 * The faults of the simulated meters, as measured on one H200. Samples in the driver's ring buffer are 20.02
 * ms apart, but some gaps are longer, and every fifth sample has a time stamp that is 6 to 10 ms late. An
 * update of the energy counter is read some tenths of a millisecond after it was made.
 */
#define SAMPLE_PERIOD_NS 20.02e6
#define COUNTER_PERIOD_NS 100e6
#define METER_STARTS_NS 0.05e9 /* time from the start of the first stretch to the meters' first reading */

#define COPY_RATE_BYTES_PER_NS 55 /* page-locked memory over PCIe 5 x16 */

/*
 * The simulated meter samples the true power every look_period_s, holds each value until the next sample, and
 * passes the held values through a low-pass filter of first order. The filter's output and its integral are
 * computed exactly. Because of the sampling, the power in the counter's updates scatters by 4 % over kernels
 * of 0.1-0.3 ms; with a continuous input it would scatter by 0.7 %.
 */
struct filter {
	const struct kwhy_mixture *mixture;
	size_t stretch;		/* stretch at the time of the last sample, look_ns */
	double look_ns, now_ns; /* look_ns: time of the last sample; now_ns: time up to which the response is
				   computed, at most one period later */
	double power_w, energy_nj;
};

static double stretch_power_w(const struct kwhy_mixture_stretch *stretch)
{
	double power_w = stretch->idle_w;

	for (uint32_t s = 0; s < KWHY_MIXTURE_STREAMS_MAX; s++)
		power_w += stretch->net_w[s];
	return power_w;
}

static struct filter filter_at_start(const struct kwhy_mixture *mixture)
{
	return (struct filter){
		.mixture = mixture,
		.look_ns = mixture->stretches[0].start_ns,
		.now_ns = mixture->stretches[0].start_ns,
		.power_w = stretch_power_w(&mixture->stretches[0]),
	};
}

/* Advances the filter from now_ns to `to_ns`, while its input is the power sampled at look_ns. */
static void filter_hold(struct filter *filter, double to_ns)
{
	const struct kwhy_mixture *mixture = filter->mixture;
	double constant_ns = mixture->time_constant_s * 1e9, length_ns = to_ns - filter->now_ns;
	double power_w = stretch_power_w(&mixture->stretches[filter->stretch]);
	double passed = -expm1(-length_ns / constant_ns);

	filter->energy_nj += power_w * length_ns + (filter->power_w - power_w) * constant_ns * passed;
	filter->power_w += (power_w - filter->power_w) * passed;
	filter->now_ns = to_ns;
}

static void filter_advance(struct filter *filter, double to_ns)
{
	const struct kwhy_mixture *mixture = filter->mixture;
	double period_ns = mixture->look_period_s * 1e9;

	while (filter->look_ns + period_ns <= to_ns) {
		filter_hold(filter, filter->look_ns + period_ns);
		filter->look_ns += period_ns;
		while (filter->stretch + 1 < mixture->stretch_count &&
			mixture->stretches[filter->stretch].end_ns <= filter->look_ns)
			filter->stretch++;
	}
	filter_hold(filter, to_ns);
}

static void add_reading(
	struct kwhy_mixture_builder *builder, enum kwhy_meter meter, double time_ns, double value)
{
	struct kwhy_mixture *mixture = builder->mixture;

	if (!builder->status)
		builder->status = kwhy_recording_add_reading(mixture->recording, meter, 0, 0,
			mixture->origin_ns + (int64_t)time_ns, (int64_t)value, builder->error);
}

static void add_samples(struct kwhy_mixture_builder *builder, double end_ns)
{
	struct kwhy_mixture *mixture = builder->mixture;
	struct kwhy_random *random = &builder->random;
	struct filter filter = filter_at_start(mixture);
	double noise_ratio = kwhy_mixture_random_range(random, 0.003, 0.01);
	double now_ns = filter.now_ns + METER_STARTS_NS, stamp_ns, last_stamp_ns = -INFINITY;

	for (unsigned i = kwhy_mixture_random_pick(random, 5); now_ns < end_ns; i++) {
		filter_advance(&filter, now_ns - mixture->delay_s * 1e9);
		stamp_ns = now_ns + kwhy_mixture_random_normal(random, 0, 0.15e6);
		if (i % 5 == 0)
			stamp_ns += kwhy_mixture_random_range(random, 6e6, 10e6);
		if (stamp_ns > last_stamp_ns + 1e6) {
			double power_w = mixture->gain * filter.power_w;

			add_reading(builder, KWHY_METER_NVML_SAMPLE, stamp_ns,
				power_w * 1e3 * kwhy_mixture_random_normal(random, 1, noise_ratio));
			last_stamp_ns = stamp_ns;
		}
		now_ns += kwhy_mixture_random_normal(random, SAMPLE_PERIOD_NS, 0.2e6);
		if (kwhy_mixture_random_unit(random) < 0.01)
			now_ns += kwhy_mixture_random_range(random, 0, 17e6);
	}
}

static void add_ticks(struct kwhy_mixture_builder *builder, double end_ns)
{
	struct kwhy_mixture *mixture = builder->mixture;
	struct kwhy_random *random = &builder->random;
	struct filter filter = filter_at_start(mixture);
	double first_mj = kwhy_mixture_random_range(random, 1e6, 1e9);
	double period_ns = COUNTER_PERIOD_NS * kwhy_mixture_random_range(random, 0.9997, 1.0005);
	double now_ns = filter.now_ns + METER_STARTS_NS + kwhy_mixture_random_range(random, 0, period_ns);

	for (; now_ns < end_ns; now_ns += period_ns) {
		double tick_ns = now_ns + kwhy_mixture_random_normal(random, 0, 0.2e6);
		double late_ns = fabs(kwhy_mixture_random_normal(random, 0, 0.7e6));

		filter_advance(&filter, tick_ns - mixture->delay_s * 1e9);
		add_reading(builder, KWHY_METER_NVML_ENERGY, tick_ns + late_ns,
			first_mj + mixture->gain * filter.energy_nj * 1e-6);
	}
}

/*
 * Adds the activities as CUPTI would report them: start and end shifted by a random error (standard deviation
 * 0.2 to 2 us in this mixture), but not overlapping within a stream.
 */
static void add_activities(struct kwhy_mixture_builder *builder, const uint32_t *names)
{
	struct kwhy_mixture *mixture = builder->mixture;
	double jitter_ns = kwhy_mixture_random_range(&builder->random, 200, 2000);
	int64_t last_ns[KWHY_MIXTURE_STREAMS_MAX] = {INT64_MIN, INT64_MIN};

	for (size_t i = 0; !builder->status && i < mixture->work_count; i++) {
		const struct kwhy_mixture_work *work = &mixture->works[i];
		const struct kwhy_mixture_kind *kind = &mixture->kinds[work->kind];
		struct kwhy_activity activity = kwhy_activity_unknown();
		double off_ns = kwhy_mixture_random_normal(&builder->random, 0, jitter_ns);
		int64_t start_ns = mixture->origin_ns + (int64_t)(work->start_ns + off_ns);

		if (start_ns < last_ns[work->stream])
			start_ns = last_ns[work->stream];
		activity.start_ns = start_ns;
		activity.end_ns = start_ns + (int64_t)(work->end_ns - work->start_ns);
		last_ns[work->stream] = activity.end_ns;
		activity.name = names[work->kind];
		activity.stream = work->stream;
		activity.kind = kind->activity_kind;
		activity.copy_kind = kind->copy_kind;
		if (kind->activity_kind == KWHY_ACTIVITY_COPY)
			activity.bytes = (uint64_t)(work->end_ns - work->start_ns) * COPY_RATE_BYTES_PER_NS;
		else
			activity.blocks = kind->blocks;
		builder->status = kwhy_recording_add_activity(mixture->recording, &activity, builder->error);
	}
}

static void add_machine(struct kwhy_mixture_builder *builder, uint32_t *names)
{
	struct kwhy_mixture *mixture = builder->mixture;
	struct kwhy_recording *recording = mixture->recording;
	struct kwhy_device device = {
		.rank = KWHY_NONE,
		.name = "simulated",
		.sm_count = (uint32_t)builder->sm_count,
		.limit_mw = (int64_t)(mixture->profile.limit_w * 1e3),
		.context_idle_mw = -1,
		.clean_idle_mw = -1,
	};
	struct kwhy_process process = {.pid = 1, .rank = KWHY_NONE};

	builder->status = kwhy_recording_add_device(recording, &device, NULL, builder->error);
	if (!builder->status)
		builder->status = kwhy_recording_add_process(recording, &process, NULL, builder->error);
	for (uint32_t s = 0; !builder->status && s < mixture->stream_count; s++) {
		struct kwhy_stream stream = {.context = 1, .id = 7 + s};

		builder->status = kwhy_recording_add_stream(recording, &stream, NULL, builder->error);
	}
	for (uint32_t k = 0; !builder->status && k < mixture->kind_count; k++)
		builder->status = kwhy_names_intern(&recording->names, mixture->kinds[k].name,
			strlen(mixture->kinds[k].name), &names[k], builder->error);
}

/*
 * Sets `row` of each activity of the mixture, which is possible because both the recording and `works` have a
 * stream's activities in order of time.
 */
static void find_rows(struct kwhy_mixture *mixture)
{
	const struct kwhy_activities *rows = &mixture->recording->activities;
	size_t next[KWHY_MIXTURE_STREAMS_MAX] = {0};

	for (size_t i = 0; i < mixture->work_count; i++) {
		size_t *row = &next[mixture->works[i].stream];

		while (rows->stream[*row] != mixture->works[i].stream)
			++*row;
		mixture->works[i].row = (*row)++;
	}
}

void kwhy_mixture_record(struct kwhy_mixture_builder *builder)
{
	struct kwhy_mixture *mixture = builder->mixture;
	double end_ns = fmax(builder->now_ns[0], builder->now_ns[1]);
	uint32_t names[KWHY_MIXTURE_KINDS_MAX];
	struct kwhy_coverage coverage;

	if (!builder->status)
		builder->status = kwhy_recording_new(&mixture->recording, builder->error);
	if (builder->status)
		return;
	mixture->origin_ns = 1795245124000000000 +
		(int64_t)kwhy_mixture_random_pick(&builder->random, 1000000000);
	mixture->recording->unix_clock = true;
	add_machine(builder, names);
	add_activities(builder, names);
	add_samples(builder, end_ns + 0.9e9);
	add_ticks(builder, end_ns + 0.9e9);
	coverage = (struct kwhy_coverage){
		.device = 0,
		.start_ns = mixture->origin_ns + (int64_t)builder->coverage_start_ns,
		.end_ns = mixture->origin_ns + (int64_t)(end_ns - builder->coverage_start_ns),
	};
	if (!builder->status)
		builder->status = kwhy_recording_add_coverage(mixture->recording, &coverage, builder->error);
	if (!builder->status)
		builder->status = kwhy_recording_finish(mixture->recording, builder->error);
	if (!builder->status)
		find_rows(mixture);
}

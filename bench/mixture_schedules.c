/* SPDX-License-Identifier: Apache-2.0 */
#include "mixture_parts.h"

#include <stdio.h>

/* Gap between two queued activities, as CUPTI shows it on an H200, ns. */
#define QUEUED_GAP_NS 1e3

enum shape { SHAPE_FULL, SHAPE_PARTIAL, SHAPE_ONE_BLOCK, SHAPE_COPY };

static double range(struct kwhy_mixture_builder *builder, double low, double high)
{
	return kwhy_mixture_random_range(&builder->random, low, high);
}

static double log_range(struct kwhy_mixture_builder *builder, double low, double high)
{
	return kwhy_mixture_random_log_range(&builder->random, low, high);
}

static uint32_t pick(struct kwhy_mixture_builder *builder, uint32_t count)
{
	return kwhy_mixture_random_pick(&builder->random, count);
}

static bool chance(struct kwhy_mixture_builder *builder, double probability)
{
	return kwhy_mixture_random_unit(&builder->random) < probability;
}

static void draw_full(struct kwhy_mixture_builder *builder, struct kwhy_mixture_kind *kind)
{
	kind->blocks = (uint32_t)(builder->sm_count * range(builder, 4, 16));
	kind->net_w = builder->scale * range(builder, 30, 530);
	kind->cooling_ratio = range(builder, 0.005, 0.03);
}

static void draw_partial(struct kwhy_mixture_builder *builder, struct kwhy_mixture_kind *kind)
{
	kind->blocks = (uint32_t)(builder->sm_count * range(builder, 0.1, 0.5));
	kind->net_w = builder->scale * kind->blocks / builder->sm_count * range(builder, 100, 400);
	kind->cooling_ratio = range(builder, 0, 0.02);
}

static void draw_one_block(struct kwhy_mixture_builder *builder, struct kwhy_mixture_kind *kind)
{
	kind->blocks = 1;
	kind->net_w = builder->scale * range(builder, 0.8, 3);
}

static void draw_copy(struct kwhy_mixture_builder *builder, struct kwhy_mixture_kind *kind)
{
	kind->activity_kind = KWHY_ACTIVITY_COPY;
	kind->copy_kind = chance(builder, 0.7) ? KWHY_COPY_H2D : KWHY_COPY_D2H;
	kind->net_w = builder->scale * range(builder, 5, 15);
}

static void add_kinds(struct kwhy_mixture_builder *builder, enum shape shape, uint32_t count)
{
	static const struct {
		const char *name;
		void (*draw)(struct kwhy_mixture_builder *, struct kwhy_mixture_kind *);
	} shapes[] = {
		[SHAPE_FULL] = {"full", draw_full},
		[SHAPE_PARTIAL] = {"partial", draw_partial},
		[SHAPE_ONE_BLOCK] = {"one_block", draw_one_block},
		[SHAPE_COPY] = {"copy", draw_copy},
	};
	struct kwhy_mixture *mixture = builder->mixture;

	for (uint32_t i = 0; i < count && mixture->kind_count < KWHY_MIXTURE_KINDS_MAX; i++) {
		struct kwhy_mixture_kind *kind = &mixture->kinds[mixture->kind_count];

		kind->activity_kind = KWHY_ACTIVITY_KERNEL;
		kind->unit_ns = range(builder, 0.5e6, 2.5e6);
		shapes[shape].draw(builder, kind);
		snprintf(kind->name, sizeof(kind->name), "%s_%u", shapes[shape].name, i);
		mixture->kind_count++;
	}
}

static void add_usual_kinds(struct kwhy_mixture_builder *builder)
{
	add_kinds(builder, SHAPE_FULL, 2 + pick(builder, 3));
	add_kinds(builder, SHAPE_PARTIAL, 1 + pick(builder, 2));
	add_kinds(builder, SHAPE_ONE_BLOCK, 1);
	add_kinds(builder, SHAPE_COPY, 1);
}

/*
 * Adds a burst of one kind of work, or idle time of up to 75 ms. Durations of bursts and gaps between their
 * activities have the distribution of bursts measured on an H200 (medians: 7 activities and 4 ms).
 */
static void lay_burst(struct kwhy_mixture_builder *builder, uint32_t kind_count)
{
	uint32_t kind = pick(builder, kind_count + 1);
	double factor = range(builder, 0.3, 1.7);

	if (kind == kind_count) {
		builder->now_ns[0] += log_range(builder, 1e6, 75e6);
		return;
	}
	for (uint32_t left = 1 + pick(builder, 14); left; left--)
		kwhy_mixture_run(
			builder, 0, kind, builder->mixture->kinds[kind].unit_ns * factor, QUEUED_GAP_NS);
}

static void lay_bursts(struct kwhy_mixture_builder *builder, double duration_ns)
{
	add_usual_kinds(builder);
	while (!builder->status && builder->now_ns[0] < duration_ns)
		lay_burst(builder, builder->mixture->kind_count);
}

static void lay_fine(struct kwhy_mixture_builder *builder, double duration_ns)
{
	uint32_t choices;

	add_usual_kinds(builder);
	choices = builder->mixture->kind_count + chance(builder, 0.5);
	while (!builder->status && builder->now_ns[0] < duration_ns) {
		uint32_t kind = pick(builder, choices);
		double length_ns = range(builder, 0.1e6, 0.3e6);

		if (kind == builder->mixture->kind_count)
			builder->now_ns[0] += length_ns;
		else
			kwhy_mixture_run(builder, 0, kind, length_ns, range(builder, 0.8e3, 6e3));
	}
}

/*
 * Adds a loop of a few kinds of work and idle time until duration_ns. Some of the periods from which that of
 * the loop is chosen are near multiples of the meters' periods, 20.02 ms (ring buffer) and 100 ms (energy
 * counter).
 */
static void lay_loop(struct kwhy_mixture_builder *builder, double duration_ns)
{
	static const double periods_ns[] = {
		4e6, 5.4e6, 8.3e6, 12.7e6, 20.02e6, 20.5e6, 33e6, 40.1e6, 100.1e6};
	double period_ns = periods_ns[pick(builder, sizeof(periods_ns) / sizeof(*periods_ns))];
	double share[KWHY_MIXTURE_KINDS_MAX + 1], sum = 0;
	uint32_t count;

	add_kinds(builder, SHAPE_FULL, 2 + pick(builder, 2));
	add_kinds(builder, SHAPE_PARTIAL, 1);
	add_kinds(builder, SHAPE_ONE_BLOCK, 1);
	add_kinds(builder, SHAPE_COPY, 1);
	period_ns *= range(builder, 0.995, 1.005);
	count = builder->mixture->kind_count;
	for (uint32_t i = 0; i <= count; i++)
		sum += share[i] = range(builder, 0.3, 1);
	while (!builder->status && builder->now_ns[0] < duration_ns) {
		for (uint32_t i = 0; i < count; i++)
			kwhy_mixture_run(builder, 0, i,
				period_ns * share[i] / sum *
					kwhy_mixture_random_normal(&builder->random, 1, 0.002),
				QUEUED_GAP_NS);
		builder->now_ns[0] += period_ns * share[count] / sum;
	}
}

/* A chain of kernels that the host launches one by one, with gaps between them. */
struct chain {
	uint32_t kind[80];
	double length_ns[80];
	uint32_t count;
	double gap_ns;
};

static void draw_chain(struct kwhy_mixture_builder *builder, struct chain *chain, uint32_t count,
	double shortest_ns, double longest_ns)
{
	chain->count = count;
	for (uint32_t i = 0; i < count; i++) {
		chain->kind[i] = pick(builder, builder->mixture->kind_count);
		chain->length_ns[i] = log_range(builder, shortest_ns, longest_ns);
	}
}

static void lay_chain(struct kwhy_mixture_builder *builder, const struct chain *chain)
{
	for (uint32_t i = 0; i < chain->count; i++)
		kwhy_mixture_run(builder, 0, chain->kind[i],
			chain->length_ns[i] * kwhy_mixture_random_normal(&builder->random, 1, 0.02),
			chain->gap_ns * range(builder, 0.5, 1.5));
}

/*
 * Adds requests until duration_ns: a prompt (long kernels with gaps of 1 us), 30-100 steps of very short
 * kernels with gaps of 27 us, and a pause.
 */
static void lay_decode(struct kwhy_mixture_builder *builder, double duration_ns)
{
	struct chain prompt = {.gap_ns = QUEUED_GAP_NS}, step = {.gap_ns = 27e3};

	add_kinds(builder, SHAPE_FULL, 6);
	add_kinds(builder, SHAPE_PARTIAL, 4);
	add_kinds(builder, SHAPE_ONE_BLOCK, 1);
	add_kinds(builder, SHAPE_COPY, 1);
	draw_chain(builder, &prompt, 80, 20e3, 100e3);
	draw_chain(builder, &step, 60, 2e3, 10e3);
	while (!builder->status && builder->now_ns[0] < duration_ns) {
		lay_chain(builder, &prompt);
		for (uint32_t left = 30 + pick(builder, 70); left; left--)
			lay_chain(builder, &step);
		builder->now_ns[0] += log_range(builder, 1e6, 30e6);
	}
}

/*
 * Lays out steps of training. In about half of the seeds all steps are equal; in the others some steps are
 * followed by an evaluation.
 */
static void lay_train(struct kwhy_mixture_builder *builder, double duration_ns)
{
	struct chain forward = {.gap_ns = 2e3}, backward = {.gap_ns = 2e3};
	bool evaluates = chance(builder, 0.5);
	double idle_ns = range(builder, 0.3e6, 1.2e6);
	uint32_t copy;

	add_kinds(builder, SHAPE_FULL, 5);
	add_kinds(builder, SHAPE_PARTIAL, 3);
	add_kinds(builder, SHAPE_ONE_BLOCK, 1);
	copy = builder->mixture->kind_count;
	draw_chain(builder, &forward, 15, 10e3, 60e3);
	draw_chain(builder, &backward, 40, 10e3, 60e3);
	add_kinds(builder, SHAPE_COPY, 1);
	while (!builder->status && builder->now_ns[0] < duration_ns) {
		kwhy_mixture_run(builder, 0, copy, 0.3e6, QUEUED_GAP_NS);
		lay_chain(builder, &forward);
		lay_chain(builder, &backward);
		builder->now_ns[0] += idle_ns * range(builder, 0.9, 1.1);
		if (!evaluates || !chance(builder, 0.01))
			continue;
		for (uint32_t left = 20 + pick(builder, 60); left; left--)
			lay_chain(builder, &forward);
		builder->now_ns[0] += log_range(builder, 5e6, 50e6);
	}
}

static uint32_t pick_weighted(struct kwhy_mixture_builder *builder, const double *sums, uint32_t count)
{
	double at = range(builder, 0, sums[count - 1]);
	uint32_t i = 0;

	while (i + 1 < count && sums[i] <= at)
		i++;
	return i;
}

/*
 * Adds one phase of a program: for 3 to 200 ms, kernels of a random subset of the names with a share of idle
 * time of its own.
 */
static void lay_phase(struct kwhy_mixture_builder *builder)
{
	const struct kwhy_mixture *mixture = builder->mixture;
	double end_ns = builder->now_ns[0] + log_range(builder, 3e6, 200e6);
	double idle_ratio = range(builder, 0, 0.5), sums[KWHY_MIXTURE_KINDS_MAX], sum = 0;

	for (uint32_t i = 0; i < mixture->kind_count; i++)
		sums[i] = sum += mixture->kinds[i].weight *
			exp(kwhy_mixture_random_normal(&builder->random, 0, 2));
	while (!builder->status && builder->now_ns[0] < end_ns) {
		const uint32_t kind = pick_weighted(builder, sums, mixture->kind_count);
		double length_ns = mixture->kinds[kind].unit_ns * range(builder, 0.8, 1.2);

		kwhy_mixture_run(builder, 0, kind, length_ns,
			QUEUED_GAP_NS + length_ns * idle_ratio * range(builder, 0, 2));
	}
}

static void lay_long_tail(struct kwhy_mixture_builder *builder, double duration_ns)
{
	uint32_t count = 40 + pick(builder, 21);

	add_kinds(builder, SHAPE_FULL, count * 6 / 10);
	add_kinds(builder, SHAPE_PARTIAL, count * 2 / 10);
	add_kinds(builder, SHAPE_ONE_BLOCK, count / 10);
	add_kinds(builder, SHAPE_COPY, count / 10);
	for (uint32_t i = 0; i < builder->mixture->kind_count; i++) {
		struct kwhy_mixture_kind *kind = &builder->mixture->kinds[i];

		kind->unit_ns = log_range(builder, 10e3, 400e3);
		kind->weight = pow(1 + pick(builder, builder->mixture->kind_count), -1.2);
	}
	while (!builder->status && builder->now_ns[0] < duration_ns)
		lay_phase(builder);
}

static void lay_streams(struct kwhy_mixture_builder *builder, double duration_ns)
{
	uint32_t kernels, copies = 1 + pick(builder, 2);

	builder->mixture->stream_count = 2;
	add_kinds(builder, SHAPE_FULL, 2 + pick(builder, 3));
	add_kinds(builder, SHAPE_PARTIAL, 1);
	add_kinds(builder, SHAPE_ONE_BLOCK, 1);
	kernels = builder->mixture->kind_count;
	add_kinds(builder, SHAPE_COPY, copies);
	while (!builder->status && builder->now_ns[0] < duration_ns)
		lay_burst(builder, kernels);
	while (!builder->status && builder->now_ns[1] < duration_ns)
		kwhy_mixture_run(builder, 1, kernels + pick(builder, copies), range(builder, 0.2e6, 3e6),
			log_range(builder, 0.01e6, 30e6));
}

void kwhy_mixture_draw_work(
	struct kwhy_mixture_builder *builder, enum kwhy_mixture_schedule schedule, double duration_ns)
{
	static void (*const lay[KWHY_MIXTURE_SCHEDULE_COUNT])(struct kwhy_mixture_builder *, double) = {
		[KWHY_MIXTURE_BURST] = lay_bursts,
		[KWHY_MIXTURE_FINE] = lay_fine,
		[KWHY_MIXTURE_LOOP] = lay_loop,
		[KWHY_MIXTURE_DECODE] = lay_decode,
		[KWHY_MIXTURE_TRAIN] = lay_train,
		[KWHY_MIXTURE_LONG_TAIL] = lay_long_tail,
		[KWHY_MIXTURE_STREAMS] = lay_streams,
	};

	builder->mixture->stream_count = 1;
	lay[schedule](builder, duration_ns);
}

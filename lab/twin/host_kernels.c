/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "lab/twin/device.h"
#include "lab/twin/rules.h"

#include <stdatomic.h>

/* The host forms of kernels/twin/: each runs its whole grid. */

enum { AGENTS = KWHY_TWIN_AGENTS, CELLS = KWHY_TWIN_CELLS, WIDTH = KWHY_TWIN_WIDTH, KEPT = KWHY_TWIN_KEPT };

/* One launch, with the addresses as pointers. */
struct call {
	const struct kwhy_twin_args *args;
	uint32_t step;
	float *t, *old_t, *new_t, *u, *f, *l, *v, *w, *controls, *gains;
	int64_t *sums;
	uint64_t *checks;
};

static void find_t(struct call *call)
{
	size_t half = call->args->cells;

	call->old_t = call->t + (call->args->doubled && call->step % 2 ? half : 0);
	call->new_t = call->t + (call->args->doubled && call->step % 2 == 0 ? half : 0);
}

static struct call call_of(void **arguments)
{
	const struct kwhy_twin_args *args = arguments[0];
	uint32_t step = *(const uint32_t *)arguments[1];
	struct call call = {.args = args,
		.step = step == KWHY_TWIN_BY_CLOCK ? *(const uint32_t *)kwhy_gpu_at(args->clock) : step,
		.t = kwhy_gpu_at(args->t),
		.u = kwhy_gpu_at(args->u),
		.f = kwhy_gpu_at(args->f),
		.l = kwhy_gpu_at(args->l),
		.v = kwhy_gpu_at(args->v),
		.w = kwhy_gpu_at(args->w),
		.controls = kwhy_gpu_at(args->controls),
		.gains = kwhy_gpu_at(args->gains),
		.sums = kwhy_gpu_at(args->sums),
		.checks = kwhy_gpu_at(args->checks)};

	find_t(&call);
	return call;
}

static bool reduces(const struct call *call)
{
	return call->step % call->args->reduce_every == 0;
}

static float gain(const float *controls, uint32_t j)
{
	static const float scales[KWHY_TWIN_GAINS] = {0.25f, 1.0f, 0.125f};
	float sum = controls[j];

	for (uint32_t k = j + 3; k < KWHY_TWIN_CONTROLS; k += 3)
		sum += controls[k];
	return sum * scales[j];
}

static void find_gains(const float *controls, float *gains)
{
	for (uint32_t i = 0; i < AGENTS * KWHY_TWIN_GAINS; i++)
		gains[i] = gain(controls + i / KWHY_TWIN_GAINS * KWHY_TWIN_CONTROLS, i % KWHY_TWIN_GAINS);
}

static const float *gains_of(const float *gains, uint32_t cell)
{
	return gains + kwhy_twin_district(cell % CELLS) * KWHY_TWIN_GAINS;
}

static float neighbours(const struct call *call, const float *t, uint32_t i)
{
	const struct kwhy_twin_args *args = call->args;
	uint32_t x = i % WIDTH, row = i - x;
	const float *above = args->above ? kwhy_gpu_at(args->above) : t + args->cells - WIDTH,
		    *below = args->below ? kwhy_gpu_at(args->below) : t;
	float north = row ? t[i - WIDTH] : above[x],
	      south = row + WIDTH < args->cells ? t[i + WIDTH] : below[x];

	return (north + south) + (t[row + (x + WIDTH - 1) % WIDTH] + t[row + (x + 1) % WIDTH]);
}

static void begin_field(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct call call = call_of(arguments);

	(void)grid;
	for (uint32_t i = 0; i < call.args->cells; i++) {
		uint32_t j = call.args->first_cell + i;

		call.t[i] = kwhy_twin_start(j / CELLS, j % CELLS);
	}
}

static void begin_rest(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct call call = call_of(arguments);

	(void)grid;
	memset(call.u, 0, call.args->cells * sizeof(*call.u));
	memset(kwhy_gpu_at(call.args->run_sums), 0, KWHY_TWIN_STEPS * (AGENTS + 1) * sizeof(*call.sums));
	memset(call.checks, 0, (KWHY_TWIN_STEPS + 1) * sizeof(*call.checks));
	memset(call.controls, 0, AGENTS * KWHY_TWIN_CONTROLS * sizeof(*call.controls));
	memset(call.sums, 0, (AGENTS + 1) * sizeof(*call.sums));
	memset(kwhy_gpu_at(call.args->clock), 0, 2 * sizeof(uint32_t));
	memset(kwhy_gpu_at(call.args->arrived), 0, sizeof(uint32_t));
}

static void clear_sums(const struct call *call)
{
	if (reduces(call))
		memset(call->sums, 0, (AGENTS + 1) * sizeof(*call->sums));
}

static void run_gain(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct call call = call_of(arguments);

	(void)grid;
	clear_sums(&call);
	find_gains(call.controls, call.gains);
}

static void run_force(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct call call = call_of(arguments);

	(void)grid;
	for (uint32_t i = 0; i < call.args->cells; i++)
		call.f[i] = fmaf(gains_of(call.gains, i)[0], call.t[i], gains_of(call.gains, i)[1]);
}

static void run_spread(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct call call = call_of(arguments);

	(void)grid;
	for (uint32_t i = 0; i < call.args->cells; i++)
		call.l[i] = fmaf(-4.0f, call.t[i], neighbours(&call, call.t, i));
}

static void run_diffuse(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct call call = call_of(arguments);

	(void)grid;
	for (uint32_t i = 0; i < call.args->cells; i++)
		call.v[i] = fmaf(0.125f, call.l[i], call.t[i]);
}

static void run_push(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct call call = call_of(arguments);

	(void)grid;
	for (uint32_t i = 0; i < call.args->cells; i++)
		call.w[i] = fmaf(0x1p-8f, call.f[i], call.v[i]);
}

static void run_store(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct call call = call_of(arguments);

	(void)grid;
	for (uint32_t i = 0; i < call.args->cells; i++)
		call.u[i] = fmaf(gains_of(call.gains, i)[2], call.w[i], 0.9375f * call.u[i]);
}

static void run_limit(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct call call = call_of(arguments);

	(void)grid;
	for (uint32_t i = 0; i < call.args->cells; i++)
		call.t[i] = kwhy_twin_limit(call.w[i]);
}

static void add_up(const struct call *call, int64_t *sums)
{
	for (uint32_t i = 0; i < call->args->cells; i++) {
		uint32_t bits = kwhy_twin_bits(fabsf(call->new_t[i]));

		sums[kwhy_twin_district(i % CELLS)] += kwhy_twin_fixed(call->new_t[i]);
		sums[AGENTS] = bits > sums[AGENTS] ? bits : sums[AGENTS];
	}
}

static uint64_t check_of(const struct call *call)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < call->args->cells; i++) {
		uint64_t j = call->args->first_cell + i;

		sum += kwhy_twin_bits(call->new_t[i]) * (2 * j + 1) +
			kwhy_twin_bits(call->u[i]) * (2 * j + 0x10001);
	}
	return sum;
}

static void look(const struct call *call)
{
	char *outbox = kwhy_gpu_at(call->args->outbox);

	for (uint32_t q = 0; q < kwhy_twin_observed(call->step); q++) {
		char *place = outbox +
			(call->args->scattered ? call->args->scattered * q : kwhy_twin_packed_at(q));
		int64_t wide = call->sums[q / 8 % AGENTS] + q;

		if (kwhy_twin_is_wide(q))
			memcpy(place, &wide, sizeof(wide));
		else
			memcpy(place, &call->new_t[kwhy_twin_looks_at(call->step, q)], sizeof(float));
	}
}

static void run_sum(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct call call = call_of(arguments);

	(void)grid;
	add_up(&call, call.sums);
}

static void run_look(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct call call = call_of(arguments);

	(void)grid;
	look(&call);
}

static void run_check(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct call call = call_of(arguments);

	(void)grid;
	call.checks[call.step] += check_of(&call);
}

static void run_scatter(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct call call = call_of(arguments);
	const float *inbox = kwhy_gpu_at(call.args->inbox);

	(void)grid;
	for (uint32_t a = 0; a < AGENTS; a++)
		for (uint32_t k = 0; k < kwhy_twin_sends(call.step, a); k++)
			call.controls[a * KWHY_TWIN_CONTROLS + k] = *inbox++;
}

static void run_receive(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct call call = call_of(arguments);

	(void)grid;
	clear_sums(&call);
	memcpy(call.controls, kwhy_gpu_at(call.args->inbox),
		AGENTS * KWHY_TWIN_CONTROLS * sizeof(*call.controls));
	find_gains(call.controls, call.gains);
}

static void keep(const struct call *call, uint32_t i, const float values[KWHY_TWIN_KEPT_FIELDS])
{
	float *slot = (float *)kwhy_gpu_at(call->args->history) + (size_t)call->step * KWHY_TWIN_SLOT_FLOATS;
	uint32_t count = 4 + kwhy_twin_keeps_v(call->step);

	for (uint32_t k = 0; call->args->first_cell + i < KEPT && k < count; k++)
		slot[k * KEPT + i] = values[k];
}

static void advance(const struct call *call, const float *gains)
{
	for (uint32_t i = 0; i < call->args->cells; i++) {
		const float *mine = gains_of(gains, i);
		float here = call->old_t[i], f = fmaf(mine[0], here, mine[1]),
		      l = fmaf(-4.0f, here, neighbours(call, call->old_t, i)), v = fmaf(0.125f, l, here),
		      w = fmaf(0x1p-8f, f, v);

		call->u[i] = fmaf(mine[2], w, 0.9375f * call->u[i]);
		call->new_t[i] = kwhy_twin_limit(w);
		keep(call, i, (float[]){call->new_t[i], call->u[i], w, f, v});
	}
}

static void run_advance(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct call call = call_of(arguments);

	(void)grid;
	advance(&call, call.gains);
}

static void tally(const struct call *call)
{
	if (reduces(call))
		add_up(call, call->sums);
	call->checks[call->step] += check_of(call);
}

static void run_conclude(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct call call = call_of(arguments);

	(void)grid;
	tally(&call);
	look(&call);
	*(uint32_t *)kwhy_gpu_at(call.args->clock) = call.step + 1;
	if (call.args->flag)
		atomic_store_explicit((_Atomic uint32_t *)kwhy_gpu_at(call.args->flag), call.step + 1,
			memory_order_release);
}

static void run_tally(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct call call = call_of(arguments);

	(void)grid;
	tally(&call);
}

static void combine(const struct call *call, uint32_t place)
{
	const int64_t *gathered = kwhy_gpu_at(call->args->gathered);
	int64_t total = 0;

	for (uint32_t part = 0; part < call->args->parts; part++) {
		int64_t value = gathered[part * (AGENTS + 1) + place];

		total = place < AGENTS ? total + value : value > total ? value : total;
	}
	call->sums[place] = total;
}

static void run_combine(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct call call = call_of(arguments);

	(void)grid;
	for (uint32_t d = 0; reduces(&call) && d <= AGENTS; d++)
		combine(&call, d);
	if (call.args->first_cell == 0)
		look(&call);
}

/* What agents see of the step that has ended. */
static void watch(const struct call *call, int64_t seen[AGENTS])
{
	memset(seen, 0, AGENTS * sizeof(*seen));
	for (uint32_t q = 0; q < kwhy_twin_observed(call->step); q++)
		seen[q % AGENTS] += kwhy_twin_is_wide(q)
			? call->sums[q / 8 % AGENTS] + q
			: kwhy_twin_fixed(call->new_t[kwhy_twin_looks_at(call->step, q)]);
}

static void decide(const struct call *call, const int64_t seen[AGENTS])
{
	for (uint32_t a = 0; a < AGENTS; a++)
		for (uint32_t k = 0; k < kwhy_twin_sends(call->step, a); k++)
			call->controls[a * KWHY_TWIN_CONTROLS + k] = kwhy_twin_payload(
				call->step, a, k, call->args->closed ? seen[a] : 0);
	find_gains(call->controls, call->gains);
}

static void run_run(const struct kwhy_gpu_grid *grid, void **arguments)
{
	struct call call = call_of(arguments);
	uint64_t *observed = kwhy_gpu_at(call.args->seen), *times = kwhy_gpu_at(call.args->times), books = 0;
	int64_t seen[AGENTS] = {0}, *run_sums = kwhy_gpu_at(call.args->run_sums);

	(void)grid;
	times[0] = (uint64_t)kwhy_clock_mono_ns();
	for (call.step = 0; call.step < call.args->steps; call.step++) {
		find_t(&call);
		decide(&call, seen);
		advance(&call, call.gains);
		call.sums = run_sums +
			(size_t)(call.step - call.step % call.args->reduce_every) * (AGENTS + 1);
		tally(&call);
		watch(&call, seen);
		books = kwhy_twin_fold(books, seen);
		observed[call.step] = books;
		times[call.step + 1] = (uint64_t)kwhy_clock_mono_ns();
	}
}

/* All take struct kwhy_twin_args and the step. */
#define ROW(name, run)                                                  \
	{                                                               \
		name, run,                                              \
		{                                                       \
			sizeof(struct kwhy_twin_args), sizeof(uint32_t) \
		}                                                       \
	}

const struct kwhy_gpu_host_kernel kwhy_twin_host_kernels[] = {
	ROW("kwhy_twin_begin_field", begin_field),
	ROW("kwhy_twin_begin_rest", begin_rest),
	ROW("kwhy_twin_gain", run_gain),
	ROW("kwhy_twin_force", run_force),
	ROW("kwhy_twin_spread", run_spread),
	ROW("kwhy_twin_diffuse", run_diffuse),
	ROW("kwhy_twin_push", run_push),
	ROW("kwhy_twin_store", run_store),
	ROW("kwhy_twin_limit", run_limit),
	ROW("kwhy_twin_sum", run_sum),
	ROW("kwhy_twin_look", run_look),
	ROW("kwhy_twin_check", run_check),
	ROW("kwhy_twin_scatter", run_scatter),
	ROW("kwhy_twin_receive", run_receive),
	ROW("kwhy_twin_advance", run_advance),
	ROW("kwhy_twin_conclude", run_conclude),
	ROW("kwhy_twin_tally", run_tally),
	ROW("kwhy_twin_combine", run_combine),
	ROW("kwhy_twin_run", run_run),
	{NULL, NULL, {0}},
};

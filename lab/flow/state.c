/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/flow/inside.h"
#include "lab/next.h"

#include <stdlib.h>

/* What flows carry after a run, held against the reference. */

/* The state as it lies on the device, row by row. */
struct state {
	uint64_t *at, *fresh;
	uint64_t *order; /* number << 32 | row of who is left, ascending */
	uint32_t active;
	float *e, *h;
	int64_t out;
};

/* Squares of differences and of the reference. */
struct distance {
	double apart, length; /* squares, added up */
	double worst;
};

/* Its rows, and what left from them. */
static enum kwhy_status fetch_rows(
	struct lab_flow *rank, struct state *state, int64_t *out, struct kwhy_error *error)
{
	const struct lab_flow_args *args = &rank->args;
	size_t first = rank->first, rows = rank->count;
	uint64_t half = (rank->shape.steps - 1) % 2 * (uint64_t)rank->shape.flows + first;
	enum kwhy_status status = lab_flow_fetch(rank, state->at + first,
		args->at + first * sizeof(*state->at), rows * sizeof(*state->at), error);

	NEXT(status,
		lab_flow_fetch(rank, state->fresh + first, args->fresh + half * sizeof(*state->fresh),
			rows * sizeof(*state->fresh), error));
	NEXT(status,
		lab_flow_fetch(rank, state->e + first * E, args->e + first * E * sizeof(*state->e),
			rows * E * sizeof(*state->e), error));
	NEXT(status,
		lab_flow_fetch(rank, state->h + first * H, args->h_rows + first * H * sizeof(*state->h),
			rows * H * sizeof(*state->h), error));
	return status ? status : lab_flow_fetch(rank, out, args->out, sizeof(*out), error);
}

static enum kwhy_status fetch_state(struct lab_flow *flow, struct state *state, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 0; !status && i < flow->rank_count; i++) {
		int64_t out = 0;

		status = fetch_rows(flow->ranks[i], state, &out, error);
		state->out += out;
	}
	return status;
}

static int by_number(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

static void put_in_order(const struct lab_flow *flow, struct state *state)
{
	for (uint32_t row = 0; row < flow->shape.flows; row++)
		if (state->fresh[row] >> 32 != flow->shape.steps)
			state->order[state->active++] = state->at[row] >> 32 << 32 | row;
	qsort(state->order, state->active, sizeof(*state->order), by_number);
}

static void add_up(
	const float *values, const float *expected, size_t count, double *sum, struct distance *distance)
{
	for (size_t i = 0; i < count; i++) {
		double value = (double)values[i], wanted = expected ? (double)expected[i] : 0;

		*sum += value;
		distance->apart += (value - wanted) * (value - wanted);
		distance->worst = fmax(distance->worst, fabs(value - wanted));
		distance->length += wanted * wanted;
	}
}

static double ratio_of(const struct distance *distance)
{
	return distance->length > 0   ? sqrt(distance->apart / distance->length)
		: distance->apart > 0 ? NAN
				      : 0;
}

/* Both are in the order of numbers. */
static void compare(
	const struct state *state, const struct lab_flow_answer *answer, struct lab_flow_numbers *out)
{
	struct distance e = {0}, h = {0};
	bool has_numbers = answer->h != NULL;
	uint32_t j = 0, found = 0;

	for (uint32_t i = 0; i < state->active; i++) {
		uint32_t row = (uint32_t)state->order[i];
		bool is_there;

		while (j < answer->active && answer->at[j] >> 32 < state->order[i] >> 32)
			j++;
		is_there = j < answer->active && answer->at[j] == state->at[row];
		found += is_there;
		add_up(state->e + (size_t)row * E, is_there && has_numbers ? answer->e + (size_t)j * E : NULL,
			E, &out->sum_e, &e);
		add_up(state->h + (size_t)row * H, is_there && has_numbers ? answer->h + (size_t)j * H : NULL,
			H, &out->sum_h, &h);
	}
	out->elsewhere = answer->active - found;
	out->error_e = has_numbers && !out->elsewhere ? ratio_of(&e) : NAN;
	out->error_h = has_numbers && !out->elsewhere ? ratio_of(&h) : NAN;
	out->worst_h = has_numbers && !out->elsewhere ? h.worst : NAN;
}

enum kwhy_status lab_flow_read(struct lab_flow *flow, const struct lab_flow_answer *answer,
	struct lab_flow_numbers *out, struct kwhy_error *error)
{
	size_t rows = flow->shape.flows + 1;
	struct state state = {.at = calloc(rows, sizeof(*state.at)),
		.fresh = calloc(rows, sizeof(*state.fresh)),
		.order = calloc(rows, sizeof(*state.order)),
		.e = calloc(rows * E, sizeof(*state.e)),
		.h = calloc(rows * H, sizeof(*state.h))};
	enum kwhy_status status = state.at && state.fresh && state.order && state.e && state.h
		? fetch_state(flow, &state, error)
		: kwhy_fail_memory(error, "the state of flows");

	*out = (struct lab_flow_numbers){0};
	if (!status) {
		put_in_order(flow, &state);
		compare(&state, answer, out);
		out->sum_out = (double)state.out * 0x1p-32;
	}
	free(state.at);
	free(state.fresh);
	free(state.order);
	free(state.e);
	free(state.h);
	return status;
}

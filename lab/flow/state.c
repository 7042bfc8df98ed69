/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/flow/inside.h"
#include "lab/next.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- Copies of all flows, and of those that are left after the last step --- */

enum kwhy_status lab_flow_rows_open(
	uint32_t count, bool numbers, struct lab_flow_rows *out, struct kwhy_error *error)
{
	size_t rows = (size_t)count + 1, number_bytes = numbers ? (E + H) * sizeof(float) : 0;
	uint64_t *memory = calloc(rows, 2 * sizeof(*memory) + number_bytes);

	if (!memory)
		return kwhy_fail_memory(error, "flows");
	*out = (struct lab_flow_rows){.count = count, .at = memory, .fresh = memory + rows};
	if (numbers) {
		out->e = (float *)(out->fresh + rows);
		out->h = out->e + rows * E;
	}
	return KWHY_OK;
}

void lab_flow_rows_done(struct lab_flow_rows *rows)
{
	free(rows->at);
	*rows = (struct lab_flow_rows){0};
}

static int by_number(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

enum kwhy_status lab_flow_rows_take(
	const struct lab_flow_rows *rows, uint32_t steps, struct lab_flow_rows *out, struct kwhy_error *error)
{
	enum kwhy_status status = lab_flow_rows_open(rows->count, rows->e != NULL, out, error);

	if (status)
		return status;
	out->count = 0;
	for (uint32_t row = 0; row < rows->count; row++)
		if (rows->fresh[row] >> 32 != steps)
			out->at[out->count++] = rows->at[row] >> 32 << 32 | row;
	qsort(out->at, out->count, sizeof(*out->at), by_number);
	for (size_t i = 0; i < out->count; i++) {
		size_t row = (uint32_t)out->at[i];

		out->at[i] = rows->at[row];
		if (!rows->e)
			continue;
		memcpy(out->e + i * E, rows->e + row * E, E * sizeof(*out->e));
		memcpy(out->h + i * H, rows->h + row * H, H * sizeof(*out->h));
	}
	return KWHY_OK;
}

/* --- What flows carry after a run, compared with the reference --- */

/*
 * Copies one GPU's rows from the device into `rows`. Adds to *sum_out the energies of flows that left the
 * lattice from these rows.
 */
static enum kwhy_status fetch_rows(
	struct lab_flow *rank, const struct lab_flow_rows *rows, double *sum_out, struct kwhy_error *error)
{
	const struct lab_flow_args *args = &rank->args;
	size_t first = rank->first, count = rank->count;
	uint64_t half = (rank->shape.steps - 1) % 2 * (uint64_t)rank->shape.flows + first;
	int64_t out = 0;
	const struct {
		void *to;
		uint64_t from;
		size_t bytes;
	} parts[] = {{rows->at + first, args->at + first * sizeof(uint64_t), count * sizeof(uint64_t)},
		{rows->fresh + first, args->fresh + half * sizeof(uint64_t), count * sizeof(uint64_t)},
		{rows->e + first * E, args->e + first * E * sizeof(float), count * E * sizeof(float)},
		{rows->h + first * H, args->h_rows + first * H * sizeof(float), count * H * sizeof(float)},
		{&out, args->out, sizeof(out)}};
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < sizeof(parts) / sizeof(parts[0]); i++)
		status = lab_flow_fetch(rank, parts[i].to, parts[i].from, parts[i].bytes, error);
	*sum_out += (double)out * 0x1p-32;
	return status;
}

static const double tolerances[LAB_FLOW_PRECISION_COUNT] = {1e-5, 1e-3, 2e-2};

/*
 * Euclidean norm of the difference of two arrays, divided by the norm of `wanted`; NAN if only `wanted` is
 * all 0. *worst: largest difference of two numbers.
 */
static double distance(const float *found, const float *wanted, size_t count, double *worst)
{
	double apart = 0, length = 0;

	*worst = 0;
	for (size_t i = 0; i < count; i++) {
		double off = (double)found[i] - (double)wanted[i];

		apart += off * off;
		length += (double)wanted[i] * (double)wanted[i];
		*worst = fmax(*worst, fabs(off));
	}
	return length > 0 ? sqrt(apart / length) : apart > 0 ? NAN : 0;
}

static void compare(
	const struct lab_flow_rows *found, const struct lab_flow_rows *wanted, struct lab_flow_numbers *out)
{
	double worst_e;

	out->elsewhere = wanted->count;
	for (uint32_t i = 0, j = 0; i < found->count; i++) {
		while (j < wanted->count && wanted->at[j] >> 32 < found->at[i] >> 32)
			j++;
		out->elsewhere -= j < wanted->count && wanted->at[j] == found->at[i];
	}
	out->error_e = out->error_h = out->worst_h = NAN;
	if (found->e && wanted->e && !out->elsewhere && found->count == wanted->count) {
		out->error_e = distance(found->e, wanted->e, (size_t)found->count * E, &worst_e);
		out->error_h = distance(found->h, wanted->h, (size_t)found->count * H, &out->worst_h);
	}
}

enum kwhy_status lab_flow_read(struct lab_flow *flow, const struct lab_flow_answer *answer,
	struct lab_flow_numbers *out, struct kwhy_error *error)
{
	struct lab_flow_rows rows = {0}, left = {0};
	enum kwhy_status status = lab_flow_rows_open(flow->shape.flows, true, &rows, error);

	*out = (struct lab_flow_numbers){.flows = flow->shape.flows,
		.steps = flow->shape.steps,
		.tolerance = tolerances[flow->facts.precision]};
	for (uint32_t i = 0; !status && i < flow->rank_count; i++)
		status = fetch_rows(flow->ranks[i], &rows, &out->sum_out, error);
	NEXT(status, lab_flow_rows_take(&rows, flow->shape.steps, &left, error));
	if (!status)
		compare(&left, &answer->left, out);
	lab_flow_rows_done(&rows);
	lab_flow_rows_done(&left);
	return status;
}

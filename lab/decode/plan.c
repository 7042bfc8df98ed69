/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/decode/plan.h"

#include "bench/gpu_list.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- Words --- */

static enum kwhy_status find_weights(
	const char *word, enum kwhy_decode_weights *out, struct kwhy_error *error)
{
	for (int i = 0; i < KWHY_DECODE_WEIGHTS_COUNT; i++)
		if (strcmp(word, kwhy_decode_weights_name((enum kwhy_decode_weights)i)) == 0) {
			*out = (enum kwhy_decode_weights)i;
			return KWHY_OK;
		}
	return kwhy_fail(error, KWHY_E_USAGE,
		"--weights takes fp32, tf32, bf16, fp16, fp8, int8, int4 and fp16-2:4, not '%s'", word);
}

static enum kwhy_status find_launching(
	const char *word, enum kwhy_decode_launching *out, struct kwhy_error *error)
{
	for (int i = 0; i < KWHY_DECODE_LAUNCHING_COUNT; i++)
		if (strcmp(word, kwhy_decode_launching_name((enum kwhy_decode_launching)i)) == 0) {
			*out = (enum kwhy_decode_launching)i;
			return KWHY_OK;
		}
	return kwhy_fail(
		error, KWHY_E_USAGE, "--launch takes calls, graph, early and device, not '%s'", word);
}

static enum kwhy_status find_products(
	const char *word, enum kwhy_decode_products *out, struct kwhy_error *error)
{
	for (int i = 0; i < KWHY_DECODE_PRODUCTS_COUNT; i++)
		if (strcmp(word, kwhy_decode_products_name((enum kwhy_decode_products)i)) == 0) {
			*out = (enum kwhy_decode_products)i;
			return KWHY_OK;
		}
	return kwhy_fail(error, KWHY_E_USAGE, "--products takes best, own or cublaslt, not '%.40s'", word);
}

static enum kwhy_status find_ranks(const char *word, uint32_t *out, struct kwhy_error *error)
{
	char *end;
	unsigned long ranks = strtoul(word, &end, 10);

	if (*word < '0' || *word > '9' || *end || ranks < 1 || ranks > KWHY_DECODE_RANKS_MOST)
		return kwhy_fail(error, KWHY_E_USAGE,
			"--tp takes numbers of GPUs from 1 to %d, such as 1,2; not '%s'",
			KWHY_DECODE_RANKS_MOST, word);
	*out = (uint32_t)ranks;
	return KWHY_OK;
}

static enum kwhy_status find_page(const char *word, uint32_t *out, struct kwhy_error *error)
{
	char *end;
	unsigned long page = strtoul(word, &end, 10);

	if (*word < '0' || *word > '9' || *end || page % KWHY_DECODE_PAGE_STEP ||
		page > KWHY_DECODE_PAGE_MOST)
		return kwhy_fail(error, KWHY_E_USAGE,
			"--page takes multiples of %d tokens, %d at most, and 0 for none; not '%s'",
			KWHY_DECODE_PAGE_STEP, KWHY_DECODE_PAGE_MOST, word);
	*out = (uint32_t)page;
	return KWHY_OK;
}

static enum kwhy_status find_cache(const char *word, bool *out_is_short, struct kwhy_error *error)
{
	*out_is_short = strcmp(word, "fp8") == 0;
	if (!*out_is_short && strcmp(word, "auto") != 0)
		return kwhy_fail(error, KWHY_E_USAGE, "--cache takes auto and fp8, not '%s'", word);
	return KWHY_OK;
}

static enum kwhy_status find_batch(const char *word, uint32_t *out, struct kwhy_error *error)
{
	char *end;
	unsigned long batch = strtoul(word, &end, 10);

	if (*word < '0' || *word > '9' || *end || batch < 1 || batch > KWHY_DECODE_SLOTS_MOST)
		return kwhy_fail(error, KWHY_E_USAGE,
			"--batch takes numbers from 1 to %d, such as 1,8,64; not '%s'",
			KWHY_DECODE_SLOTS_MOST, word);
	*out = (uint32_t)batch;
	return KWHY_OK;
}

/* --- Rows --- */

static enum kwhy_status plan_serving(
	struct kwhy_bench_decode *bench, struct kwhy_bench_decode_row *row, struct kwhy_error *error)
{
	const struct kwhy_median none = {0, NAN, NAN, NAN, NAN, NAN, NAN};

	for (int s = 0; s < KWHY_DECODE_SEATING_COUNT; s++) {
		row->serving[s] = (struct kwhy_bench_decode_serving){.busy_ratio = NAN,
			.pages_mean = NAN,
			.first_s = none,
			.whole_s = none,
			.energy = kwhy_window_joules_unknown()};
		row->serving[s].window = kwhy_arena_printf(&bench->arena, "%s %s", row->id,
			kwhy_decode_seating_name((enum kwhy_decode_seating)s));
		if (!row->serving[s].window)
			return kwhy_fail_memory(error, "the rows of a benchmark");
	}
	return KWHY_OK;
}

/* A phase that nobody has run yet. */
static enum kwhy_status plan_phase(struct kwhy_bench_decode *bench, const struct kwhy_bench_decode_row *row,
	enum kwhy_decode_phase p, const char *how, struct kwhy_bench_decode_phase *out,
	struct kwhy_error *error)
{
	const struct kwhy_median none = {0, NAN, NAN, NAN, NAN, NAN, NAN};

	*out = (struct kwhy_bench_decode_phase){
		.tokens = (uint64_t)row->batch * (p == KWHY_DECODE_READING ? bench->prompt : bench->tokens),
		.run_s = none,
		.energy = kwhy_window_joules_unknown(),
		.window = kwhy_arena_printf(
			&bench->arena, "%s %s%s", row->id, kwhy_decode_phase_name(p), how)};
	return out->window ? KWHY_OK : kwhy_fail_memory(error, "the rows of a benchmark");
}

static enum kwhy_status add_row(
	struct kwhy_bench_decode *bench, const struct kwhy_bench_decode_row *like, struct kwhy_error *error)
{
	const struct kwhy_median none = {0, NAN, NAN, NAN, NAN, NAN, NAN};
	struct kwhy_bench_decode_row *row = &bench->rows[bench->row_count];
	char ranks[16] = "", page[16] = "";
	enum kwhy_status status = KWHY_OK;

	if (bench->row_count == KWHY_BENCH_DECODE_ROWS_MOST)
		return kwhy_fail(error, KWHY_E_USAGE, "the lists make more than %d rows; ask for fewer",
			KWHY_BENCH_DECODE_ROWS_MOST);
	if (like->batch * bench->beams > KWHY_DECODE_SLOTS_MOST)
		return kwhy_fail(error, KWHY_E_USAGE,
			"%u sequences of %u beams are more than %d slots; ask for fewer", like->batch,
			bench->beams, KWHY_DECODE_SLOTS_MOST);
	*row = *like;
	if (row->ranks > 1)
		snprintf(ranks, sizeof(ranks), " tp%u", row->ranks);
	if (row->page)
		snprintf(page, sizeof(page), " page%u", row->page);
	row->id = kwhy_arena_printf(&bench->arena, "%s b%u %s%s%s%s", kwhy_decode_weights_name(row->weights),
		row->batch, kwhy_decode_launching_name(row->launching), ranks, page,
		row->has_short_cache ? " kv-fp8" : "");
	row->error = (struct kwhy_decode_error){NAN, NAN, NAN};
	row->step_s = none;
	row->beam_error = row->pruned_error = NAN;
	if (!row->id)
		return kwhy_fail_memory(error, "the rows of a benchmark");
	for (enum kwhy_decode_phase p = 0; !status && p < KWHY_DECODE_PHASE_COUNT; p++) {
		status = plan_phase(bench, row, p, "", &row->phases[p], error);
		if (!status)
			status = plan_phase(bench, row, p, " alone", &row->alone[p], error);
	}
	if (status)
		return status;
	bench->row_count++;
	return plan_serving(bench, row, error);
}

static enum kwhy_status plan_caches(const struct kwhy_bench_decode_request *request,
	struct kwhy_bench_decode *bench, struct kwhy_bench_decode_row *row, struct kwhy_error *error)
{
	const char *caches = request->caches;
	char word[KWHY_LIST_WORD_BYTES];
	enum kwhy_status status = KWHY_OK;

	while (!status && kwhy_bench_list_next(&caches, word)) {
		status = find_cache(word, &row->has_short_cache, error);
		if (!status)
			status = add_row(bench, row, error);
	}
	return status;
}

static enum kwhy_status plan_pages(const struct kwhy_bench_decode_request *request,
	struct kwhy_bench_decode *bench, struct kwhy_bench_decode_row *row, struct kwhy_error *error)
{
	const char *pages = request->pages;
	char word[KWHY_LIST_WORD_BYTES];
	enum kwhy_status status = KWHY_OK;

	while (!status && kwhy_bench_list_next(&pages, word)) {
		status = find_page(word, &row->page, error);
		if (!status)
			status = plan_caches(request, bench, row, error);
	}
	return status;
}

static enum kwhy_status plan_ranks(const struct kwhy_bench_decode_request *request,
	struct kwhy_bench_decode *bench, struct kwhy_bench_decode_row *row, struct kwhy_error *error)
{
	const char *ranks = request->ranks;
	char word[KWHY_LIST_WORD_BYTES];
	enum kwhy_status status = KWHY_OK;

	while (!status && kwhy_bench_list_next(&ranks, word)) {
		status = find_ranks(word, &row->ranks, error);
		if (!status)
			status = plan_pages(request, bench, row, error);
	}
	return status;
}

static enum kwhy_status plan_batches(const struct kwhy_bench_decode_request *request,
	struct kwhy_bench_decode *bench, struct kwhy_bench_decode_row *row, struct kwhy_error *error)
{
	const char *batches = request->batches, *launches;
	char word[KWHY_LIST_WORD_BYTES];
	enum kwhy_status status = KWHY_OK;

	while (!status && kwhy_bench_list_next(&batches, word)) {
		status = find_batch(word, &row->batch, error);
		launches = request->launches;
		while (!status && kwhy_bench_list_next(&launches, word)) {
			status = find_launching(word, &row->launching, error);
			if (!status)
				status = plan_ranks(request, bench, row, error);
		}
	}
	return status;
}

static enum kwhy_status plan_rows(const struct kwhy_bench_decode_request *request,
	struct kwhy_bench_decode *bench, struct kwhy_error *error)
{
	const char *weights = request->weights;
	struct kwhy_bench_decode_row row = {0};
	char word[KWHY_LIST_WORD_BYTES];
	enum kwhy_status status = KWHY_OK;

	while (!status && kwhy_bench_list_next(&weights, word)) {
		status = find_weights(word, &row.weights, error);
		if (!status)
			status = plan_batches(request, bench, &row, error);
	}
	if (!status && !bench->row_count)
		return kwhy_fail(error, KWHY_E_USAGE,
			"decode has nothing to run: --weights, --batch, --launch, --tp, --page and "
			"--cache each name at least one");
	return status;
}

static enum kwhy_status find_shape(const struct kwhy_bench_decode_request *request,
	const struct kwhy_decode_shape **out, struct kwhy_error *error)
{
	const struct kwhy_decode_shape *shape = kwhy_decode_shape_find(request->shape);

	if (!shape)
		return kwhy_fail(error, KWHY_E_USAGE,
			"--shape takes opt-125m, opt-1.3b or small, not '%.40s'", request->shape);
	if (request->prompt < 2 || request->tokens < 2 ||
		request->prompt + request->tokens > shape->positions)
		return kwhy_fail(error, KWHY_E_USAGE,
			"--prompt and --tokens take at least 2 each, and together at most the %u positions "
			"of %s",
			shape->positions, shape->name);
	*out = shape;
	return KWHY_OK;
}

enum kwhy_status kwhy_bench_decode_plan(const struct kwhy_bench_decode_request *request,
	struct kwhy_bench_decode *bench, enum kwhy_decode_products *out_products, struct kwhy_error *error)
{
	enum kwhy_status status = find_shape(request, &bench->shape, error);

	if (!status)
		status = find_products(request->products, out_products, error);
	return status ? status : plan_rows(request, bench, error);
}

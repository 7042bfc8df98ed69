/* SPDX-License-Identifier: Apache-2.0 */
#include "../expected_text.h"
#include "base/text.h"
#include "cmocka_all.h"
#include "model/side.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/*
 * Compares with a stored file the sums over devices, accounts and runs of random sides of comparisons. Their
 * figures come from short lists, in which some are unknown and some lie exactly on a limit.
 */

static struct kwhy_error error;

enum { SIDES = 300, RUNS_MAX = 4, ROWS = 8 };

static uint32_t below(uint64_t *state, uint32_t limit)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((*state >> 33) % limit);
}

static int64_t draw_nj(uint64_t *state)
{
	static const int64_t energies_nj[] = {1000, 20000, 300001, 4000000, 1, 0, 7777, KWHY_UNKNOWN_NJ};

	return energies_nj[below(state, below(state, 4) ? 7 : 8)];
}

static int64_t draw_ns(uint64_t *state)
{
	static const int64_t times_ns[] = {100, 1000, 2000, 5000, 10000, 1, 0};

	return times_ns[below(state, 7)];
}

static void add_accounts(struct kwhy_side_sums *sums, uint64_t *state)
{
	static const char *const names[] = {"gemm", "softmax", "copy", "a", "b"};
	static const enum kwhy_category categories[] = {KWHY_CATEGORY_COMPUTE, KWHY_CATEGORY_IDLE,
		KWHY_CATEGORY_IDLE, KWHY_CATEGORY_OUTSIDE, KWHY_CATEGORY_UNRECORDED, KWHY_CATEGORY_COPY};
	uint32_t count = below(state, 4);

	for (uint32_t i = 0; i < count; i++) {
		struct kwhy_side_account account = {
			.category = kwhy_category_name(categories[below(state, 6)]),
			.name = names[below(state, 5)],
			.count = below(state, 9),
			.time_ns = draw_ns(state),
			.gross_nj = draw_nj(state)};
		int64_t half_nj = account.gross_nj / 4 * (below(state, 3) > 0);
		bool known = account.gross_nj != KWHY_UNKNOWN_NJ;

		account.low_nj = known ? account.gross_nj - half_nj : KWHY_UNKNOWN_NJ;
		account.high_nj = known && below(state, 9) ? account.gross_nj + 2 * half_nj : KWHY_UNKNOWN_NJ;
		kwhy_side_add_account(sums, &account, below(state, 4) ? 80000 : 0);
	}
}

static void add_device(struct kwhy_side_sums *sums, uint64_t *state)
{
	struct kwhy_side_device device = {.name = below(state, 4) ? "NVIDIA H200" : "",
		.first_ns = below(state, 8) ? draw_ns(state) : KWHY_UNKNOWN_NS,
		.span_ns = draw_ns(state),
		.attributed_nj = draw_nj(state),
		.metered_ns = (double)draw_ns(state),
		.context_idle_w = below(state, 3) ? 75 : NAN,
		.modelled = below(state, 4) == 0};

	device.last_ns = below(state, 8) ? device.first_ns + device.span_ns : KWHY_UNKNOWN_NS;
	device.busy_ns = device.span_ns / (1 + below(state, 3));
	device.idle_ns = device.span_ns - device.busy_ns;
	device.unseen_ns = (double)(device.span_ns / (1 + below(state, 3)));
	kwhy_side_add_device(sums, &device);
}

static void add_rows(struct kwhy_side_sums *sums, uint64_t *state)
{
	static const char *const ids[] = {"host-gaps", "tiny-kernel-chains", "round-trips"};
	static const char *const units[] = {"tokens", "steps", "flop"};
	static const double counts[] = {1, 333, 666, 667, 999, 1000};

	const double count = counts[below(state, 6)], total_ns = (double)draw_ns(state);
	const uint32_t steps = below(state, 3);
	const int64_t loop_ns = draw_ns(state);

	for (uint32_t i = below(state, 3); i > 0; i--)
		kwhy_side_add_call(sums, i == 2 ? "cudaMalloc" : "cudaLaunchKernel", count, total_ns);
	kwhy_side_add_steps(sums, steps, loop_ns, draw_nj(state));
	for (uint32_t i = below(state, 4); i > 0; i--)
		kwhy_side_add_finding(sums,
			&(struct kwhy_side_finding){
				ids[below(state, 3)], ids[below(state, 3)], draw_ns(state), draw_nj(state)});
	for (uint32_t i = 0; i < 3; i++)
		if (below(state, 3))
			kwhy_side_add_work(
				sums, &(struct kwhy_side_work){units[i], (double)below(state, 4), NAN});
}

static struct kwhy_side side_new(uint64_t *state)
{
	const struct kwhy_side_counts counts = {4 * ROWS, ROWS, ROWS};
	struct kwhy_side side = {.label = "a", .truncated = below(state, 9) == 0};
	struct kwhy_side_sums sums;
	uint32_t devices = 1 + below(state, 3);
	int64_t run_nj = draw_nj(state);

	assert_int_equal(kwhy_side_begin(&sums, &side, &counts, &error), KWHY_OK);
	for (uint32_t d = 0; d < devices; d++) {
		add_accounts(&sums, state);
		add_device(&sums, state);
	}
	add_rows(&sums, state);
	kwhy_side_end(&sums, run_nj, run_nj == KWHY_UNKNOWN_NJ ? run_nj : run_nj - run_nj / 8,
		run_nj == KWHY_UNKNOWN_NJ || below(state, 9) == 0 ? KWHY_UNKNOWN_NJ : run_nj + run_nj / 5);
	return side;
}

static void write_nj(struct kwhy_text *out, int64_t nj)
{
	if (nj == KWHY_UNKNOWN_NJ)
		kwhy_text_add(out, " -");
	else
		kwhy_text_addf(out, " %" PRId64, nj);
}

static void write_real(struct kwhy_text *out, double value)
{
	if (isnan(value))
		kwhy_text_add(out, " -");
	else
		kwhy_text_addf(out, " %.7g", value);
}

static void write_tables(struct kwhy_text *out, const struct kwhy_side *side)
{
	for (size_t i = 0; i < side->account_count; i++) {
		const struct kwhy_side_account *account = &side->accounts[i];

		kwhy_text_addf(out, "\n %s %s %" PRIu64 " %" PRId64, account->category, account->name,
			account->count, account->time_ns);
		write_nj(out, account->gross_nj);
		write_nj(out, account->low_nj);
		write_nj(out, account->high_nj);
		if (!kwhy_side_account_of(side, account->category, account->name))
			fail_msg("an account of %s is not found", account->name);
	}
	for (size_t i = 0; i < side->finding_count; i++)
		kwhy_text_addf(out, "\n %s %s %" PRId64, side->findings[i].id, side->findings[i].title,
			side->findings[i].time_ns);
	for (size_t i = 0; i < side->work_count; i++)
		kwhy_text_addf(out, "\n %s %g", side->work[i].unit, side->work[i].count);
	kwhy_text_add(out, "\n");
}

static void write_side(struct kwhy_text *out, const struct kwhy_side *side)
{
	kwhy_text_addf(out,
		"%s '%s' span %" PRId64 " of %" PRId64 " from %" PRId64 " to %" PRId64 " idle %" PRId64
		" steps %" PRIu64 " in %" PRId64 " %d%d:",
		side->label, side->device, side->span_ns, side->spans_ns, side->first_ns, side->last_ns,
		side->idle_ns, side->step_count, side->loop_ns, side->modelled, side->truncated);
	write_nj(out, side->energy_nj);
	write_nj(out, side->run_nj);
	write_nj(out, side->idle_nj);
	write_nj(out, side->seen_run_nj);
	write_nj(out, side->net_nj);
	write_nj(out, side->net_low_nj);
	write_nj(out, side->net_high_nj);
	write_nj(out, side->loop_nj);
	write_real(out, side->run_below_nj);
	write_real(out, side->run_above_nj);
	write_real(out, side->power_w);
	write_real(out, side->busy_ratio);
	write_real(out, side->launch_ns);
	write_tables(out, side);
}

static void write_case(struct kwhy_text *out, uint64_t number)
{
	uint64_t state = number * 977 + 5;
	uint32_t count = 1 + below(&state, RUNS_MAX);
	struct kwhy_side runs[RUNS_MAX], sum;
	struct kwhy_text text = {0};

	for (uint32_t i = 0; i < count; i++) {
		runs[i] = side_new(&state);
		write_side(&text, &runs[i]);
	}
	assert_int_equal(kwhy_side_sum(&sum, runs, count, &error), KWHY_OK);
	write_side(&text, &sum);
	kwhy_text_addf(out, "case %" PRIu64 " %" PRIu32 "\n", number, digest_of_text(text.data));
	kwhy_side_done(&sum);
	for (uint32_t i = 0; i < count; i++)
		kwhy_side_done(&runs[i]);
	kwhy_text_done(&text);
}

static void random_sides_and_their_sums_are_as_before(void **state)
{
	struct kwhy_text out = {0};

	(void)state;
	for (uint64_t number = 0; number < SIDES; number++)
		write_case(&out, number);
	assert_expected_text("model/side-figures.expected", out.data);
	kwhy_text_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(random_sides_and_their_sums_are_as_before)};

	return kwhy_test_main(tests, NULL, NULL);
}

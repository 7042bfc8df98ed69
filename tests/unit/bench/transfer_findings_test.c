/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/transfers/findings.h"

#include "bench/transfers/plan.h"
#include "bench/transfers/rows.h"
#include "cmocka_all.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Transfers read from rows of a samples file that the tests write: six samples of each, which differ by at
 * most 0.5 %.
 */
struct made {
	struct kwhy_text text;
	struct kwhy_transfers *transfers;
};

static void begin(struct made *made)
{
	*made = (struct made){.transfers = kwhy_transfers_new()};
	kwhy_text_addf(&made->text, "%s\n%s\n", KWHY_BENCH_ROWS_MARK, kwhy_bench_row_names);
}

static void add(struct made *made, const char *strategy, const char *direction, uint64_t piece_bytes,
	unsigned pieces, double seconds)
{
	for (int i = 0; i < 6; i++)
		kwhy_text_addf(&made->text, "%s,%s,host,%llu,%u,%.9g,,1,,,,,0\n", strategy, direction,
			(unsigned long long)(piece_bytes * pieces), pieces, seconds * (1 + 1e-3 * i));
}

static void conclude(struct made *made)
{
	struct kwhy_error error = {0};

	if (kwhy_bench_rows_read("made", &made->text, true, made->transfers, &error) ||
		kwhy_transfers_conclude(made->transfers, &error))
		fail_msg("%s", error.text);
}

static void end(struct made *made)
{
	kwhy_text_done(&made->text);
	kwhy_transfers_free(made->transfers);
}

static const struct kwhy_transfer_baseline *baseline_of(
	const struct made *made, const char *better, const char *than, unsigned pieces)
{
	for (size_t i = 0; i < made->transfers->baseline_count; i++) {
		const struct kwhy_transfer_baseline *baseline = &made->transfers->baselines[i];

		if (strcmp(baseline->better, better) == 0 && strcmp(baseline->than, than) == 0 &&
			baseline->pieces == pieces)
			return baseline;
	}
	return NULL;
}

/*
 * Reading in place ("mapped") takes 3 us + 2 us per 64 KiB, copying first takes 4 us + 1 us per 64 KiB. The
 * former is faster below 64 KiB, where both take 5 us.
 */
static void a_way_wins_where_its_interval_lies_below(void **state)
{
	const struct kwhy_transfer_baseline *baseline;
	struct made made;

	(void)state;
	begin(&made);
	for (uint64_t bytes = 1024; bytes <= 1 << 20; bytes *= 2) {
		add(&made, "mapped", "h2d", bytes, 1, 3e-6 + (double)bytes * 2e-6 / 65536);
		add(&made, "copied-and-read", "h2d", bytes, 1, 4e-6 + (double)bytes * 1e-6 / 65536);
	}
	conclude(&made);
	baseline = baseline_of(&made, "mapped", "copied-and-read", 1);
	assert_non_null(baseline);
	assert_int_equal(baseline->sizes_compared, 11);
	assert_int_equal(baseline->stretch_count, 1);
	assert_int_equal(baseline->stretches[0].from_bytes, 1024);
	assert_int_equal(baseline->stretches[0].to_bytes, 32768);
	assert_int_equal(baseline->best_bytes, 1024);
	end(&made);
}

static void page_locking_pays_after_its_cost_over_what_it_saves(void **state)
{
	struct made made;

	(void)state;
	begin(&made);
	add(&made, "pageable", "h2d", 4096, 1, 6e-6);
	add(&made, "pinned", "h2d", 4096, 1, 4e-6);
	add(&made, "page-locking", "h2d", 4096, 1, 50e-6);
	add(&made, "pageable", "h2d", 8192, 1, 4e-6);
	add(&made, "pinned", "h2d", 8192, 1, 5e-6);
	add(&made, "page-locking", "h2d", 8192, 1, 50e-6);
	conclude(&made);
	assert_int_equal(made.transfers->pinning_count, 2);
	assert_true(fabs(made.transfers->pinnings[0].transfers - 25) < 0.1);
	assert_true(isnan(made.transfers->pinnings[1].transfers));
	end(&made);
}

static void the_fastest_and_the_next_are_chosen_for_each_size(void **state)
{
	struct made made;

	(void)state;
	begin(&made);
	add(&made, "copies", "h2d", 16, 64, 150e-6);
	add(&made, "packed", "h2d", 16, 64, 9e-6);
	add(&made, "batch", "h2d", 16, 64, 9.01e-6);
	add(&made, "compressed", "h2d", 65536, 1, 1e-6);
	conclude(&made);
	assert_int_equal(made.transfers->choice_count, 1);
	assert_string_equal(made.transfers->choices[0].strategy, "packed");
	assert_string_equal(made.transfers->choices[0].second, "batch");
	assert_int_equal(made.transfers->choices[0].piece_bytes, 16);
	assert_false(made.transfers->choices[0].is_sure);
	end(&made);
}

/*
 * The times are made so that the crossovers are known. Packed data read over the link: 2 us + bytes / 10
 * GB/s; copied: 6 us + bytes / 50 GB/s; equal at 50 kB. Pieces read in place: 10 us + bytes / 50 GB/s; a
 * batch of copies: 8 us + 0.1 us per piece + bytes / 55 GB/s; equal at pieces of 55 kB, or smaller ones if
 * there are few. Thresholds are powers of two above that: 64 KiB.
 */
static void the_limits_of_the_engine_are_where_ways_overtake_each_other(void **state)
{
	struct made made;

	(void)state;
	begin(&made);
	for (uint64_t piece = 16; piece <= 65536; piece *= 4)
		for (unsigned pieces = 16; pieces <= 1024; pieces *= 4) {
			double bytes = (double)(piece * pieces);

			add(&made, "packed-mapped", "h2d", piece, pieces, 2e-6 + bytes / 10e9);
			add(&made, "packed", "h2d", piece, pieces, 6e-6 + bytes / 50e9);
			add(&made, "piece-kernel", "h2d", piece, pieces, 10e-6 + bytes / 50e9);
			add(&made, "batch", "h2d", piece, pieces, 8e-6 + pieces * 0.1e-6 + bytes / 55e9);
		}
	conclude(&made);
	assert_int_equal(made.transfers->crossover.put_packed_bytes, 65536);
	assert_int_equal(made.transfers->crossover.get_packed_bytes, 0);
	assert_int_equal(made.transfers->crossover.batch_bytes, 65536);
	end(&made);
}

/*
 * 1 MB takes 100 us uncompressed (10 GB/s). Compressed to half it takes 50 us, and expanding it 25 us (40
 * GB/s): 4/3 times as fast one after the other, twice as fast if both overlap.
 */
static void compressing_is_weighed_by_ratio_and_rates(void **state)
{
	struct made made;

	(void)state;
	begin(&made);
	add(&made, "pinned", "h2d", 1000000, 1, 100e-6);
	add(&made, "expand", "h2d", 1000000, 1, 25e-6);
	add(&made, "compress", "h2d", 65536, 1, 65.536e-6);
	for (int i = 0; i < 6; i++)
		kwhy_text_add(&made.text,
			"compressed,h2d,host,1000000,1,75e-6,500000,1,,,,,0\n"
			"compressed-overlap,h2d,host,1000000,1,50e-6,500000,1,,,,,0\n");
	conclude(&made);
	assert_int_equal(made.transfers->compression.bytes, 1000000);
	assert_true(made.transfers->compression.ratio == 2);
	assert_true(fabs(made.transfers->compression.link_bytes_per_s / 10e9 - 1) < 0.01);
	assert_true(fabs(made.transfers->compression.expand_bytes_per_s / 40e9 - 1) < 0.01);
	assert_true(fabs(made.transfers->compression.compress_bytes_per_s / 1e9 - 1) < 0.01);
	assert_true(fabs(made.transfers->compression.serial_ratio / (4.0 / 3) - 1) < 0.01);
	assert_true(fabs(made.transfers->compression.overlapped_ratio / 2 - 1) < 0.01);
	end(&made);
}

static void curves_are_of_times_that_sizes_take(void **state)
{
	const struct kwhy_transfer_segment *segment;
	struct made made;

	(void)state;
	begin(&made);
	for (uint64_t bytes = 1; bytes <= 1 << 30; bytes *= 2)
		add(&made, "pinned", "d2h", bytes, 1, 2e-6 + (double)bytes / 55e9);
	conclude(&made);
	assert_int_equal(made.transfers->curve_count, 1);
	assert_int_equal(made.transfers->curves[0].segment_count, 1);
	segment = &made.transfers->curves[0].segments[0];
	assert_true(fabs(segment->alpha_s / 2.005e-6 - 1) < 0.01);
	assert_true(fabs((segment->alpha_s + segment->beta_s_per_byte * 1e6) / 20.2e-6 - 1) < 0.01);
	assert_true(made.transfers->curves[0].held_out_worst_ratio < 0.01);
	end(&made);
}

static void nothing_measured_concludes_nothing(void **state)
{
	struct made made;

	(void)state;
	begin(&made);
	conclude(&made);
	assert_int_equal(made.transfers->curve_count + made.transfers->choice_count +
			made.transfers->baseline_count + made.transfers->pinning_count,
		0);
	end(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_way_wins_where_its_interval_lies_below),
		cmocka_unit_test(page_locking_pays_after_its_cost_over_what_it_saves),
		cmocka_unit_test(the_fastest_and_the_next_are_chosen_for_each_size),
		cmocka_unit_test(the_limits_of_the_engine_are_where_ways_overtake_each_other),
		cmocka_unit_test(compressing_is_weighed_by_ratio_and_rates),
		cmocka_unit_test(curves_are_of_times_that_sizes_take),
		cmocka_unit_test(nothing_measured_concludes_nothing),
	};

	return kwhy_test_main(tests, NULL, NULL);
}

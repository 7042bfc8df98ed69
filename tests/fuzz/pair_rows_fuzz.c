/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/pairs/store.h"
#include "pairs/analysis.h"
#include "report/pairs.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

static void expect(bool holds)
{
	if (!holds)
		abort();
}

/* Checks that the figures that kwhy computes from accepted samples are within their bounds. */
static void check(const struct kwhy_pairs *pairs)
{
	expect(pairs->gpu_count <= KWHY_PAIR_GPUS_MAX);
	for (size_t i = 0; i < pairs->config_count; i++) {
		const struct kwhy_pair_config *config = &pairs->configs[i];

		expect(config->sample_count <= KWHY_PAIR_SAMPLES_MAX);
		if (config->sample_count)
			expect(config->source < pairs->gpu_count && config->target < pairs->gpu_count &&
				config->summary.median_s >= config->summary.least_s);
	}
	for (size_t i = 0; i < pairs->curve_count; i++)
		expect(pairs->curves[i].segment_count > 0);
	for (size_t i = 0; i < pairs->relation_count; i++) {
		const struct kwhy_pair_figure *r = &pairs->relations[i].r;

		expect(isnan(r->value) || (r->low <= r->value && r->value <= r->high));
	}
	for (size_t i = 0; i < pairs->criterion_count; i++)
		expect(pairs->criteria[i].why);
}

static void show(const struct kwhy_pairs *pairs)
{
	const struct kwhy_text_style style = {.columns = 80, .verbose = true};
	struct kwhy_text text = {0};
	struct kwhy_error error;

	expect(!kwhy_report_pairs_text(pairs, &style, &text, &error));
	kwhy_text_clear(&text);
	expect(!kwhy_report_pairs_json(pairs, &text, &error));
	kwhy_text_done(&text);
}

static enum kwhy_status read_samples(
	const struct kwhy_text *text, struct kwhy_pairs *pairs, struct kwhy_error *error)
{
	return kwhy_pair_rows_read("fuzz.csv", text, true, pairs, error);
}

/*
 * Reads a file of energies of two GPUs. In kwhy the number of GPUs comes from the file of samples, which is
 * read before.
 */
static enum kwhy_status read_energies(
	const struct kwhy_text *text, struct kwhy_pairs *pairs, struct kwhy_error *error)
{
	pairs->gpu_count = 2;
	return kwhy_pair_energy_rows_read("fuzz.csv", text, pairs, error);
}

static enum kwhy_status read_readings(
	const struct kwhy_text *text, struct kwhy_pairs *pairs, struct kwhy_error *error)
{
	pairs->gpu_count = 2;
	return kwhy_pair_reading_rows_read("fuzz.csv", text, pairs, error);
}

static enum kwhy_status read_pinnings(
	const struct kwhy_text *text, struct kwhy_pairs *pairs, struct kwhy_error *error)
{
	pairs->gpu_count = 2;
	return kwhy_pair_pinning_rows_read("fuzz.csv", text, pairs, error);
}

static enum kwhy_status read_clocks(
	const struct kwhy_text *text, struct kwhy_pairs *pairs, struct kwhy_error *error)
{
	pairs->gpu_count = 2;
	return kwhy_pair_clock_rows_read("fuzz.csv", text, pairs, error);
}

static void read_as(const struct kwhy_text *text,
	enum kwhy_status (*read)(
		const struct kwhy_text *text, struct kwhy_pairs *pairs, struct kwhy_error *error))
{
	struct kwhy_pairs *pairs = kwhy_pairs_new();
	struct kwhy_error error = {0};

	expect(pairs);
	if (read(text, pairs, &error)) {
		expect(error.text[0]);
	} else {
		expect(!kwhy_pairs_conclude(pairs, &error));
		check(pairs);
		show(pairs);
	}
	kwhy_pairs_free(pairs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	struct kwhy_text text = {0};

	kwhy_text_add_bytes(&text, data, length);
	read_as(&text, read_samples);
	read_as(&text, read_energies);
	read_as(&text, read_readings);
	read_as(&text, read_pinnings);
	read_as(&text, read_clocks);
	kwhy_text_done(&text);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/transfers/findings.h"
#include "bench/transfers/rows.h"

#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

/*
 * Checks the figures that are computed from accepted samples: each point has a valid number of samples and a
 * median not below its minimum, and ranges of sizes are in order.
 */
static void check(const struct kwhy_transfers *transfers)
{
	for (size_t i = 0; i < transfers->point_count; i++) {
		const struct kwhy_transfer_point *point = &transfers->points[i];

		if (point->sample_count == 0 || point->sample_count > KWHY_TRANSFER_SAMPLES_MAX ||
			!(point->summary.median_s >= point->summary.least_s))
			abort();
	}
	for (size_t i = 0; i < transfers->baseline_count; i++)
		for (size_t k = 0; k < transfers->baselines[i].stretch_count; k++)
			if (transfers->baselines[i].stretches[k].from_bytes >
				transfers->baselines[i].stretches[k].to_bytes)
				abort();
	for (size_t i = 0; i < transfers->curve_count; i++)
		if (transfers->curves[i].segment_count == 0)
			abort();
}

static void read_as(const struct kwhy_text *text,
	enum kwhy_status (*read)(
		const struct kwhy_text *text, struct kwhy_transfers *transfers, struct kwhy_error *error))
{
	struct kwhy_transfers *transfers = kwhy_transfers_new();
	struct kwhy_error error = {0};

	if (!transfers)
		abort();
	if (read(text, transfers, &error)) {
		if (!error.text[0])
			abort();
	} else {
		if (kwhy_transfers_conclude(transfers, &error))
			abort();
		check(transfers);
	}
	kwhy_transfers_free(transfers);
}

static enum kwhy_status read_samples(
	const struct kwhy_text *text, struct kwhy_transfers *transfers, struct kwhy_error *error)
{
	return kwhy_bench_rows_read("fuzz.csv", text, true, transfers, error);
}

static enum kwhy_status read_energies(
	const struct kwhy_text *text, struct kwhy_transfers *transfers, struct kwhy_error *error)
{
	return kwhy_bench_energy_rows_read("fuzz.csv", text, transfers, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	struct kwhy_text text = {0};

	kwhy_text_add_bytes(&text, data, length);
	read_as(&text, read_samples);
	read_as(&text, read_energies);
	kwhy_text_done(&text);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "../expected_text.h"
#include "base/text.h"
#include "cmocka_all.h"
#include "model/counter.h"
#include "model/recording.h"

#include <inttypes.h>
#include <stdlib.h>

/*
 * For random counters, compares with a stored file which readings are judged wrong and by how much the
 * counter rose between readings. The counters dip, peak, jump, are reset and wrap, often shortly after each
 * other.
 */

enum { SERIES = 1500, READINGS_MAX = 14 };

static uint32_t below(uint64_t *state, uint32_t limit)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)((*state >> 33) % limit);
}

/*
 * Returns the next reading; at random, a quarter of the readings are wrong. *course: the counter's
 * true value, which is advanced.
 */
static int64_t next_value(uint64_t *state, int64_t *course, int64_t wrap)
{
	static const int64_t rises[] = {0, 1, 100, 100, 100, 110, 200, 1000};
	static const int64_t errors[] = {-50, -100, -101, -250, 50, 100, 101, 250, 5000, 1000000000};

	*course += rises[below(state, 8)];
	if (wrap && *course > wrap)
		*course -= wrap;
	if (below(state, 12) == 0)
		*course = below(state, 3) * INT64_C(50);
	if (below(state, 30) == 0)
		*course += 100000000;
	return below(state, 4) ? *course : *course + errors[below(state, 10)];
}

static struct kwhy_power_series series_new(uint64_t *state)
{
	static const enum kwhy_meter meters[] = {KWHY_METER_NVML_ENERGY, KWHY_METER_ROCM_ENERGY,
		KWHY_METER_RAPL_PACKAGE, KWHY_METER_RAPL_DRAM, KWHY_METER_HWMON_ENERGY};
	static const int64_t wraps[] = {0, 0, 999, 1200, 5000};
	struct kwhy_power_series series = {.count = below(state, READINGS_MAX)};
	int64_t course = below(state, 3) * INT64_C(500), time_ns = 0;

	series.meter = meters[below(state, 5)];
	series.wrap = wraps[below(state, 5)];
	series.time_ns = malloc(series.count * sizeof(*series.time_ns));
	series.value = malloc(series.count * sizeof(*series.value));
	assert_true(!series.count || (series.time_ns && series.value));
	for (size_t i = 0; i < series.count; i++) {
		time_ns += INT64_C(1000000) * (1 + below(state, 3));
		series.time_ns[i] = time_ns;
		series.value[i] = next_value(state, &course, series.wrap);
	}
	return series;
}

static void write_verdicts(struct kwhy_text *out, const struct kwhy_power_series *series)
{
	const struct kwhy_counter_readings readings = {series->time_ns, series->value, series->count,
		series->wrap, kwhy_meter_unit_nj((enum kwhy_meter)series->meter)};
	uint8_t *verdict = malloc(series->count);

	assert_true(!series->count || verdict);
	kwhy_counter_judge(&readings, verdict);
	for (size_t i = 0; i < series->count; i++)
		kwhy_text_addf(out, " %d", verdict[i]);
	free(verdict);
}

static void write_steps(struct kwhy_text *out, const struct kwhy_power_series *series)
{
	for (size_t i = 1; i < series->count; i++) {
		int64_t counts = 0;
		double power_w = 0;
		int step = (int)kwhy_counter_step(series, i, &counts);

		kwhy_text_addf(out, " %d:%" PRId64, step, counts);
		if (kwhy_counter_power_w(series, i, &power_w))
			kwhy_text_addf(out, " %.7g W", power_w);
	}
}

static void random_counters_are_judged_as_before(void **state)
{
	struct kwhy_text out = {0};

	(void)state;
	for (uint64_t number = 0; number < SERIES; number++) {
		uint64_t random = number * 7919 + 3;
		struct kwhy_power_series series = series_new(&random);
		struct kwhy_text text = {0};

		kwhy_text_addf(&text, "%zu:", series.count);
		write_verdicts(&text, &series);
		write_steps(&text, &series);
		kwhy_text_addf(
			&out, "%" PRIu32 "%s", digest_of_text(text.data), number % 10 == 9 ? "\n" : " ");
		kwhy_text_done(&text);
		free(series.time_ns);
		free(series.value);
	}
	assert_expected_text("model/counter-figures.expected", out.data);
	kwhy_text_done(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(random_counters_are_judged_as_before)};

	return kwhy_test_main(tests, NULL, NULL);
}

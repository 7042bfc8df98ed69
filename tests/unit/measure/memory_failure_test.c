/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "kwhy/measure.h"
#include "measure/regions.h"
#include "unit/failing_memory.h"

enum { READINGS = 40 };

static enum kwhy_status make_curve(struct kwhy_curve **out, struct kwhy_error *error)
{
	static struct kwhy_reading ticks[READINGS], samples[READINGS];
	struct kwhy_readings counter = {KWHY_METER_NVML_ENERGY, ticks, READINGS, 100000000, 0};
	struct kwhy_readings power = {KWHY_METER_NVML_SAMPLE, samples, READINGS, 20000000, 0};
	struct kwhy_response response = kwhy_response_of(KWHY_METER_NVML_SAMPLE);

	for (int64_t i = 0; i < READINGS; i++) {
		ticks[i] = (struct kwhy_reading){i * 100000000, i * 30000};
		samples[i] = (struct kwhy_reading){i * 20000000, 300000};
	}
	return kwhy_curve_new(&counter, &power, &response, out, error);
}

static enum kwhy_status fold(
	struct kwhy_regions *regions, struct kwhy_regions **copy, struct kwhy_error *error)
{
	const struct kwhy_event events[] = {{100000000, 3, KWHY_EVENT_BEGIN, 0, 0},
		{200000000, 5, KWHY_EVENT_WORK, 0, 7}, {300000000, 3, KWHY_EVENT_END, 0, 0}};
	struct kwhy_curve *curve;
	enum kwhy_status status = make_curve(&curve, error);

	if (status)
		return status;
	status = kwhy_regions_fold(regions, events, 3, &curve, 400000000, error);
	kwhy_curve_free(curve);
	return status ? status : kwhy_regions_copy(regions, copy, error);
}

static void whatever_allocation_fails_folding_says_so_and_leaks_nothing(void **state)
{
	long fails_at = 0;
	enum kwhy_status status;

	(void)state;
	do {
		struct kwhy_regions *regions = NULL, *copy = NULL;
		struct kwhy_error error = {0};

		left_until_failure = fails_at++;
		status = kwhy_regions_new(1, &regions, &error);
		if (!status)
			status = fold(regions, &copy, &error);
		left_until_failure = -1;
		assert_true(status == KWHY_OK || status == KWHY_E_MEMORY);
		kwhy_regions_free(copy);
		kwhy_regions_free(regions);
	} while (status);
	assert_true(fails_at > 10);
}

static void whatever_allocation_fails_a_session_is_refused_whole(void **state)
{
	struct kwhy_session_options options = {.size = sizeof(options), .without_gpus = 1, .without_host = 1};
	long fails_at = 0;
	int status;

	(void)state;
	do {
		struct kwhy_session *session = NULL;

		left_until_failure = fails_at++;
		status = kwhy_session_open(&options, &session, NULL, 0);
		left_until_failure = -1;
		assert_true(status == KWHY_MEASURE_OK || status == KWHY_MEASURE_E_MEMORY);
		assert_true((status == KWHY_MEASURE_OK) == (session != NULL));
		kwhy_session_close(session);
	} while (status);
	assert_true(fails_at > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whatever_allocation_fails_folding_says_so_and_leaks_nothing),
		cmocka_unit_test(whatever_allocation_fails_a_session_is_refused_whole),
	};

	return kwhy_test_main(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/windows.h"
#include "cmocka_all.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Tests the energy of windows on a recording in examples/. */

static struct kwhy_analysis *analysis;

static int open_example(void **state)
{
	const char *path = KWHY_SOURCE_DIR "/examples/recordings/decode.kwhy";
	char message[KWHY_ANALYSE_MESSAGE_BYTES];

	(void)state;
	return kwhy_analysis_open(&path, 1, NULL, &analysis, message, sizeof(message));
}

static int close_example(void **state)
{
	(void)state;
	kwhy_analysis_close(analysis);
	return 0;
}

static int64_t unix_at(double share)
{
	const struct kwhy_recording *recording = analysis->recording;

	return recording->origin_unix_ns + recording->start_ns +
		(int64_t)(share * (double)(recording->end_ns - recording->start_ns));
}

static int64_t sum_of_parts(const struct kwhy_analysis_window *window)
{
	int64_t sum_nj = 0;

	for (size_t i = 0; i < window->part_count; i++) {
		const struct kwhy_analysis_part *part = &window->parts[i];

		assert_true(part->energy_nj >= 0);
		if (part->name)
			assert_true(
				part->low_nj <= part->energy_nj + 1 && part->energy_nj <= part->high_nj + 1);
		else
			assert_true(part->low_nj == KWHY_UNKNOWN_NJ && part->high_nj == KWHY_UNKNOWN_NJ);
		sum_nj += part->energy_nj;
	}
	return sum_nj;
}

static const struct kwhy_analysis_part *part_of(const struct kwhy_analysis_window *window, const char *name)
{
	for (size_t i = 0; i < window->part_count; i++)
		if (name ? window->parts[i].name && strcmp(window->parts[i].name, name) == 0
			 : !window->parts[i].name)
			return &window->parts[i];
	return NULL;
}

/*
 * As the kernels of the example run one after the other on its one device, a window over the whole run must
 * have the energies of the ledger, and two windows that meet must add up to them.
 */
static void windows_have_the_energies_of_the_ledger(void **state)
{
	const struct kwhy_device_ledger *device = &analysis->ledger->devices[0];
	struct kwhy_analysis_window whole = {.start_unix_ns = unix_at(0), .end_unix_ns = unix_at(1)};
	struct kwhy_analysis_window halves[] = {{.start_unix_ns = unix_at(0), .end_unix_ns = unix_at(0.4)},
		{.start_unix_ns = unix_at(0.4), .end_unix_ns = unix_at(1)}};
	struct kwhy_error error;

	(void)state;
	assert_int_equal(kwhy_analysis_windows(analysis, &whole, 1, &error), KWHY_OK);
	assert_int_equal(kwhy_analysis_windows(analysis, halves, 2, &error), KWHY_OK);
	assert_int_equal(sum_of_parts(&whole), whole.energy_nj);
	assert_int_equal(sum_of_parts(&halves[0]), halves[0].energy_nj);
	assert_true(llabs(halves[0].energy_nj + halves[1].energy_nj - whole.energy_nj) <= 2);
	for (size_t i = 0; i < device->account_count; i++) {
		const struct kwhy_account *account = &device->accounts[i];
		const struct kwhy_analysis_part *part = part_of(&whole, account->name);

		if (account->category != KWHY_CATEGORY_COMPUTE ||
			account->gross_nj * 50 < device->energy.measured_nj)
			continue;
		assert_non_null(part);
		assert_int_equal(part->time_ns, account->time_ns);
		if (fabs((double)part->energy_nj / (double)account->gross_nj - 1) > 0.01)
			fail_msg("%s: %lld nJ, the ledger has %lld", account->name,
				(long long)part->energy_nj, (long long)account->gross_nj);
	}
	assert_non_null(part_of(&whole, NULL));
	assert_true(part_of(&whole, NULL)->energy_nj <= whole.idle_nj && whole.idle_nj < whole.energy_nj);
	kwhy_analysis_windows_done(&whole, 1);
	kwhy_analysis_windows_done(halves, 2);
}

static void what_is_not_in_the_recording_is_refused(void **state)
{
	struct kwhy_analysis_window late = {.start_unix_ns = unix_at(0.5), .end_unix_ns = unix_at(1) + 1};
	struct kwhy_analysis_window order[] = {{.start_unix_ns = unix_at(0.4), .end_unix_ns = unix_at(0.5)},
		{.start_unix_ns = unix_at(0.3), .end_unix_ns = unix_at(0.6)}};
	struct kwhy_error error;

	(void)state;
	assert_int_equal(kwhy_analysis_windows(analysis, &late, 1, &error), KWHY_E_UNSUPPORTED);
	assert_non_null(strstr(error.text, "until after the last"));
	assert_int_equal(kwhy_analysis_windows(analysis, order, 2, &error), KWHY_E_INPUT);
	analysis->recording->unix_clock = false;
	late.end_unix_ns = unix_at(0.6);
	assert_int_equal(kwhy_analysis_windows(analysis, &late, 1, &error), KWHY_E_UNSUPPORTED);
	assert_non_null(strstr(error.text, "not Unix times"));
	analysis->recording->unix_clock = true;
	kwhy_analysis_windows_done(&late, 1);
	kwhy_analysis_windows_done(order, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows_have_the_energies_of_the_ledger),
		cmocka_unit_test(what_is_not_in_the_recording_is_refused),
	};

	return kwhy_test_main(tests, open_example, close_example);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "unit/ledger/build.h"

#include <math.h>
#include <string.h>

/* Returns the profile of a device whose peaks are 100 TFLOP/s in BF16, 10 TFLOP/s in FP32 and 1 TB/s. */
static struct kwhy_profile *profile(void)
{
	static struct kwhy_profile made;

	kwhy_profile_init(&made);
	made.peak_flop_per_s[KWHY_PRECISION_BF16] = 100e12;
	made.peak_flop_per_s[KWHY_PRECISION_FP32] = 10e12;
	made.peak_bytes_per_s = 1e12;
	return &made;
}

/* Makes a run of 2 s that is busy for 1 s. */
static struct kwhy_recording *two_seconds(void)
{
	struct kwhy_recording *recording = build_one();

	build_kernel(recording, 0, 1000, 500001000, "k");
	build_kernel(recording, 0, 1500001000, 2000001000, "k");
	return recording;
}

static void did(struct kwhy_recording *recording, const char *unit, double count)
{
	OK(kwhy_recording_add_work(recording, unit, count, &error));
}

static struct kwhy_ledger *device_ledger(struct kwhy_recording *recording, const struct kwhy_profile *known)
{
	struct kwhy_ledger_options options = kwhy_ledger_options_default();

	options.profile = known;
	return build_ledger_with(recording, &options);
}

static void assert_ratio(const struct kwhy_ledger *ledger, double ratio)
{
	assert_true(fabs(ledger->roofline.ratio - ratio) < 1e-9);
	assert_true(fabs(ledger->devices[0].time.roofline_ratio - ratio) < 1e-9);
}

static void assert_unknown(struct kwhy_recording *recording, const struct kwhy_profile *known, const char *id)
{
	struct kwhy_ledger *ledger = device_ledger(recording, known);

	assert_true(isnan(ledger->roofline.ratio));
	assert_true(isnan(ledger->roofline.arithmetic_s));
	assert_true(isnan(ledger->devices[0].time.roofline_ratio));
	if (id)
		assert_non_null(build_note(ledger, id));
	else
		assert_int_equal(ledger->note_count, 0);
	build_free(recording, ledger);
}

static void it_is_the_least_time_of_the_work_over_the_run(void **state)
{
	struct kwhy_recording *recording = two_seconds();
	struct kwhy_ledger *ledger;

	(void)state;
	did(recording, "tokens", 1e30);
	did(recording, "flop_bf16", 50e12);
	ledger = device_ledger(recording, profile());
	assert_ratio(ledger, 0.25);
	assert_true(ledger->roofline.arithmetic_s == 0.5);
	assert_true(isnan(ledger->roofline.memory_s));
	build_free(recording, ledger);
}

static void the_slower_of_arithmetic_and_memory_bounds_it(void **state)
{
	struct kwhy_recording *recording = two_seconds();
	struct kwhy_ledger *ledger;

	(void)state;
	did(recording, "flop_bf16", 25e12);
	did(recording, "bytes", 0.9e12);
	ledger = device_ledger(recording, profile());
	assert_ratio(ledger, 0.45);
	assert_true(ledger->roofline.arithmetic_s == 0.25 && ledger->roofline.memory_s == 0.9);
	build_free(recording, ledger);
}

static void precisions_take_turns_and_rows_of_one_unit_add_up(void **state)
{
	struct kwhy_recording *recording = two_seconds();
	struct kwhy_ledger *ledger;

	(void)state;
	did(recording, "flop_bf16", 20e12);
	did(recording, "flop_bf16", 30e12);
	did(recording, "flop_fp32", 5e12);
	did(recording, "flop", 55e12); /* total of the rows above, which is no further work */
	ledger = device_ledger(recording, profile());
	assert_ratio(ledger, 0.5);
	assert_int_equal(ledger->note_count, 0);
	build_free(recording, ledger);
}

/*
 * Stated work is that of all devices, which share it. Its time is the longest run of a device, 2 s: two
 * devices at 100 TFLOP/s need 0.5 s for 100 TFLOP.
 */
static void devices_share_the_work(void **state)
{
	struct kwhy_recording *recording = two_seconds();
	struct kwhy_ledger *ledger;

	(void)state;
	build_device(recording, 1);
	build_device(recording, 2); /* without work, so its peaks do not count */
	build_kernel(recording, build_stream(recording, 1, 0, 8), 0, 1000000000, "k");
	did(recording, "flop_bf16", 100e12);
	ledger = device_ledger(recording, profile());
	assert_ratio(ledger, 0.25);
	assert_true(ledger->devices[1].time.roofline_ratio == ledger->roofline.ratio);
	assert_true(isnan(ledger->devices[2].time.roofline_ratio));
	build_free(recording, ledger);
}

static void without_work_it_is_unknown_and_nothing_is_said(void **state)
{
	struct kwhy_recording *recording = two_seconds();

	(void)state;
	did(recording, "tokens", 7);
	assert_unknown(recording, profile(), NULL);
	recording = build_one();
	did(recording, "flop_bf16", 7);
	assert_unknown(recording, profile(), NULL);
}

static void flop_of_no_precision_have_no_peak(void **state)
{
	static const char *const units[] = {"flop", "flops", "FLOP_bf16", "flop_int4"};

	(void)state;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		struct kwhy_recording *recording = two_seconds();

		did(recording, units[i], 1e12);
		assert_unknown(recording, profile(), "flop-without-precision");
	}
}

static void flop_of_no_precision_leave_memory_alone_as_the_roof(void **state)
{
	struct kwhy_recording *recording = two_seconds();
	struct kwhy_ledger *ledger;

	(void)state;
	did(recording, "flop", 50e12);
	did(recording, "bytes", 1e12);
	ledger = device_ledger(recording, profile());
	assert_ratio(ledger, 0.5);
	assert_non_null(strstr(build_note(ledger, "flop-without-precision"), "--work flop_bf16=N"));
	build_free(recording, ledger);
}

static void what_is_left_out_beside_flop_of_a_precision_is_named(void **state)
{
	struct kwhy_recording *recording = two_seconds();
	struct kwhy_ledger *ledger;

	(void)state;
	did(recording, "flop_bf16", 50e12);
	did(recording, "flop_int4", 50e12);
	ledger = device_ledger(recording, profile());
	assert_ratio(ledger, 0.25);
	assert_non_null(strstr(build_note(ledger, "flop-without-precision"), "'flop_int4'"));
	build_free(recording, ledger);
}

static void a_peak_that_was_not_measured_is_named(void **state)
{
	struct kwhy_recording *recording = two_seconds();

	(void)state;
	did(recording, "bytes", 1e12);
	did(recording, "flop_fp8", 1e12);
	assert_unknown(recording, profile(), "no-peak");
	recording = two_seconds();
	did(recording, "bytes", 1e12);
	assert_unknown(recording, NULL, "no-peak");
}

static void work_above_the_roof_is_a_mistake_and_no_figure(void **state)
{
	struct kwhy_recording *recording = two_seconds();
	struct kwhy_ledger *ledger;

	(void)state;
	did(recording, "bytes", 1.05e12); /* more than the device can move in the 1 s in which it is busy */
	assert_unknown(recording, profile(), "above-roofline");
	recording = two_seconds();
	did(recording, "bytes", 1.015e12); /* within the tolerance for a measured peak */
	ledger = device_ledger(recording, profile());
	assert_ratio(ledger, 0.5075);
	build_free(recording, ledger);
}

static void devices_of_two_kinds_have_no_peak_in_common(void **state)
{
	struct kwhy_recording *recording = two_seconds();

	(void)state;
	build_device(recording, 1);
	recording->devices[1].name = "B";
	build_kernel(recording, build_stream(recording, 1, 0, 8), 0, 1000000000, "k");
	did(recording, "bytes", 1e12);
	assert_unknown(recording, profile(), "devices-differ");
}

/*
 * Work is stated for the whole run. Windows drawn at random (duty) represent that; a time or range that the
 * user chose does not, so no share of the roofline may be given.
 */
static void a_chosen_part_of_a_run_is_not_what_the_work_took(void **state)
{
	static const uint32_t choices[] = {KWHY_CHOICE_TIME, KWHY_CHOICE_RANGE, KWHY_CHOICE_DUTY};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct kwhy_recording *recording = two_seconds();
		struct kwhy_selection selection = {
			.device = KWHY_NONE, .choice = choices[i], .end_ns = 2000001000, .share_ratio = NAN};
		struct kwhy_coverage coverage = {.device = KWHY_NONE, .end_ns = 2000001000};
		struct kwhy_ledger *ledger;

		OK(kwhy_recording_add_selection(recording, &selection, &error));
		OK(kwhy_recording_add_coverage(recording, &coverage, &error));
		did(recording, "bytes", 1e12);
		ledger = device_ledger(recording, profile());
		assert_true(isnan(ledger->roofline.ratio) == (choices[i] != KWHY_CHOICE_DUTY));
		assert_true(!build_note(ledger, "part-of-run") == (choices[i] == KWHY_CHOICE_DUTY));
		build_free(recording, ledger);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_the_least_time_of_the_work_over_the_run),
		cmocka_unit_test(the_slower_of_arithmetic_and_memory_bounds_it),
		cmocka_unit_test(precisions_take_turns_and_rows_of_one_unit_add_up),
		cmocka_unit_test(devices_share_the_work),
		cmocka_unit_test(without_work_it_is_unknown_and_nothing_is_said),
		cmocka_unit_test(flop_of_no_precision_have_no_peak),
		cmocka_unit_test(flop_of_no_precision_leave_memory_alone_as_the_roof),
		cmocka_unit_test(what_is_left_out_beside_flop_of_a_precision_is_named),
		cmocka_unit_test(a_peak_that_was_not_measured_is_named),
		cmocka_unit_test(work_above_the_roof_is_a_mistake_and_no_figure),
		cmocka_unit_test(a_chosen_part_of_a_run_is_not_what_the_work_took),
		cmocka_unit_test(devices_of_two_kinds_have_no_peak_in_common),
	};

	return kwhy_test_main(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct kwhy_error error;

/* Makes a pageable copy of 40 us between two kernels of 30 us each. */
static struct build one_copy(void)
{
	struct build build = build_new(1);

	build_kernel(&build, 0, "k", 0, 30);
	build_issued_copy(&build, (struct build_issue){0, "cudaMemcpy", 28, 75}, 0,
		(struct build_copied){KWHY_COPY_H2D, KWHY_MEMORY_PAGEABLE, 4096, 30, 70});
	build_kernel(&build, 0, "k", 80, 110);
	return build;
}

static enum kwhy_status run_with(struct build *build, const char *threshold)
{
	struct kwhy_detect_options options = kwhy_detect_options_default();
	struct kwhy_findings *findings = NULL;
	enum kwhy_status status;

	options.thresholds = &threshold;
	options.threshold_count = 1;
	status = kwhy_detect_run(build->recording, NULL, NULL, &options, &findings, &error);
	assert_true(status == KWHY_OK || !findings);
	kwhy_findings_free(findings);
	return status;
}

static void an_unknown_finding_is_refused_with_the_choices(void **state)
{
	struct build build = one_copy();

	(void)state;
	build_finish(&build, false);
	assert_int_equal(run_with(&build, "big-copies.max_bytes=4"), KWHY_E_USAGE);
	assert_non_null(strstr(error.text, "no such finding"));
	for (size_t i = 0; i < kwhy_detector_count; i++)
		assert_non_null(strstr(error.text, kwhy_detectors[i].id));
	assert_int_equal(run_with(&build, ""), KWHY_E_USAGE);
	assert_int_equal(run_with(&build, "small-copies"), KWHY_E_USAGE);
	build_free(&build);
}

static void an_unknown_threshold_is_refused_with_the_choices(void **state)
{
	struct build build = one_copy();

	(void)state;
	build_finish(&build, false);
	assert_int_equal(run_with(&build, "small-copies.max_byte=4"), KWHY_E_USAGE);
	assert_non_null(strstr(error.text, "max_bytes (bytes"));
	assert_non_null(strstr(error.text, "min_count"));
	build_free(&build);
}

static void a_threshold_that_is_no_number_is_refused(void **state)
{
	static const char *const bad[] = {"small-copies.max_bytes",
		"small-copies.max_bytes=", "small-copies.max_bytes=4k", "small-copies.max_bytes=-1",
		"small-copies.max_bytes=nan", "small-copies.max_bytes=inf", "small-copies.max_bytes=1e999"};
	struct build build = one_copy();

	(void)state;
	build_finish(&build, false);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(run_with(&build, bad[i]), KWHY_E_USAGE);
		assert_non_null(strstr(error.text, "is not a number"));
	}
	assert_int_equal(run_with(&build, "small-copies.max_bytes=1e300"), KWHY_OK);
	build_free(&build);
}

static void ids_and_thresholds_are_named_once_and_described(void **state)
{
	(void)state;
	assert_int_equal(kwhy_detector_count, 26);
	for (size_t i = 0; i < kwhy_detector_count; i++) {
		assert_non_null(kwhy_detectors[i].thresholds[0].name);
		assert_non_null(kwhy_detectors[i].cure);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(kwhy_detectors[i].id, kwhy_detectors[j].id);
		for (size_t t = 0; t < KWHY_DETECTOR_THRESHOLDS; t++)
			assert_true(!kwhy_detectors[i].thresholds[t].name ||
				kwhy_detectors[i].thresholds[t].description);
	}
}

static char *read_page(void)
{
	char *page = calloc(1, 1 << 16);
	FILE *file = fopen(KWHY_SOURCE_DIR "/docs/findings.md", "r");

	assert_non_null(page);
	assert_non_null(file);
	assert_true(fread(page, 1, (1 << 16) - 1, file) > 0);
	fclose(file);
	return page;
}

static void the_page_of_findings_names_every_threshold_with_its_default(void **state)
{
	char *page = read_page();
	char words[128];

	(void)state;
	for (size_t i = 0; i < kwhy_detector_count; i++) {
		const char *row;

		snprintf(words, sizeof(words), "\n| `%s` |", kwhy_detectors[i].id);
		row = strstr(page, words);
		assert_non_null(row);
		for (size_t t = 0; t < KWHY_DETECTOR_THRESHOLDS && kwhy_detectors[i].thresholds[t].name;
			t++) {
			const char *found;

			snprintf(words, sizeof(words), "`%s` %.10g", kwhy_detectors[i].thresholds[t].name,
				kwhy_detectors[i].thresholds[t].value);
			found = strstr(row, words);
			assert_true(found && found < strchr(row + 1, '\n'));
		}
	}
	free(page);
}

static void a_threshold_is_read_by_its_name_wherever_it_stands(void **state)
{
	static const struct kwhy_detector detector = {
		.id = "any", .thresholds = {{"min_count", 1, "times"}, {"max_ms", 2, "ms"}}};
	const double values[KWHY_DETECTOR_THRESHOLDS] = {3, 4, 5, 6};
	const struct kwhy_detect_context context = {.detector = &detector, .thresholds = values};

	(void)state;
	assert_true(kwhy_detect_threshold(&context, "min_count") == 3);
	assert_true(kwhy_detect_threshold(&context, "max_ms") == 4);
	assert_true(isnan(kwhy_detect_threshold(&context, "max")));
}

static void copies_and_idle_time_are_priced_by_the_ledger_with_its_intervals(void **state)
{
	struct kwhy_detect_options options = kwhy_detect_options_default();
	struct build build = one_copy();
	const struct kwhy_finding *finding;

	(void)state;
	build_finish(&build, true);
	finding = build_detect(&build, "pageable-copies", &options);
	assert_non_null(finding);
	assert_int_equal(finding->time_ns, 50000);
	/* at 63.0 GB/s, the rate of PCIe 5.0 x16, 4 KiB take 65 ns, which remain */
	assert_int_equal(finding->saving.time_ns, 49935);
	/*
	 * the copy: 40 us at 300 W; until the next kernel: 10 us at 100 W. The intervals of the accounts are
	 * +-10 %
	 */
	assert_int_equal(finding->energy_nj, 40000 * 300 + 10000 * 100);
	assert_in_range(finding->low_nj, 11699999, 11700000);
	assert_in_range(finding->high_nj, 14299999, 14300000);
	assert_in_range(finding->saving.energy_nj, finding->energy_nj - 65 * 300 - 1, finding->energy_nj);
	build_free(&build);
}

static void without_a_ledger_energies_are_unknown(void **state)
{
	struct build build = one_copy();
	const struct kwhy_finding *finding = build_find(&build, "pageable-copies", NULL);

	(void)state;
	assert_non_null(finding);
	assert_true(finding->energy_nj == KWHY_UNKNOWN_NJ && finding->low_nj == KWHY_UNKNOWN_NJ);
	assert_true(finding->saving.energy_nj == KWHY_UNKNOWN_NJ);
	assert_true(finding->saving.high_nj == KWHY_UNKNOWN_NJ);
	build_free(&build);
}

static void intervals_that_the_ledger_does_not_know_stay_unknown(void **state)
{
	struct kwhy_detect_options options = kwhy_detect_options_default();
	struct build build = one_copy();
	const struct kwhy_finding *finding;

	(void)state;
	build_finish(&build, true);
	build.ledger->devices[0].accounts[0].low_nj = KWHY_UNKNOWN_NJ;
	finding = build_detect(&build, "pageable-copies", &options);
	assert_non_null(finding);
	assert_true(finding->energy_nj > 0);
	assert_true(finding->low_nj == KWHY_UNKNOWN_NJ);
	build_free(&build);
}

/*
 * The activity of the finding ran before the meter's first reading. Its energy is computed from the power of
 * its class, 300 W, with the interval of that power, 240 W to 330 W.
 */
static void work_before_the_meters_has_the_interval_of_its_power(void **state)
{
	struct kwhy_detect_options options = kwhy_detect_options_default();
	struct build build = one_copy();
	const struct kwhy_finding *finding;

	(void)state;
	build_finish(&build, true);
	build.ledger->devices[0].accounts[0].gross_nj = 0;
	build.ledger->devices[0].accounts[0].low_nj = build.ledger->devices[0].accounts[0].high_nj = 0;
	build.ledger->devices[0].classes[0].low_w = 240;
	build.ledger->devices[0].classes[0].high_w = 330;
	finding = build_detect(&build, "pageable-copies", &options);
	assert_non_null(finding);
	assert_int_equal(finding->energy_nj, 40000 * 300 + 10000 * 100);
	assert_in_range(finding->low_nj, 40000 * 240 + 10000 * 90 - 1, 40000 * 240 + 10000 * 90);
	assert_in_range(finding->high_nj, 40000 * 330 + 10000 * 110 - 1, 40000 * 330 + 10000 * 110);
	build_free(&build);
}

static void a_gain_below_the_least_share_is_kept_silent(void **state)
{
	struct kwhy_detect_options options = kwhy_detect_options_default();
	struct build build = one_copy();

	(void)state;
	build_finish(&build, false);
	options.min_gain_ratio = 49.935 / 110 + 1e-5;
	assert_null(build_detect(&build, "pageable-copies", &options));
	options.min_gain_ratio = 49.935 / 110 - 1e-5;
	assert_non_null(build_detect(&build, "pageable-copies", &options));
	build_free(&build);
}

static void a_gain_in_energy_alone_counts(void **state)
{
	struct kwhy_detect_options options = kwhy_detect_options_default();
	struct build build = one_copy();

	(void)state;
	build_finish(&build, true);
	options.min_gain_ratio =
		0.6; /* The copy could save 50 us of the run's 110 us, which is less than this share. But it
			could save 13 mJ of the run's 15 mJ, for which the finding must be kept. */
	build.ledger->devices[0].energy.attributed_nj = 15000000;
	assert_non_null(build_detect(&build, "pageable-copies", &options));
	build_free(&build);
}

/*
 * Whether a saving is large enough is decided by its share of the energy of the run. Energy metered before
 * and after the run must not be part of that.
 */
static void a_gain_is_of_the_energy_of_the_run_be_it_metered_or_modelled(void **state)
{
	struct kwhy_detect_options options = kwhy_detect_options_default();
	struct build build = one_copy();
	struct kwhy_device_ledger *device_ledger;

	(void)state;
	build_finish(&build, true);
	device_ledger = &build.ledger->devices[0];
	options.min_gain_ratio = 0.6;
	device_ledger->energy.attributed_nj = 1015000000;
	device_ledger->energy.measured_nj = KWHY_UNKNOWN_NJ;
	device_ledger->energy.modelled = true;
	assert_null(build_detect(&build, "pageable-copies", &options));
	device_ledger->accounts[1].category = KWHY_CATEGORY_OUTSIDE;
	device_ledger->accounts[1].gross_nj = 1000000000;
	assert_non_null(build_detect(&build, "pageable-copies", &options));
	build_free(&build);
}

static void where_no_reading_saw_the_run_no_energy_of_a_finding_is_known(void **state)
{
	struct kwhy_detect_options options = kwhy_detect_options_default();
	struct build build = one_copy();
	const struct kwhy_finding *finding;

	(void)state;
	build_finish(&build, true);
	build.ledger->devices[0].energy.end_ns = 0;
	finding = build_detect(&build, "pageable-copies", &options);
	assert_non_null(finding);
	assert_int_equal(finding->energy_nj, KWHY_UNKNOWN_NJ);
	assert_int_equal(finding->saving.energy_nj, KWHY_UNKNOWN_NJ);
	build_free(&build);
}

static void evidence_is_the_longest_places_first(void **state)
{
	struct kwhy_detect_options options = kwhy_detect_options_default();
	struct build build = build_new(1);
	const struct kwhy_finding *finding;

	(void)state;
	for (int64_t i = 0; i < 20; i++)
		build_blocks(&build, 0, 1, i * 100, i * 100 + 5 + (i * 7) % 20);
	build_finish(&build, false);
	options.evidence_limit = 3;
	finding = build_detect(&build, "under-filled-kernels", &options);
	assert_non_null(finding);
	assert_int_equal(finding->evidence_count, 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(
			finding->evidence[i].end_ns - finding->evidence[i].start_ns, (24 - i) * 1000);
	options.evidence_limit = 0;
	finding = build_detect(&build, "under-filled-kernels", &options);
	assert_int_equal(finding->evidence_count, 0);
	build_free(&build);
}

/*
 * The evidence must be the eight longest of 15 places, in order of length, though they are added in another
 * order and some have equal lengths.
 */
static void evidence_of_many_places_is_the_longest_of_them(void **state)
{
	static const int lengths_us[] = {7, 30, 12, 25, 9, 41, 3, 28, 28, 40, 5, 39, 18, 2, 33};
	enum { PLACES = sizeof(lengths_us) / sizeof(*lengths_us) };
	static const int longest_us[] = {41, 40, 39, 33, 30, 28, 28, 25};
	struct kwhy_detect_options options = kwhy_detect_options_default();
	struct build build = build_new(1);
	const struct kwhy_finding *finding;

	(void)state;
	for (int64_t i = 0; i < PLACES; i++)
		build_blocks(&build, 0, 1, i * 100, i * 100 + lengths_us[i]);
	build_finish(&build, false);
	options.evidence_limit = 8;
	finding = build_detect(&build, "under-filled-kernels", &options);
	assert_int_equal(finding->evidence_count, 8);
	for (int i = 0; i < 8; i++)
		assert_int_equal(
			finding->evidence[i].end_ns - finding->evidence[i].start_ns, longest_us[i] * 1000);
	build_free(&build);
}

static void long_names_are_cut_between_characters(void **state)
{
	struct build build = build_new(1);
	const char *end, *what;
	char name[201] = "";

	(void)state;
	for (int i = 0; i < 100; i++)
		strcat(name, "\xC3\xA9");
	build_kernel(&build, 0, name, 0, 10);
	build_issued_kernel(&build, (struct build_issue){0, name, 50, 60}, 0, 1500000, 1500010);
	build_issued_copy(&build, (struct build_issue){0, name, 1500010, 1500020}, 0,
		(struct build_copied){KWHY_COPY_D2H, KWHY_MEMORY_PAGEABLE, 4, 2500000, 2600000});
	assert_non_null(build_find(&build, "pageable-copies", NULL));
	what = build_find(&build, "pageable-copies", NULL)->evidence[0].what;
	end = strstr(what, "\xC3\xA9...");
	assert_non_null(end);
	/*
	 * a name is cut to 64 bytes: three for the dots, and 30 characters of two bytes, as a character is
	 * not divided
	 */
	assert_int_equal(end + 2 - strstr(what, "\xC3\xA9"), 60);
	build_free(&build);
}

static void evidence_names_the_range_around_a_call(void **state)
{
	struct build build = build_new(1);

	(void)state;
	build_host_range(&build, KWHY_HOST_USER, "load", NULL, 1500000, 1500030);
	build_kernel(&build, 0, "k", 0, 10);
	build_issued_copy(&build, (struct build_issue){0, "cudaMemcpy", 1500010, 1500020}, 0,
		(struct build_copied){KWHY_COPY_D2H, KWHY_MEMORY_PAGEABLE, 4, 2500000, 2600000});
	assert_non_null(build_find(&build, "pageable-copies", NULL));
	assert_non_null(strstr(build_find(&build, "pageable-copies", NULL)->evidence[0].what, ", in load"));
	build_free(&build);
}

static void evidence_names_kernels_whole(void **state)
{
	struct build build = build_new(1);
	const struct kwhy_finding *finding;
	char name[201];

	(void)state;
	memset(name, 'k', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (int64_t i = 0; i < 10; i++)
		build_kernel(&build, 0, i % 2 ? "k" : name, i * 5, i * 5 + 3);
	finding = build_find(&build, "tiny-kernel-chains", NULL);
	assert_non_null(finding);
	assert_ptr_equal(strstr(finding->evidence[0].what, name), finding->evidence[0].what);
	assert_string_equal(finding->evidence[0].kernels[0], name);
	build_free(&build);
}

static void a_kernel_that_takes_no_time_leaves_the_energies_of_others_known(void **state)
{
	struct kwhy_detect_options options = kwhy_detect_options_default();
	struct build build = build_new(1);
	const struct kwhy_finding *finding;

	(void)state;
	build_blocks(&build, 0, 10, 0, 1000);
	build_blocks(&build, 0, 10, 1000, 1000);
	build_finish(&build, true);
	finding = build_detect(&build, "under-filled-kernels", &options);
	assert_non_null(finding);
	assert_int_equal(finding->energy_nj, 1000000 * INT64_C(300)); /* 1 ms at 300 W */
	build_free(&build);
}

static void an_empty_recording_has_no_findings(void **state)
{
	struct build build = build_new(2);

	(void)state;
	assert_null(build_find(&build, "small-copies", NULL));
	assert_int_equal(build.findings->count, 0);
	build_free(&build);
}

/*
 * Makes a random recording of two devices with all kinds of activities, calls and ranges that detectors
 * look at.
 */
static struct build random_recording(void)
{
	static const char *const calls[] = {"cudaDeviceSynchronize", "cuStreamSynchronize", "cudaMalloc",
		"cudaFree", "cudaGetDevice", "cudaLaunchKernel"};
	struct build build = build_new(2);
	int64_t at[2] = {0, 0};

	build_stream(&build, 0);
	for (int i = 0; i < 300; i++) {
		uint32_t device = (uint32_t)rand() % 2, stream = device;
		int64_t start = at[device] + rand() % 30 - 5, end;
		struct build_issue issue = {device, "cudaMemcpyAsync", at[device], at[device] + rand() % 15};

		start = start < 0 ? 0 : start;
		end = start + rand() % 20;
		if (device == 0 && rand() % 2)
			stream = 2;
		switch (rand() % 7) {
		case 0:
			build_issued_copy(&build, issue, stream,
				(struct build_copied){KWHY_COPY_D2H, KWHY_MEMORY_PAGEABLE, 4, start, end});
			break;
		case 1:
			build_copy(&build, stream, KWHY_COPY_H2D, 1 << 20, start, end);
			break;
		case 2:
			build_blocks(&build, stream, (uint32_t)rand() % 200, start, end);
			break;
		case 3:
			build_collective(&build, stream, start, end);
			break;
		case 4:
			build_issued_memset(&build, issue, stream, start, end);
			break;
		case 5:
			build_call(&build, device, calls[rand() % 6], start, end);
			break;
		default:
			build_issued_kernel(&build, issue, stream, start, end);
		}
		at[device] += rand() % 25;
	}
	return build;
}

static void check_bounds(const struct build *build, const struct kwhy_finding *finding)
{
	const struct kwhy_recording *recording = build->recording;
	int64_t window_ns = recording->end_ns - recording->start_ns;

	assert_true(finding->count > 0);
	assert_true(finding->time_ns > 0 && finding->time_ns <= window_ns);
	assert_true(finding->saving.time_ns >= 0 && finding->saving.time_ns <= finding->time_ns);
	assert_true(finding->energy_nj >= 0 && finding->saving.energy_nj >= 0);
	assert_true(finding->low_nj <= finding->energy_nj && finding->energy_nj <= finding->high_nj);
	for (size_t i = 0; i < finding->evidence_count; i++)
		assert_true(finding->evidence[i].start_ns >= recording->start_ns &&
			finding->evidence[i].end_ns <= recording->end_ns);
}

static void costs_stay_inside_the_window_and_savings_inside_the_cost(void **state)
{
	struct kwhy_detect_options options = kwhy_detect_options_default();
	size_t findings = 0;

	(void)state;
	srand(7);
	options.min_gain_ratio = 0;
	for (int round = 0; round < 200; round++) {
		struct build build = random_recording();

		build_finish(&build, true);
		build_detect(&build, "", &options);
		findings += build.findings->count;
		for (size_t i = 0; i < build.findings->count; i++)
			check_bounds(&build, &build.findings->items[i]);
		for (size_t i = 1; i < build.findings->count; i++)
			assert_true(build.findings->items[i - 1].saving.energy_nj >=
				build.findings->items[i].saving.energy_nj);
		build_free(&build);
	}
	assert_true(findings > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_unknown_finding_is_refused_with_the_choices),
		cmocka_unit_test(an_unknown_threshold_is_refused_with_the_choices),
		cmocka_unit_test(a_threshold_that_is_no_number_is_refused),
		cmocka_unit_test(ids_and_thresholds_are_named_once_and_described),
		cmocka_unit_test(the_page_of_findings_names_every_threshold_with_its_default),
		cmocka_unit_test(a_threshold_is_read_by_its_name_wherever_it_stands),
		cmocka_unit_test(copies_and_idle_time_are_priced_by_the_ledger_with_its_intervals),
		cmocka_unit_test(without_a_ledger_energies_are_unknown),
		cmocka_unit_test(intervals_that_the_ledger_does_not_know_stay_unknown),
		cmocka_unit_test(work_before_the_meters_has_the_interval_of_its_power),
		cmocka_unit_test(a_gain_below_the_least_share_is_kept_silent),
		cmocka_unit_test(a_gain_in_energy_alone_counts),
		cmocka_unit_test(a_gain_is_of_the_energy_of_the_run_be_it_metered_or_modelled),
		cmocka_unit_test(where_no_reading_saw_the_run_no_energy_of_a_finding_is_known),
		cmocka_unit_test(evidence_is_the_longest_places_first),
		cmocka_unit_test(evidence_of_many_places_is_the_longest_of_them),
		cmocka_unit_test(long_names_are_cut_between_characters),
		cmocka_unit_test(evidence_names_the_range_around_a_call),
		cmocka_unit_test(evidence_names_kernels_whole),
		cmocka_unit_test(a_kernel_that_takes_no_time_leaves_the_energies_of_others_known),
		cmocka_unit_test(an_empty_recording_has_no_findings),
		cmocka_unit_test(costs_stay_inside_the_window_and_savings_inside_the_cost),
	};

	return kwhy_test_main(tests, NULL, NULL);
}

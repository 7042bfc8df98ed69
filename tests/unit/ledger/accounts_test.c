/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/account_name.h"
#include "ledger/accounts_sort.h"
#include "unit/ledger/build.h"

#include <stdio.h>
#include <string.h>

static struct kwhy_activity memory_activity(struct kwhy_recording *recording, enum kwhy_activity_kind kind,
	int64_t start_ns, uint64_t bytes, const char *name)
{
	struct kwhy_activity activity = build_activity(recording, 0, start_ns, start_ns + 10, name);

	activity.kind = (uint8_t)kind;
	activity.bytes = bytes;
	return activity;
}

static void a_name_is_generated_when_a_profiler_made_it(void **state)
{
	static const char *const generated[] = {"", "Memcpy HtoD (Pageable -> Device)", "Memset (Device)",
		"[CUDA memcpy Host-to-Device]", "[CUDA memset]", "CopyHostToDevice", "FillBuffer"};
	static const char *const given[] = {"h2d_100MB", "weights", "copy_kernel", "CopyWeights"};

	(void)state;
	for (size_t i = 0; i < sizeof(generated) / sizeof(generated[0]); i++)
		assert_true(kwhy_account_name_is_generated(generated[i]));
	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
		assert_false(kwhy_account_name_is_generated(given[i]));
}

static void names_of_size_classes_say_binary_units_and_the_lower_end_belongs_to_them(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *name;
	} cases[] = {
		{0, "h2d pageable->device 0-2 B"},
		{1, "h2d pageable->device 0-2 B"},
		{2, "h2d pageable->device 2-4 B"},
		{511, "h2d pageable->device 256-512 B"},
		{512, "h2d pageable->device 512 B-1 KiB"},
		{4096, "h2d pageable->device 4-8 KiB"},
		{(uint64_t)1 << 20, "h2d pageable->device 1-2 MiB"},
		{((uint64_t)1 << 30) - 1, "h2d pageable->device 512 MiB-1 GiB"},
		{UINT64_MAX - 1, "h2d pageable->device 8-16 EiB"},
		{KWHY_UNKNOWN_BYTES, "h2d pageable->device of unknown size"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kwhy_recording *recording = build_one();
		struct kwhy_ledger *ledger;

		build_h2d(recording, 0, 0, 10, cases[i].bytes, "Memcpy HtoD (Pageable -> Device)");
		ledger = build_ledger(recording);
		assert_string_equal(ledger->devices[0].accounts[0].name, cases[i].name);
		build_free(recording, ledger);
	}
}

static void kernels_are_pooled_by_name_and_collectives_apart(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_activity collective = build_activity(recording, 0, 30, 90, "reduce");
	const struct kwhy_account *account;
	struct kwhy_ledger *ledger;

	(void)state;
	collective.kind = KWHY_ACTIVITY_COLLECTIVE;
	build_add(recording, collective);
	build_kernel(recording, 0, 0, 10, "gemm");
	build_kernel(recording, 0, 5, 20, "gemm");
	build_kernel(recording, 0, 20, 25, "reduce");
	build_kernel(recording, 0, 25, 30, "");
	ledger = build_ledger(recording);
	assert_int_equal(ledger->devices[0].account_count, 4);
	account = build_account(ledger, 0, "gemm");
	assert_int_equal(account->count, 2);
	assert_int_equal(account->time_ns, 25);
	assert_int_equal(account->category, KWHY_CATEGORY_COMPUTE);
	assert_int_equal(account->gross_nj, KWHY_UNKNOWN_NJ);
	assert_int_equal(account->mean_power_mw, -1);
	assert_non_null(build_account(ledger, 0, "unnamed kernel"));
	assert_int_equal(ledger->devices[0].accounts[0].category, KWHY_CATEGORY_COLLECTIVE);
	build_free(recording, ledger);
}

static void copies_and_memsets_have_an_account_a_kind_and_size_class_or_given_name(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_activity memset_row = memory_activity(
		recording, KWHY_ACTIVITY_MEMSET, 100, 600, "Memset (Device)");
	struct kwhy_activity plain = memory_activity(recording, KWHY_ACTIVITY_COPY, 120, 9, "");
	struct kwhy_ledger *ledger;

	(void)state;
	memset_row.dst_memory = KWHY_MEMORY_DEVICE;
	build_add(recording, memset_row);
	build_add(recording, plain);
	build_add(recording, memory_activity(recording, KWHY_ACTIVITY_MEMSET, 140, 700, ""));
	build_h2d(recording, 0, 0, 10, 5000, "Memcpy HtoD (Pageable -> Device)");
	build_h2d(recording, 0, 10, 20, 6000, "Memcpy HtoD (Pageable -> Device)");
	build_h2d(recording, 0, 20, 30, 6000, "weights");
	build_h2d(recording, 0, 30, 40, 100, "weights");
	ledger = build_ledger(recording);
	assert_int_equal(build_account(ledger, 0, "h2d pageable->device 4-8 KiB")->count, 2);
	assert_int_equal(build_account(ledger, 0, "h2d pageable->device 4-8 KiB")->bytes, 11000);
	assert_int_equal(build_account(ledger, 0, "weights")->bytes, 6100);
	assert_int_equal(build_account(ledger, 0, "weights")->category, KWHY_CATEGORY_COPY);
	assert_int_equal(build_account(ledger, 0, "memset device 512 B-1 KiB")->count, 1);
	assert_int_equal(build_account(ledger, 0, "memset 512 B-1 KiB")->category, KWHY_CATEGORY_MEMSET);
	assert_int_equal(build_account(ledger, 0, "copy 8-16 B")->count, 1);
	build_free(recording, ledger);
}

static void every_activity_knows_its_account_after_the_sort(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;

	(void)state;
	build_kernel(recording, 0, 0, 10, "short");
	build_kernel(recording, 0, 10, 40, "long");
	build_h2d(recording, 0, 40, 60, 8, "");
	build_kernel(recording, 0, 60, 62, "short");
	ledger = build_ledger(recording);
	assert_string_equal(ledger->devices[0].accounts[0].name, "long");
	for (size_t i = 1; i < ledger->devices[0].account_count; i++)
		assert_true(
			ledger->devices[0].accounts[i - 1].time_ns >= ledger->devices[0].accounts[i].time_ns);
	for (size_t row = 0; row < recording->activities.count; row++) {
		const struct kwhy_account *account = &ledger->devices[0]
							      .accounts[ledger->devices[0].account_of[row]];
		const char *name = kwhy_names_get(&recording->names, recording->activities.name[row]);

		assert_string_equal(account->name, *name ? name : "h2d pageable->device 8-16 B");
	}
	build_free(recording, ledger);
}

static void a_thousand_names_have_a_thousand_accounts(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;
	char name[16];

	(void)state;
	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "kernel %d", i % 1000);
		build_kernel(recording, 0, i, i + 1, name);
	}
	ledger = build_ledger(recording);
	assert_int_equal(ledger->devices[0].account_count, 1000);
	for (size_t i = 0; i < 1000; i++)
		assert_int_equal(ledger->devices[0].accounts[i].count, 3);
	build_free(recording, ledger);
}

static void idle_has_an_account_for_each_reason_that_took_time(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;

	(void)state;
	build_kernel(recording, 0, 0, 100, "a");
	build_call(recording, 0, 90, 140, "cudaDeviceSynchronize", 1);
	build_call(recording, 0, 150, 160, "cudaLaunchKernel", 9);
	build_launched(recording, 0, 160, 170, 9);
	ledger = build_ledger(recording);
	assert_int_equal(build_account(ledger, 0, "idle: host in synchronize")->time_ns, 40);
	assert_int_equal(build_account(ledger, 0, "idle: host launching")->time_ns, 10);
	assert_int_equal(build_account(ledger, 0, "idle: host elsewhere")->time_ns, 10);
	assert_int_equal(build_account(ledger, 0, "idle: host elsewhere")->count, 1);
	assert_null(build_account(ledger, 0, "idle: host allocating"));
	assert_null(build_account(ledger, 0, "idle"));
	build_free(recording, ledger);
}

static void add_samples(struct kwhy_recording *recording, int64_t first_ns, int64_t last_ns)
{
	OK(kwhy_recording_add_reading(recording, KWHY_METER_NVML_SAMPLE, 0, 0, first_ns, 100000, &error));
	OK(kwhy_recording_add_reading(recording, KWHY_METER_NVML_SAMPLE, 0, 0, last_ns, 100000, &error));
}

static const struct kwhy_account *outside_account(const struct kwhy_ledger *ledger)
{
	return build_account(ledger, 0, "outside: before and after");
}

static void metered_time_around_the_activities_is_outside_as_far_as_it_is_covered(void **state)
{
	struct kwhy_recording *recording = build_one();
	const struct kwhy_coverage early = {.device = KWHY_NONE, .start_ns = 60, .end_ns = 130};
	const struct kwhy_coverage late = {.device = 0, .start_ns = 120, .end_ns = 260};
	const struct kwhy_coverage again = {.device = 0, .start_ns = 240, .end_ns = 250};
	struct kwhy_ledger *ledger;

	(void)state;
	OK(kwhy_recording_add_coverage(recording, &late, &error));
	OK(kwhy_recording_add_coverage(recording, &early, &error));
	OK(kwhy_recording_add_coverage(recording, &again, &error));
	add_samples(recording, 50, 300);
	build_kernel(recording, 0, 100, 200, "a");
	ledger = build_ledger(recording);
	assert_int_equal(outside_account(ledger)->time_ns, 40 + 60);
	assert_int_equal(outside_account(ledger)->count, 2);
	assert_int_equal(outside_account(ledger)->category, KWHY_CATEGORY_OUTSIDE);
	build_free(recording, ledger);
}

static void without_covered_time_around_the_activities_no_outside_account_is_left(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;

	(void)state;
	add_samples(recording, 50, 300);
	build_kernel(recording, 0, 100, 200, "a");
	ledger = build_ledger(recording);
	assert_null(outside_account(ledger));
	assert_int_equal(ledger->devices[0].account_count, 1);
	build_free(recording, ledger);
}

static void the_window_of_api_calls_counts_as_covered(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_ledger *ledger;

	(void)state;
	add_samples(recording, 50, 300);
	build_call(recording, 0, 80, 90, "cudaLaunchKernel", 1);
	build_kernel(recording, 0, 100, 200, "a");
	ledger = build_ledger(recording);
	assert_int_equal(outside_account(ledger)->time_ns, 20);
	build_free(recording, ledger);
}

static void groups_follow_their_accounts_and_lose_the_empty_one(void **state)
{
	struct kwhy_recording *recording = build_one();
	struct kwhy_account accounts[] = {
		{.category = KWHY_CATEGORY_COMPUTE, .name = "small", .gross_nj = 5, .time_ns = 10},
		{.category = KWHY_CATEGORY_OUTSIDE, .name = "outside", .gross_nj = 0, .time_ns = 0},
		{.category = KWHY_CATEGORY_COMPUTE, .name = "large", .gross_nj = 9, .time_ns = 10},
	};
	uint32_t account_of[] = {0, 2}, members[] = {0, 1, 2};
	struct kwhy_account_group group = {.members = members, .member_count = 3};
	struct kwhy_device_ledger device = {
		.accounts = accounts,
		.account_count = 3,
		.groups = &group,
		.group_count = 1,
		.account_of = account_of,
	};
	struct kwhy_ledger ledger = {.devices = &device, .device_count = 1};

	(void)state;
	build_kernel(recording, 0, 0, 10, "small");
	build_kernel(recording, 0, 10, 20, "large");
	OK(kwhy_recording_finish(recording, &error));
	OK(kwhy_accounts_sort(&ledger, recording, 0, &error));
	assert_int_equal(device.account_count, 2);
	assert_string_equal(accounts[0].name, "large");
	assert_int_equal(account_of[0], 1);
	assert_int_equal(account_of[1], 0);
	assert_int_equal(group.member_count, 2);
	assert_int_equal(members[0], 1);
	assert_int_equal(members[1], 0);
	kwhy_recording_free(recording);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_is_generated_when_a_profiler_made_it),
		cmocka_unit_test(names_of_size_classes_say_binary_units_and_the_lower_end_belongs_to_them),
		cmocka_unit_test(kernels_are_pooled_by_name_and_collectives_apart),
		cmocka_unit_test(copies_and_memsets_have_an_account_a_kind_and_size_class_or_given_name),
		cmocka_unit_test(every_activity_knows_its_account_after_the_sort),
		cmocka_unit_test(a_thousand_names_have_a_thousand_accounts),
		cmocka_unit_test(idle_has_an_account_for_each_reason_that_took_time),
		cmocka_unit_test(metered_time_around_the_activities_is_outside_as_far_as_it_is_covered),
		cmocka_unit_test(without_covered_time_around_the_activities_no_outside_account_is_left),
		cmocka_unit_test(the_window_of_api_calls_counts_as_covered),
		cmocka_unit_test(groups_follow_their_accounts_and_lose_the_empty_one),
	};

	return kwhy_test_main(tests, NULL, NULL);
}

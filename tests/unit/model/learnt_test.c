/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "model/learnt.h"
#include "model/recording.h"
#include "ok.h"

#include <string.h>

static struct kwhy_error error;

static void device_names_agree_apart_from_case_and_blanks(void **state)
{
	(void)state;
	assert_true(kwhy_device_names_agree("NVIDIA H200", "nvidia-h200"));
	assert_true(kwhy_device_names_agree("Tesla_T4", "Tesla T4"));
	assert_false(kwhy_device_names_agree("NVIDIA H200", "NVIDIA H2000"));
	assert_false(kwhy_device_names_agree("NVIDIA H200", "NVIDIA H20"));
	assert_false(kwhy_device_names_agree("NVIDIA H200", "NVIDIA H100"));
	assert_true(kwhy_device_names_agree("", ""));
}

/* A kernel. The kernels of a recording run one after the other on the second of two devices. */
struct kernel {
	int64_t length_ns;
	uint32_t blocks;
	uint16_t threads;
	uint32_t account;
};

static struct kwhy_recording *recording_of(const struct kernel *kernels, size_t count)
{
	struct kwhy_process process = {.pid = -1, .rank = KWHY_NONE, .machine = KWHY_NONE};
	struct kwhy_device device = {.name = "Tesla T4", .machine = KWHY_NONE};
	struct kwhy_recording *recording;
	int64_t time_ns = 0;

	OK(kwhy_recording_new(&recording, &error));
	OK(kwhy_recording_add_process(recording, &process, NULL, &error));
	for (uint32_t d = 0; d < 2; d++) {
		struct kwhy_stream stream = {.device = d};
		struct kwhy_activity row = {.end_ns = 10,
			.stream = d,
			.kind = KWHY_ACTIVITY_KERNEL,
			.blocks = 9,
			.bytes = KWHY_UNKNOWN_BYTES};

		OK(kwhy_recording_add_device(recording, &device, NULL, &error));
		OK(kwhy_recording_add_stream(recording, &stream, NULL, &error));
		if (d == 0)
			OK(kwhy_recording_add_activity(recording, &row, &error));
		for (size_t i = 0; d == 1 && i < count; i++) {
			row.start_ns = time_ns;
			row.end_ns = time_ns += kernels[i].length_ns;
			row.blocks = kernels[i].blocks;
			row.threads_per_block = kernels[i].threads;
			OK(kwhy_recording_add_activity(recording, &row, &error));
		}
	}
	OK(kwhy_recording_finish(recording, &error));
	return recording;
}

static void the_grid_of_an_account_has_more_than_half_of_its_time(void **state)
{
	static const struct kernel kernels[] = {
		{100, 1, 32, 1},
		{60, 2, 64, 0},
		{30, 3, 64, 0},
		{30, 3, 32, 0},
		{150, 5, 32, 1},
		{40, 1, 32, 1},
		{50, 7, KWHY_UNKNOWN_U16, 2},
		{1, 8, 32, 2},
		{40, 4, 32, 3},
		{60, 4, 64, 3},
	};
	enum { COUNT = sizeof(kernels) / sizeof(kernels[0]) };
	struct kwhy_recording *recording = recording_of(kernels, COUNT);
	uint32_t account_of[COUNT];
	struct kwhy_account accounts[4] = {{0}};
	struct kwhy_device_ledger device_ledger = {
		.accounts = accounts, .account_count = 4, .account_of = account_of};
	struct kwhy_learnt_grid grids[4];

	(void)state;
	for (size_t i = 0; i < COUNT; i++)
		account_of[i] = kernels[i].account;
	OK(kwhy_learnt_grids_find(recording, 1, &device_ledger, grids, &error));
	assert_int_equal(grids[0].blocks,
		KWHY_UNKNOWN_BLOCKS); /* the longest-running grid has 60 of 120 ns: no majority */
	assert_int_equal(grids[0].threads, KWHY_NONE);
	assert_int_equal(grids[1].blocks, 5); /* 5 blocks of 32: 150 of 290 ns */
	assert_int_equal(grids[1].threads, 32);
	assert_int_equal(grids[2].blocks, 7);
	assert_int_equal(grids[2].threads, KWHY_NONE);
	assert_int_equal(grids[3].threads, 64);
	kwhy_recording_free(recording);
}

/* Returns an account with a mean power of 100 W, which the readings decided; the device idles at 30 W. */
static struct kwhy_account good_account(void)
{
	return (struct kwhy_account){.name = "kernel",
		.category = KWHY_CATEGORY_COMPUTE,
		.count = 3,
		.time_ns = 10,
		.gross_nj = 1000,
		.mean_power_mw = 100000,
		.basis = KWHY_BASIS_DATA};
}

static void only_powers_that_readings_decided_are_learnt(void **state)
{
	static const struct kernel kernels[] = {{10, 1, 32, 0}};
	uint32_t none_of[] = {0}, account_of[] = {0};
	struct kwhy_recording *recording = recording_of(kernels, 1);
	struct kwhy_power_class classes[] = {{.is_decided = true, .spread = 0.1}};
	enum { CASES = 13 };
	struct kwhy_account accounts[CASES];
	bool learnt[CASES];
	size_t count = 0;

	(void)state;
	for (size_t i = 0; i < CASES; i++)
		accounts[i] = good_account();
	learnt[count++] = true;
	accounts[count].category = KWHY_CATEGORY_MEMSET, learnt[count++] = true;
	accounts[count].category = KWHY_CATEGORY_MEMSET + 1, learnt[count++] = false;
	accounts[count].mean_power_mw = 0, learnt[count++] = false;
	accounts[count].mean_power_mw = 31000, learnt[count++] = false; /* 1 W above idle, too little */
	accounts[count].mean_power_mw = 31001, learnt[count++] = true;
	accounts[count].gross_nj = 0, learnt[count++] = false;
	accounts[count].gross_nj = 1, learnt[count++] = true;
	accounts[count].power_class = KWHY_NONE, learnt[count++] = false;
	accounts[count].basis = KWHY_BASIS_GROUPED, learnt[count++] = true;
	for (size_t i = 0; i < count; i++) {
		struct kwhy_device_ledger devices[] = {
			{.account_of = none_of},
			{.accounts = &accounts[i],
				.account_count = 1,
				.account_of = account_of,
				.classes = classes,
				.class_count = 1,
				.energy = {.known = true, .context_idle_w = 30}},
		};
		const struct kwhy_ledger ledger = {.devices = devices, .device_count = 2};
		struct kwhy_learnt_powers *powers;
		enum kwhy_status status = kwhy_learnt_powers_collect(
			recording, &ledger, "run.kwhy", &powers, &error);

		if (status != (learnt[i] ? KWHY_OK : KWHY_E_INPUT))
			fail_msg("case %zu", i);
		if (status)
			continue;
		assert_int_equal(powers->count, 1);
		assert_string_equal(powers->items[0].name, "kernel");
		assert_float_equal(powers->items[0].sd_w, 0.1 * powers->items[0].above_idle_w, 1e-9);
		assert_float_equal(
			powers->items[0].above_idle_w, (double)accounts[i].mean_power_mw * 1e-3 - 30, 1e-9);
		assert_int_equal(powers->items[0].grid.blocks, 1);
		assert_float_equal(powers->context_idle_w, 30, 0);
		kwhy_learnt_powers_free(powers);
	}
	kwhy_recording_free(recording);
}

static void of_a_group_only_well_known_powers_are_learnt(void **state)
{
	static const struct {
		struct kwhy_power_class class;
		double idle_w;
		enum kwhy_status status;
	} cases[] = {
		{{.is_decided = true, .spread = 0.2}, 30, KWHY_OK},
		{{.is_decided = true, .spread = 0.21}, 30, KWHY_E_INPUT},
		{{.is_decided = false, .spread = 0.1}, 30, KWHY_E_INPUT},
		{{.is_decided = true, .is_learnt = true, .spread = 0.1}, 30, KWHY_E_INPUT},
		{{.is_decided = true, .spread = 0.1}, 0.5, KWHY_OK}, /* idle power of a small module */
		{{.is_decided = true, .spread = 0.1}, 0, KWHY_E_INPUT},
	};
	static const struct kernel kernels[] = {{10, 1, 32, 0}};
	uint32_t account_of[] = {0};
	struct kwhy_recording *recording = recording_of(kernels, 1);
	struct kwhy_account account = good_account();

	(void)state;
	account.basis = KWHY_BASIS_GROUPED;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kwhy_power_class class = cases[i].class;
		struct kwhy_device_ledger devices[2] = {{.account_of = account_of},
			{.accounts = &account,
				.account_count = 1,
				.account_of = account_of,
				.classes = &class,
				.class_count = 1,
				.energy = {.known = true, .context_idle_w = cases[i].idle_w}}};
		const struct kwhy_ledger ledger = {.devices = devices, .device_count = 2};
		struct kwhy_learnt_powers *powers = NULL;

		assert_int_equal(kwhy_learnt_powers_collect(recording, &ledger, "run.kwhy", &powers, &error),
			cases[i].status);
		kwhy_learnt_powers_free(powers);
	}
	kwhy_recording_free(recording);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(device_names_agree_apart_from_case_and_blanks),
		cmocka_unit_test(the_grid_of_an_account_has_more_than_half_of_its_time),
		cmocka_unit_test(only_powers_that_readings_decided_are_learnt),
		cmocka_unit_test(of_a_group_only_well_known_powers_are_learnt),
	};

	return kwhy_test_main(tests, NULL, NULL);
}

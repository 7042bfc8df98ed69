/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests how the energy of a device is divided between owners whose powers are learnt while it is measured,
 * and the accounts and the file of accounts that result.
 */
#include "owners/sharing.h"

#include "base/random.h"
#include "cmocka_all.h"
#include "ok.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define S INT64_C(1000000000)
#define IDLE_W 120.0

static struct kwhy_error error;
static char folder[64], path[96];

static int make_folder(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/kwhy-sharing-XXXXXX");
	if (!mkdtemp(folder))
		return 1;
	snprintf(path, sizeof(path), "%s/accounts.sqlite", folder);
	return 0;
}

static int remove_folder(void **state)
{
	char command[96];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command);
}

struct device {
	struct kwhy_sharing sharing;
	struct kwhy_store_meter meter;
	int64_t energy_nj, unix_ns;
};

static uint32_t row_of(struct device *device, const char *job)
{
	struct kwhy_owner owner = {.kind = KWHY_OWNER_SLURM};
	uint32_t row;

	snprintf(owner.name, sizeof(owner.name), "%s", job);
	OK(kwhy_accounts_find(device->sharing.accounts, &owner, 0, &row, &error));
	return row;
}

static void begin(struct device *device, bool has_file)
{
	*device = (struct device){.meter = {.key = "GPU-1", .name = "", .source = ""}, .unix_ns = 5 * S};
	device->sharing.meter_key = device->meter.key;
	OK(kwhy_accounts_new(100, &device->sharing.accounts, &error));
	if (has_file)
		OK(kwhy_store_open(path, &device->sharing.store, &error));
}

static void end(struct device *device)
{
	kwhy_store_close(device->sharing.store);
	kwhy_accounts_free(device->sharing.accounts);
}

/*
 * Lets `seconds` pass, with a look each second. The device draws power_w; each holder runs for its
 * busy_percent of the time.
 */
static void pass(struct device *device, int seconds, double power_w, const struct kwhy_share_holder *holders,
	size_t count)
{
	const struct kwhy_sharing_look look = {.clock_hz = 1.98e9, .has_uses = true};
	uint32_t busy = 0;

	for (size_t i = 0; i < count; i++)
		busy += holders[i].busy_percent;
	for (int i = 0; i < seconds; i++) {
		const struct kwhy_share_window window = {.energy_nj = llround(power_w * 1e9),
			.length_ns = S,
			.holders = holders,
			.holder_count = count,
			.uses_known = true,
			.busy_permille = power_w > IDLE_W ? 1000 : busy * 10,
			.low_w = 80,
			.high_w = 700};

		device->energy_nj += window.energy_nj;
		OK(kwhy_sharing_learn(&device->sharing, &window, &look, &error));
		OK(kwhy_sharing_divide(&device->sharing, &window, &look, &error));
	}
}

static const struct kwhy_owner_account *account_of(struct device *device, uint32_t row)
{
	struct kwhy_owner_account *account;

	OK(kwhy_accounts_account(device->sharing.accounts, row, 0, &account, &error));
	return account;
}

static double energy_j(struct device *device, uint32_t row)
{
	return (double)account_of(device, row)->pending.energy_nj * 1e-9;
}

static void a_program_that_only_copies_gets_its_share(void **state)
{
	struct device device;
	struct kwhy_share_holder copies = {.part = 1}, runs = {.part = 1};
	double copies_j, runs_j, half_j;

	(void)state;
	begin(&device, false);
	copies.owner = row_of(&device, "copy");
	runs.owner = row_of(&device, "run");
	pass(&device, 10, IDLE_W, &copies, 1);
	pass(&device, 30, IDLE_W + 40, &copies, 1);
	runs.busy_percent = 100;
	pass(&device, 30, IDLE_W + 200, &runs, 1);
	copies_j = energy_j(&device, copies.owner);
	runs_j = energy_j(&device, runs.owner);
	pass(&device, 60, IDLE_W + 240, (struct kwhy_share_holder[]){copies, runs}, 2);
	/*
	 * the copies draw 40 W of the 240 W above idle, a sixth, so they get a sixth of the device's 360 W,
	 * idle power included
	 */
	assert_float_equal(energy_j(&device, copies.owner) - copies_j, 60 * 60, 300);
	assert_float_equal(energy_j(&device, runs.owner) - runs_j, 60 * 300, 300);
	half_j = (double)(account_of(&device, copies.owner)->pending.high_nj -
			 account_of(&device, copies.owner)->pending.low_nj) *
		0.5e-9;
	assert_true(half_j > 300 && half_j < 3000);
	end(&device);
}

static void what_was_learnt_outlives_the_server(void **state)
{
	struct device device;
	struct kwhy_share_holder a = {.busy_percent = 90, .part = 1}, b = {.busy_percent = 90, .part = 1};
	struct kwhy_store_batch batch;

	(void)state;
	begin(&device, true);
	a.owner = row_of(&device, "a");
	b.owner = row_of(&device, "b");
	pass(&device, 5, IDLE_W, &(struct kwhy_share_holder){.owner = a.owner, .part = 1}, 1);
	pass(&device, 30, IDLE_W + 360, &a, 1);
	pass(&device, 30, IDLE_W + 90, &b, 1);
	batch = (struct kwhy_store_batch){.accounts = device.sharing.accounts,
		.meters = &device.meter,
		.meter_count = 1,
		.boot = "boot",
		.from_unix_ns = S,
		.until_unix_ns = 2 * S};
	device.meter.total.begun = true;
	device.meter.total.booked_nj = device.energy_nj;
	assert_true(account_of(&device, a.owner)->is_power_new);
	OK(kwhy_store_write(device.sharing.store, &batch, &error));
	assert_false(account_of(&device, a.owner)->is_power_new);
	end(&device);

	begin(&device, true);
	a.owner = row_of(&device, "a");
	b.owner = row_of(&device, "b");
	a.busy_percent = b.busy_percent = 50;
	pass(&device, 60, IDLE_W + 250, (struct kwhy_share_holder[]){a, b}, 2);
	assert_float_equal(energy_j(&device, a.owner), 60 * 370 * 0.8, 60 * 370 * 0.05);
	end(&device);
}

static void shares_add_up_and_bounds_hold_them(void **state)
{
	struct kwhy_random random;
	struct device device;
	int64_t sum_nj = 0;
	size_t count;
	const struct kwhy_owner_row *rows;

	(void)state;
	kwhy_random_init(&random, 5);
	begin(&device, false);
	for (int i = 0; i < 400; i++) {
		struct kwhy_share_holder holders[30];
		const size_t holder_count = 1 + kwhy_random_bits(&random) % 30;

		for (size_t k = 0; k < holder_count; k++) {
			char job[8];

			snprintf(job, sizeof(job), "%zu", k + (size_t)(i / 100));
			holders[k] = (struct kwhy_share_holder){.owner = row_of(&device, job),
				.busy_percent = (uint32_t)(kwhy_random_bits(&random) % 101),
				.part = 1};
		}
		pass(&device, 1, 80 + 600 * kwhy_random_uniform(&random), holders, holder_count);
		/* windows of no energy: the counter may not have been updated */
		pass(&device, 1, 0, holders, holder_count);
	}
	rows = kwhy_accounts_rows(device.sharing.accounts, &count);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < rows[i].account_count; k++) {
			const struct kwhy_share *share = &rows[i].accounts[k].pending;

			sum_nj += share->energy_nj;
			assert_true(share->low_nj >= 0 && share->low_nj <= share->energy_nj);
			assert_true(share->high_nj >= share->energy_nj && share->high_nj <= device.energy_nj);
		}
	assert_true(sum_nj == device.energy_nj);
	end(&device);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_that_only_copies_gets_its_share),
		cmocka_unit_test(what_was_learnt_outlives_the_server),
		cmocka_unit_test(shares_add_up_and_bounds_hold_them),
	};

	return kwhy_test_main(tests, make_folder, remove_folder);
}

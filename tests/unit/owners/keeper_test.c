/* SPDX-License-Identifier: Apache-2.0 */
/* Tests, in simulated time, how readings of a fake NVML become energies in the owners' accounts. */
#include "keeper_watch.h"

#include "base/random.h"
#include "owners/stored.h"

static void share_and_follow(int look_s)
{
	struct watch watch = {.look_s = look_s};

	begin(&watch, "gpu \"NVIDIA H200\"\npower steps 0 80 30 300 150 120 210 80\n", NULL);
	pass(&watch, 30, "");
	pass(&watch, 60, "0 10 100 80\n");
	pass(&watch, 60, "0 10 100 60\n0 20 100 20\n");
	pass(&watch, 60, "0 20 100 0\n");
	pass(&watch, 30, "");
	check_balance(&watch, 60 * 80 + 120 * 300 + 60 * 120);
	assert_float_equal(shown(&watch, KWHY_OWNER_IDLE, "", 0)->energy_j, 60 * 80, 500);
	assert_float_equal(shown(&watch, KWHY_OWNER_SLURM, "5", 0)->energy_j, 60 * 300 + 45 * 300, 700);
	assert_float_equal(shown(&watch, KWHY_OWNER_SLURM, "6", 0)->energy_j, 15 * 300 + 60 * 120, 700);
	assert_float_equal(shown(&watch, KWHY_OWNER_SLURM, "6", 0)->idle_j, 60 * 120, 900);
	assert_float_equal(shown(&watch, KWHY_OWNER_SLURM, "5", 0)->held_s, 120, 3);
	assert_float_equal(shown(&watch, KWHY_OWNER_SLURM, "5", 0)->busy_s, 60 * 0.8 + 60 * 0.6, 3);
	assert_true(shown(&watch, KWHY_OWNER_SLURM, "5", 0)->unsure_j > 0);
	end(&watch);
}

static void jobs_that_share_and_follow_each_other(void **state)
{
	(void)state;
	share_and_follow(0);
}

static void looks_as_rare_as_a_server_s_divide_as_well(void **state)
{
	(void)state;
	share_and_follow(2);
}

/*
 * Looks are due every 2 s. One tick comes 2.9 s after the last look, the next one 1.1 s later, on time again.
 * Both must look, so that job 6, seen by the first only, held the device for (2.9 + 1.1) / 2 s.
 */
static void a_late_tick_makes_no_other_be_left_out(void **state)
{
	struct watch watch = {.look_s = 2};

	(void)state;
	begin(&watch, "gpu \"NVIDIA H200\"\npower constant 300\n", NULL);
	pass(&watch, 10, "0 10 100 80\n");
	text_file_write(processes, "0 10 100 80\n0 20 100 0\n");
	machine_run(watch.machine, 2900 * MS);
	OK(kwhy_live_tick(watch.live, watch.machine->now_ns, NULL, NAN, &error));
	OK(kwhy_keeper_tick(watch.keeper, watch.machine->now_ns, &error));
	text_file_write(processes, "0 10 100 80\n");
	machine_run(watch.machine, 1100 * MS);
	OK(kwhy_live_tick(watch.live, watch.machine->now_ns, NULL, NAN, &error));
	OK(kwhy_keeper_tick(watch.keeper, watch.machine->now_ns, &error));
	pass(&watch, 10, "0 10 100 80\n");
	assert_float_equal(shown(&watch, KWHY_OWNER_SLURM, "6", 0)->held_s, (2.9 + 1.1) / 2, 0.6);
	end(&watch);
}

/*
 * The driver keeps power samples for a few seconds only, so the keeper must add up their energy at each tick.
 */
static void a_device_without_a_counter_is_metered_by_its_samples(void **state)
{
	struct watch watch = {.path = NULL};

	(void)state;
	begin(&watch,
		"gpu \"NVIDIA H200\"\npower constant 300\nfail nvmlDeviceGetTotalEnergyConsumption "
		"not_supported\n",
		NULL);
	pass(&watch, 100, "0 10 100 80\n");
	assert_float_equal(shown(&watch, KWHY_OWNER_SLURM, "5", 0)->energy_j, 100 * 300, 900);
	end(&watch);
}

static void a_counter_that_is_refused_meanwhile_is_replaced_by_the_samples(void **state)
{
	struct watch watch = {.path = NULL};

	(void)state;
	begin(&watch,
		"gpu \"NVIDIA H200\"\npower constant 300\n"
		"fail nvmlDeviceGetTotalEnergyConsumption unknown after_s 30 until_s 130\n",
		NULL);
	pass(&watch, 70, "0 10 100 80\n");
	pass(&watch, 50, "0 20 100 80\n");
	assert_float_equal(shown(&watch, KWHY_OWNER_SLURM, "5", 0)->energy_j, 70 * 300, 900);
	assert_float_equal(shown(&watch, KWHY_OWNER_SLURM, "6", 0)->energy_j, 50 * 300, 900);
	pass(&watch, 60, "0 20 100 80\n");
	assert_float_equal(shown(&watch, KWHY_OWNER_SLURM, "6", 0)->energy_j, 110 * 300, 900);
	end(&watch);
}

static void what_is_listed_for_the_owners_is_shown(void **state)
{
	struct watch watch = {.path = NULL};

	(void)state;
	begin(&watch, "gpu \"NVIDIA H200\"\npower constant 300\n", NULL);
	pass(&watch, 10, "0 10 100 80\n0 20 200 10\n");
	assert_int_equal(kwhy_live_snapshot(watch.live)->devices[0].process_count, 2);
	assert_int_equal(kwhy_live_snapshot(watch.live)->devices[0].processes[0].pid, 20);
	pass(&watch, 6, "0 10 100 80\n");
	assert_int_equal(kwhy_live_snapshot(watch.live)->devices[0].process_count, 1);
	end(&watch);
}

/*
 * Each of two jobs first runs alone for 80 % of 60 s. Job 5 draws 240 W above the idle 120 W, job 6 120 W.
 * Then both run at once for 120 s, each for 40 % of the time. Job 5 must get two thirds of the shared energy.
 */
static void a_job_that_draws_more_gets_more(void **state)
{
	const double all_j = 20 * 120 + 60 * 360 + 60 * 240 + 120 * 300, shared_j = 120 * 300;
	struct watch watch = {.path = NULL};

	(void)state;
	begin(&watch, "gpu \"NVIDIA H200\"\npower steps 0 120 20 360 80 240 140 300\n", NULL);
	pass(&watch, 20, "0 10 100 0\n");
	pass(&watch, 60, "0 10 100 80\n");
	pass(&watch, 60, "0 20 100 80\n");
	pass(&watch, 120, "0 10 100 40\n0 20 100 40\n");
	check_balance(&watch, all_j);
	assert_float_equal(shown(&watch, KWHY_OWNER_SLURM, "5", 0)->energy_j,
		20 * 120 + 60 * 360 + shared_j * 2 / 3, 0.05 * shared_j);
	assert_float_equal(
		shown(&watch, KWHY_OWNER_SLURM, "6", 0)->energy_j, 60 * 240 + shared_j / 3, 0.05 * shared_j);
	assert_true(shown(&watch, KWHY_OWNER_SLURM, "6", 0)->unsure_j < 0.2 * shared_j);
	end(&watch);
}

static void a_job_holds_what_the_mapping_gives_it(void **state)
{
	char mapping[128];
	struct watch watch = {.path = NULL};

	(void)state;
	put("jobs/0", "77 0\n");
	snprintf(mapping, sizeof(mapping), "%s/jobs", root);
	begin(&watch, "gpu \"NVIDIA H200\"\npower constant 300\n", mapping);
	pass(&watch, 60, "");
	check_balance(&watch, 60 * 300);
	assert_null(shown(&watch, KWHY_OWNER_IDLE, "", 0));
	assert_float_equal(shown(&watch, KWHY_OWNER_SLURM, "77", 0)->idle_j, 60 * 300, 400);
	assert_float_equal(shown(&watch, KWHY_OWNER_SLURM, "77", 0)->held_s, 60, 2);
	end(&watch);
}

static void a_process_that_cannot_be_seen_is_unknown(void **state)
{
	struct watch watch = {.path = NULL};

	(void)state;
	begin(&watch, "gpu \"NVIDIA H200\"\npower constant 300\n", NULL);
	pass(&watch, 30, "0 4242 100 50\n");
	check_balance(&watch, 30 * 300);
	assert_float_equal(shown(&watch, KWHY_OWNER_UNKNOWN, "", 0)->energy_j, 30 * 300, 400);
	end(&watch);
}

/*
 * The driver has no utilisation samples of MIG instances. So energy is divided in proportion to the sizes of
 * the instances, and the bounds are wide.
 */
static void instances_have_parts_by_their_size(void **state)
{
	char mapping[128];
	struct watch watch = {.path = NULL};

	(void)state;
	put("mig/0.0", "5\n");
	put("mig/0.1", "6\n");
	snprintf(mapping, sizeof(mapping), "%s/mig", root);
	begin(&watch,
		"gpu \"NVIDIA H200\"\npower constant 300\nmig \"MIG 1g\" MIG-1 16 18000\nmig \"MIG 3g\" "
		"MIG-2 48 "
		"71000\n",
		mapping);
	pass(&watch, 60, "");
	check_balance(&watch, 60 * 300);
	assert_float_equal(shown(&watch, KWHY_OWNER_SLURM, "5", 0)->energy_j, 15 * 300, 200);
	assert_float_equal(shown(&watch, KWHY_OWNER_SLURM, "6", 0)->energy_j, 45 * 300, 400);
	assert_float_equal(shown(&watch, KWHY_OWNER_SLURM, "6", 0)->unsure_j, 30 * 300, 400);
	end(&watch);
}

/*
 * If the driver has a utilisation counter of each instance, energy is divided in proportion to utilisation
 * times size.
 */
static void instances_that_work_more_get_more(void **state)
{
	char mapping[128];
	struct watch watch = {.path = NULL};
	const double whole_j = 60 * 300;
	double energy_j[2];

	(void)state;
	put("mig/0.0", "5\n");
	put("mig/0.1", "6\n");
	snprintf(mapping, sizeof(mapping), "%s/mig", root);
	begin(&watch,
		"gpu \"NVIDIA H200\"\npower constant 300\nmig \"MIG 3g\" MIG-1 60 71000 90\nmig \"MIG 3g\" "
		"MIG-2 60 71000 30\n",
		mapping);
	pass(&watch, 60, "");
	check_balance(&watch, whole_j);
	for (int i = 0; i < 2; i++) {
		const struct kwhy_owner_shown *row = shown(&watch, KWHY_OWNER_SLURM, i ? "6" : "5", 0);

		energy_j[i] = row->energy_j;
		assert_true(row->unsure_j < row->energy_j); /* by size alone unsure_j = energy_j */
	}
	assert_true(energy_j[0] > 1.5 * energy_j[1]);
	end(&watch);
}

/*
 * The utilisation counter of an instance does not tell which of its two owners worked, so their bounds are
 * wide.
 */
static void owners_of_one_instance_have_wide_bounds(void **state)
{
	char mapping[128];
	struct watch watch = {.path = NULL};

	(void)state;
	put("mig/0.0", "5\n7\n");
	put("mig/0.1", "6\n");
	snprintf(mapping, sizeof(mapping), "%s/mig", root);
	begin(&watch,
		"gpu \"NVIDIA H200\"\npower constant 300\nmig \"MIG 3g\" MIG-1 60 71000 90\nmig \"MIG 3g\" "
		"MIG-2 60 71000 30\n",
		mapping);
	pass(&watch, 60, "");
	check_balance(&watch, 60 * 300);
	assert_float_equal(shown(&watch, KWHY_OWNER_SLURM, "6", 0)->energy_j, 20 * 300, 400);
	end(&watch);
}

/*
 * Eight jobs use two devices for ten minutes: they begin one after the other, change device and utilisation
 * every 5 s, and end one after the other. The accounts' energies must add up exactly, in nJ, to the energy
 * that was booked, and follow the counters.
 */
static void eight_owners_balance_to_the_counter(void **state)
{
	enum { OWNERS = 8, ROUNDS = 120, ROUND_S = 5 };
	char path[96], runs[OWNERS * 48], pid[8], job[8];
	struct watch watch = {.path = path};
	struct kwhy_keeper_state at_end;
	struct kwhy_stored stored;
	kwhy_wide_nj counted_nj = 0, sum_nj = 0;
	uint64_t random = 3;
	int owners = 0;

	(void)state;
	snprintf(path, sizeof(path), "%s/accounts", root);
	for (int i = 0; i < OWNERS; i++) {
		snprintf(pid, sizeof(pid), "%d", 100 + i);
		snprintf(job, sizeof(job), "%d", 1 + i);
		put_job(pid, job);
	}
	begin(&watch,
		"gpu \"NVIDIA H200\"\npower square 130 690 700 300\ngpu \"NVIDIA H200\"\npower constant "
		"412\n",
		NULL);
	for (int round = 0; round < ROUNDS; round++) {
		size_t length = 0;

		*runs = '\0';
		for (int i = 0; i < OWNERS; i++)
			if (round >= 4 * i && round < ROUNDS - 5 * i)
				length += (size_t)snprintf(runs + length, sizeof(runs) - length,
					"%d %d 100 %d\n", (int)(kwhy_random_next(&random) % 2), 100 + i,
					(int)(kwhy_random_next(&random) % 40));
		pass(&watch, ROUND_S, runs);
	}
	at_end = kwhy_keeper_state(watch.keeper);
	for (size_t i = 0; i < at_end.meter_count; i++)
		if (at_end.meters[i].key)
			counted_nj += at_end.meters[i].total.counter_nj;
	end(&watch);
	OK(kwhy_stored_read(path, 0, &stored, &error));
	for (size_t i = 0; i < stored.count; i++) {
		const struct kwhy_stored_account *account = &stored.items[i];

		sum_nj += account->is_host ? 0 : account->share.energy_nj;
		assert_true(account->share.low_nj >= 0 && account->share.low_nj <= account->share.energy_nj);
		assert_true(account->share.high_nj >= account->share.energy_nj);
		owners += account->owner.kind == KWHY_OWNER_SLURM &&
			(i == 0 || strcmp(account->owner.name, stored.items[i - 1].owner.name) != 0);
	}
	assert_int_equal(owners, OWNERS);
	assert_true(stored.summed_nj == stored.booked_nj);
	/* up to 20 s have passed since the counters' last readings, at up to 690 W and at 412 W */
	assert_true(
		sum_nj >= counted_nj && sum_nj - counted_nj <= (kwhy_wide_nj)20 * (690 + 412) * 1000000000);
	assert_float_equal(
		(double)sum_nj * 1e-9, ROUNDS * ROUND_S * ((130 * 0.3 + 690 * 0.7) + 412), 2 * 1102);
	kwhy_stored_done(&stored);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_that_share_and_follow_each_other),
		cmocka_unit_test(looks_as_rare_as_a_server_s_divide_as_well),
		cmocka_unit_test(a_late_tick_makes_no_other_be_left_out),
		cmocka_unit_test(a_device_without_a_counter_is_metered_by_its_samples),
		cmocka_unit_test(a_counter_that_is_refused_meanwhile_is_replaced_by_the_samples),
		cmocka_unit_test(what_is_listed_for_the_owners_is_shown),
		cmocka_unit_test(a_job_that_draws_more_gets_more),
		cmocka_unit_test(a_job_holds_what_the_mapping_gives_it),
		cmocka_unit_test(a_process_that_cannot_be_seen_is_unknown),
		cmocka_unit_test(instances_have_parts_by_their_size),
		cmocka_unit_test(instances_that_work_more_get_more),
		cmocka_unit_test(owners_of_one_instance_have_wide_bounds),
		cmocka_unit_test(eight_owners_balance_to_the_counter),
	};

	return kwhy_test_main(tests, make_root, remove_root);
}

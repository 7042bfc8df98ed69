/* SPDX-License-Identifier: Apache-2.0 */
/* The whole way from a fake NVML to the accounts, in simulated time. */
#include "owners/keeper.h"

#include "../sensor/nvml_machine.h"
#include "ok.h"
#include "text_file.h"

#include <sys/stat.h>

static struct kwhy_error error;
static char root[64], processes[128];

static void put(const char *path, const char *text)
{
	char full[300];

	snprintf(full, sizeof(full), "%s/%s", root, path);
	for (char *at = full + strlen(root) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		mkdir(full, 0755);
		*at = '/';
	}
	text_file_write(full, text);
}

static void put_job(const char *pid, const char *job)
{
	char path[64], text[128];

	snprintf(path, sizeof(path), "proc/%s/cgroup", pid);
	snprintf(text, sizeof(text), "0::/system.slice/slurmstepd.scope/job_%s/step_0/user/task_0\n", job);
	put(path, text);
	snprintf(path, sizeof(path), "proc/%s/status", pid);
	put(path, "Name:\tx\nUid:\t0\t0\t0\t0\n");
}

static int make_root(void **state)
{
	(void)state;
	strcpy(root, "/tmp/kwhy-keeper-XXXXXX");
	if (!mkdtemp(root))
		return 1;
	snprintf(processes, sizeof(processes), "%s/processes", root);
	put_job("10", "5");
	put_job("20", "6");
	return setenv("KWHY_FAKE_NVML_PROCESSES", processes, 1);
}

static int remove_root(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	return system(command);
}

struct watch {
	struct machine *machine;
	struct kwhy_live *live;
	struct kwhy_keeper *keeper;
};

static void begin(struct watch *watch, const char *scenario, const char *mapping)
{
	struct kwhy_keeper_request request = {
		.root = root, .mapping = mapping, .labels_max = 100, .period_ns = 900 * MS};

	text_file_write(processes, "");
	watch->machine = machine_new(scenario);
	watch->machine->request.processes = true;
	watch->machine->request.counter_period_ns = 0;
	watch->machine->request.ring_period_ns = 500 * MS;
	machine_open(watch->machine);
	OK(kwhy_live_new(watch->machine->sensors, watch->machine->now_ns, &watch->live, &error));
	request.sensors = watch->machine->sensors;
	request.live = watch->live;
	OK(kwhy_keeper_new(&request, &watch->keeper, &error));
}

static void pass(struct watch *watch, int seconds, const char *runs)
{
	text_file_write(processes, runs);
	for (int i = 0; i < seconds; i++) {
		machine_run(watch->machine, S);
		OK(kwhy_live_tick(watch->live, watch->machine->now_ns, NULL, NAN, &error));
		OK(kwhy_keeper_tick(watch->keeper, watch->machine->now_ns, &error));
	}
}

static void end(struct watch *watch)
{
	OK(kwhy_keeper_close(watch->keeper, &error));
	kwhy_live_free(watch->live);
	machine_end(watch->machine);
}

/* What an owner has of a meter; NULL: it has no account. */
static const struct kwhy_owner_shown *shown(
	struct watch *watch, enum kwhy_owner_kind kind, const char *name, uint32_t meter)
{
	struct kwhy_keeper_state state = kwhy_keeper_state(watch->keeper);

	for (size_t i = 0; i < state.row_count; i++)
		for (size_t k = 0; state.rows[i].is_there && k < state.rows[i].account_count; k++)
			if (state.rows[i].owner.kind == kind && strcmp(state.rows[i].owner.name, name) == 0 &&
				state.rows[i].accounts[k].meter == meter)
				return &state.rows[i].accounts[k].shown;
	return NULL;
}

/*
 * The joules of all owners add up to the meter's total. They also match the counter, which rises by 300 W
 * here, to within 450 J, because the first second, before the counter's first reading, has no owner.
 */
static void check_balance(struct watch *watch, int seconds)
{
	struct kwhy_keeper_state state = kwhy_keeper_state(watch->keeper);
	double sum_j = 0;

	for (size_t i = 0; i < state.row_count; i++)
		for (size_t k = 0; state.rows[i].is_there && k < state.rows[i].account_count; k++)
			sum_j += state.rows[i].accounts[k].shown.energy_j;
	assert_float_equal(sum_j, (double)state.meters[0].total.booked_nj * 1e-9, 1e-6);
	assert_float_equal(sum_j, 300.0 * seconds, 450);
	assert_int_equal(state.meters[0].total.counter_nj % 1000000, 0);
}

static void jobs_that_share_and_follow_each_other(void **state)
{
	struct watch watch;

	(void)state;
	begin(&watch, "gpu \"NVIDIA H200\"\npower constant 300\n", NULL);
	pass(&watch, 30, "");
	pass(&watch, 60, "0 10 100 80\n");
	pass(&watch, 60, "0 10 100 60\n0 20 100 20\n");
	pass(&watch, 60, "0 20 100 0\n");
	pass(&watch, 30, "");
	check_balance(&watch, 240);
	assert_float_equal(shown(&watch, KWHY_OWNER_IDLE, "", 0)->energy_j, 60 * 300, 900);
	assert_float_equal(shown(&watch, KWHY_OWNER_SLURM, "5", 0)->energy_j, 60 * 300 + 45 * 300, 700);
	assert_float_equal(shown(&watch, KWHY_OWNER_SLURM, "6", 0)->energy_j, 15 * 300 + 60 * 300, 700);
	assert_float_equal(shown(&watch, KWHY_OWNER_SLURM, "6", 0)->idle_j, 60 * 300, 900);
	assert_float_equal(shown(&watch, KWHY_OWNER_SLURM, "5", 0)->held_s, 120, 3);
	assert_float_equal(shown(&watch, KWHY_OWNER_SLURM, "5", 0)->busy_s, 60 * 0.8 + 60 * 0.6, 3);
	assert_true(shown(&watch, KWHY_OWNER_SLURM, "5", 0)->unsure_j > 0);
	end(&watch);
}

static void a_job_holds_what_the_mapping_gives_it(void **state)
{
	char mapping[128];
	struct watch watch;

	(void)state;
	put("jobs/0", "77 0\n");
	snprintf(mapping, sizeof(mapping), "%s/jobs", root);
	begin(&watch, "gpu \"NVIDIA H200\"\npower constant 300\n", mapping);
	pass(&watch, 60, "");
	check_balance(&watch, 60);
	assert_null(shown(&watch, KWHY_OWNER_IDLE, "", 0));
	assert_float_equal(shown(&watch, KWHY_OWNER_SLURM, "77", 0)->idle_j, 60 * 300, 400);
	assert_float_equal(shown(&watch, KWHY_OWNER_SLURM, "77", 0)->held_s, 60, 2);
	end(&watch);
}

static void a_process_that_cannot_be_seen_is_unknown(void **state)
{
	struct watch watch;

	(void)state;
	begin(&watch, "gpu \"NVIDIA H200\"\npower constant 300\n", NULL);
	pass(&watch, 30, "0 4242 100 50\n");
	check_balance(&watch, 30);
	assert_float_equal(shown(&watch, KWHY_OWNER_UNKNOWN, "", 0)->energy_j, 30 * 300, 400);
	end(&watch);
}

/*
 * The driver has no samples of MIG instances, so the sizes of the instances decide, and the bounds are
 * wide.
 */
static void instances_have_parts_by_their_size(void **state)
{
	char mapping[128];
	struct watch watch;

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
	check_balance(&watch, 60);
	assert_float_equal(shown(&watch, KWHY_OWNER_SLURM, "5", 0)->energy_j, 15 * 300, 200);
	assert_float_equal(shown(&watch, KWHY_OWNER_SLURM, "6", 0)->energy_j, 45 * 300, 400);
	assert_float_equal(shown(&watch, KWHY_OWNER_SLURM, "6", 0)->unsure_j, 30 * 300, 400);
	end(&watch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jobs_that_share_and_follow_each_other),
		cmocka_unit_test(a_job_holds_what_the_mapping_gives_it),
		cmocka_unit_test(a_process_that_cannot_be_seen_is_unknown),
		cmocka_unit_test(instances_have_parts_by_their_size),
	};

	return kwhy_test_main(tests, make_root, remove_root);
}

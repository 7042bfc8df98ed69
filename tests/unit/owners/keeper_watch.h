/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_UNIT_OWNERS_KEEPER_WATCH_H
#define KWHY_TESTS_UNIT_OWNERS_KEEPER_WATCH_H

/*
 * For tests of a keeper of owners' accounts with a fake NVML in simulated time. The folder `root` has the
 * files of /proc that tell a process's owner: process 10 is of Slurm job 5, process 20 of job 6.
 */
#include "../sensor/nvml_machine.h"
#include "ok.h"
#include "owners/keeper.h"
#include "text_file.h"

#include <sys/stat.h>

static struct kwhy_error error;
static char root[64], processes[128];

static inline void put(const char *path, const char *text)
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

static inline void put_job(const char *pid, const char *job)
{
	char path[64], text[128];

	snprintf(path, sizeof(path), "proc/%s/cgroup", pid);
	snprintf(text, sizeof(text), "0::/system.slice/slurmstepd.scope/job_%s/step_0/user/task_0\n", job);
	put(path, text);
	snprintf(path, sizeof(path), "proc/%s/status", pid);
	put(path, "Name:\tx\nUid:\t0\t0\t0\t0\n");
}

static inline int make_root(void **state)
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

static inline int remove_root(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	return system(command);
}

struct watch {
	const char *path; /* file that stores the accounts; NULL: none */
	int look_s;	  /* s between two looks at the processes; 0: 1 s */
	struct machine *machine;
	struct kwhy_live *live;
	struct kwhy_keeper *keeper;
};

static inline int look_s(const struct watch *watch)
{
	return watch->look_s ? watch->look_s : 1;
}

static inline void begin(struct watch *watch, const char *scenario, const char *mapping)
{
	struct kwhy_keeper_request request = {.root = root,
		.path = watch->path,
		.mapping = mapping,
		.labels_max = 100,
		.period_ns = look_s(watch) * S};

	text_file_write(processes, "");
	watch->machine = machine_new(scenario);
	watch->machine->request.processes = true;
	watch->machine->request.counter_period_ns = 0;
	watch->machine->request.ring_period_ns = watch->look_s ? watch->look_s * S : 500 * MS;
	watch->machine->request.gauge_period_ns = look_s(watch) * S;
	watch->machine->request.counter_catch_ns = watch->look_s ? 300 * S : 0;
	machine_open(watch->machine);
	OK(kwhy_live_new(watch->machine->sensors, watch->machine->now_ns, &watch->live, &error));
	request.sensors = watch->machine->sensors;
	request.live = watch->live;
	OK(kwhy_keeper_new(&request, &watch->keeper, &error));
}

static inline void pass(struct watch *watch, int seconds, const char *runs)
{
	text_file_write(processes, runs);
	for (int i = 0; i < seconds; i += look_s(watch)) {
		machine_run(watch->machine, look_s(watch) * S);
		OK(kwhy_live_tick(watch->live, watch->machine->now_ns, NULL, NAN, &error));
		OK(kwhy_keeper_tick(watch->keeper, watch->machine->now_ns, &error));
	}
}

static inline void end(struct watch *watch)
{
	OK(kwhy_keeper_close(watch->keeper, &error));
	kwhy_live_free(watch->live);
	machine_end(watch->machine);
}

/* Returns an owner's sums for a meter, valid until the next tick. NULL: it has no account for that meter. */
static inline const struct kwhy_owner_shown *shown(
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
 * Checks that the energies of all owners add up to the total of the meter, and that this total is expected_j
 * within 450 J. Energy from before the counter's first reading (up to a second) has no owner.
 */
static inline void check_balance(struct watch *watch, double expected_j)
{
	struct kwhy_keeper_state state = kwhy_keeper_state(watch->keeper);
	double sum_j = 0;

	for (size_t i = 0; i < state.row_count; i++)
		for (size_t k = 0; state.rows[i].is_there && k < state.rows[i].account_count; k++)
			sum_j += state.rows[i].accounts[k].shown.energy_j;
	assert_float_equal(sum_j, (double)state.meters[0].total.booked_nj * 1e-9, 1e-6);
	assert_float_equal(sum_j, expected_j, 450);
	assert_int_equal(state.meters[0].total.counter_nj % 1000000, 0);
}

#endif

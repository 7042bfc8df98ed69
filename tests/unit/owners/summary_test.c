/* SPDX-License-Identifier: Apache-2.0 */
#include "owners/summary.h"

#include "ok.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define J INT64_C(1000000000)
#define MINUTE (60 * J)

static struct kwhy_error error;

static struct kwhy_stored_account account(enum kwhy_owner_kind kind, const char *name, const char *part,
	const char *user, const char *meter, int64_t joules, int64_t idle_j, int64_t held_min,
	int64_t busy_min)
{
	struct kwhy_stored_account made = {.owner = {.kind = kind},
		.share = {.energy_nj = joules * J,
			.low_nj = joules * J,
			.high_nj = joules * J,
			.idle_nj = idle_j * J,
			.held_ns = held_min * MINUTE,
			.busy_ns = busy_min * MINUTE},
		.first_unix_ns = 1,
		.last_unix_ns = 2};

	strcpy(made.owner.name, name);
	strcpy(made.owner.part, part);
	strcpy(made.owner.user, user);
	strcpy(made.meter, meter);
	return made;
}

static size_t sum(struct kwhy_stored_account *items, size_t count, enum kwhy_summary_by by,
	struct kwhy_summary_filter filter, struct kwhy_owner_summary **out)
{
	struct kwhy_stored stored = {.items = items, .count = count};
	size_t made;

	OK(kwhy_summary_of(&stored, by, &filter, out, &made, &error));
	return made;
}

static void steps_of_a_job_are_one_and_idle_time_comes_last(void **state)
{
	struct kwhy_stored_account items[] = {
		account(KWHY_OWNER_IDLE, "", "", "", "g0", 5000, 0, 0, 0),
		account(KWHY_OWNER_SLURM, "7", "0", "alice", "g0", 100, 0, 5, 5),
		account(KWHY_OWNER_SLURM, "7", "1", "alice", "g0", 200, 10, 5, 4),
		account(KWHY_OWNER_SLURM, "8", "0", "bob", "g1", 400, 0, 5, 5),
		account(KWHY_OWNER_SLURM, "7", "0", "alice", "host:p", 30, 0, 5, 1),
	};
	struct kwhy_owner_summary *sums;
	char words[KWHY_SUMMARY_WORDS_BYTES];

	(void)state;
	items[4].is_host = true;
	assert_int_equal(sum(items, 5, KWHY_SUMMARY_BY_JOB, (struct kwhy_summary_filter){0}, &sums), 3);
	assert_string_equal(sums[0].owner.name, "8");
	assert_string_equal(sums[1].owner.name, "7");
	assert_true(sums[1].energy_nj == 300 * J);
	assert_true(sums[1].host_nj == 30 * J);
	assert_true(sums[1].held_ns == 10 * MINUTE);
	assert_int_equal(sums[1].device_count, 1);
	assert_string_equal(kwhy_summary_words(&sums[1], words), "");
	assert_int_equal(sums[2].owner.kind, KWHY_OWNER_IDLE);
	assert_string_equal(kwhy_summary_words(&sums[2], words), "");
	free(sums);
	assert_int_equal(sum(items, 5, KWHY_SUMMARY_BY_USER, (struct kwhy_summary_filter){0}, &sums), 3);
	assert_string_equal(sums[1].owner.name, "alice");
	free(sums);
	assert_int_equal(sum(items, 5, KWHY_SUMMARY_BY_KIND, (struct kwhy_summary_filter){0}, &sums), 2);
	assert_true(sums[0].energy_nj == 700 * J);
	free(sums);
	assert_int_equal(
		sum(items, 5, KWHY_SUMMARY_BY_JOB, (struct kwhy_summary_filter){.user = "bob"}, &sums), 1);
	free(sums);
	assert_int_equal(
		sum(items, 5, KWHY_SUMMARY_BY_JOB, (struct kwhy_summary_filter){.name = "9"}, &sums), 0);
	free(sums);
}

static void a_job_that_holds_idle_devices_is_found(void **state)
{
	struct kwhy_stored_account items[8];
	struct kwhy_owner_summary *sums;
	char words[KWHY_SUMMARY_WORDS_BYTES], meter[8];
	kwhy_wide_nj waste_nj;

	(void)state;
	for (int i = 0; i < 8; i++) {
		snprintf(meter, sizeof(meter), "g%d", i);
		items[i] = account(KWHY_OWNER_SLURM, "7", "0", "alice", meter, i < 2 ? 1000 : 100,
			i < 2 ? 50 : 100, 10, i < 2 ? 9 : 0);
	}
	assert_int_equal(sum(items, 8, KWHY_SUMMARY_BY_JOB, (struct kwhy_summary_filter){0}, &sums), 1);
	assert_int_equal(kwhy_summary_waste(sums, &waste_nj), KWHY_HELD_IDLE_DEVICES);
	assert_true(waste_nj == 600 * J);
	assert_string_equal(kwhy_summary_words(sums, words), "held 8 GPUs, 6 idle");
	free(sums);
	for (int i = 2; i < 8; i++) /* six devices whose activity is unknown */
		items[i].share.unknown_ns = items[i].share.held_ns;
	assert_int_equal(sum(items, 8, KWHY_SUMMARY_BY_JOB, (struct kwhy_summary_filter){0}, &sums), 1);
	assert_int_equal(sums->idle_device_count, 0);
	free(sums);
	items[0].share.idle_nj = 700 * J;
	assert_int_equal(sum(items, 2, KWHY_SUMMARY_BY_JOB, (struct kwhy_summary_filter){0}, &sums), 1);
	assert_int_equal(kwhy_summary_waste(sums, &waste_nj), KWHY_HELD_IDLE_TIME);
	assert_string_equal(kwhy_summary_words(sums, words), "idle: 38 % of its energy");
	free(sums);
	items[0].share.held_ns = items[1].share.held_ns = MINUTE /
		4; /* held for too short a time to be judged */
	assert_int_equal(sum(items, 2, KWHY_SUMMARY_BY_JOB, (struct kwhy_summary_filter){0}, &sums), 1);
	assert_int_equal(kwhy_summary_waste(sums, &waste_nj), KWHY_HELD_WELL);
	free(sums);
}

/* Sums 20,000 jobs on two devices, about as many accounts as a busy machine has in a year. */
static void many_jobs_on_several_devices_are_each_one(void **state)
{
	enum { JOBS = 20000, DEVICES = 2 };
	struct kwhy_stored_account *items = calloc(JOBS * DEVICES, sizeof(*items));
	struct kwhy_owner_summary *sums;
	char name[16], meter[8];

	(void)state;
	assert_non_null(items);
	for (int i = 0; i < JOBS * DEVICES; i++) {
		snprintf(name, sizeof(name), "%d", i % JOBS);
		snprintf(meter, sizeof(meter), "g%d", i / JOBS);
		items[i] = account(KWHY_OWNER_SLURM, name, "0", "alice", meter, 1, 0, 2, 2);
	}
	assert_int_equal(
		sum(items, JOBS * DEVICES, KWHY_SUMMARY_BY_JOB, (struct kwhy_summary_filter){0}, &sums),
		JOBS);
	for (int i = 0; i < JOBS; i++) {
		assert_true(sums[i].energy_nj == DEVICES * J);
		assert_int_equal(sums[i].device_count, DEVICES);
	}
	free(sums);
	free(items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_of_a_job_are_one_and_idle_time_comes_last),
		cmocka_unit_test(a_job_that_holds_idle_devices_is_found),
		cmocka_unit_test(many_jobs_on_several_devices_are_each_one),
	};

	return kwhy_test_main(tests, NULL, NULL);
}

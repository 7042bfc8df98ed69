/* SPDX-License-Identifier: Apache-2.0 */
#include "owners/store.h"

#include "ok.h"
#include "owners/stored.h"
#include "text_file.h"

#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECOND INT64_C(1000000000)
#define HOUR (3600 * SECOND)
#define J INT64_C(1000000000)

static struct kwhy_error error;
static char folder[64], path[128];

static int make_folder(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/kwhy-store-XXXXXX");
	if (!mkdtemp(folder))
		return 1;
	snprintf(path, sizeof(path), "%s/accounts.sqlite", folder);
	return 0;
}

static int remove_folder(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command);
}

/* A kwhy server's accounts for two meters, and the file in which they are stored. */
struct server {
	struct kwhy_accounts *accounts;
	struct kwhy_store *store;
	struct kwhy_store_meter meters[2];
	int64_t unix_ns;
};

static void start(struct server *server, size_t labels_max, const char *boot)
{
	*server = (struct server){.unix_ns = 500000 * HOUR};
	server->meters[0] = (struct kwhy_store_meter){
		.key = "GPU-1", .name = "H200", .source = "nvml.energy_mj", .index = 0};
	server->meters[1] = (struct kwhy_store_meter){
		.key = "host:rapl", .name = "rapl", .source = "", .is_host = true, .index = -1};
	OK(kwhy_accounts_new(labels_max, &server->accounts, &error));
	OK(kwhy_store_open(path, &server->store, &error));
	for (int i = 0; i < 2; i++)
		OK(kwhy_store_load(server->store, &server->meters[i], boot, &error));
}

static void add(
	struct server *server, enum kwhy_owner_kind kind, const char *name, uint32_t meter, int64_t nj)
{
	struct kwhy_owner owner = {.kind = kind};
	struct kwhy_share share = {
		.energy_nj = nj, .low_nj = nj / 2, .high_nj = nj, .held_ns = SECOND, .busy_ns = SECOND / 2};
	uint32_t row;

	snprintf(owner.name, sizeof(owner.name), "%s", name);
	OK(kwhy_accounts_find(server->accounts, &owner, server->unix_ns, &row, &error));
	OK(kwhy_accounts_add(server->accounts, row, meter, &share, &error));
	server->meters[meter].total.begun = true;
	server->meters[meter].total.booked_nj += nj;
}

static enum kwhy_status write_period(struct server *server, const char *boot)
{
	struct kwhy_store_batch batch = {
		server->accounts, server->meters, 2, boot, server->unix_ns, server->unix_ns + 5 * SECOND};

	server->unix_ns += 5 * SECOND;
	return kwhy_store_write(server->store, &batch, &error);
}

static void stop(struct server *server)
{
	kwhy_store_close(server->store);
	kwhy_accounts_free(server->accounts);
}

static void sums_outlive_the_server(void **state)
{
	struct server server;
	struct kwhy_stored stored;

	(void)state;
	start(&server, 10, "boot1");
	add(&server, KWHY_OWNER_SLURM, "7", 0, 5 * J);
	add(&server, KWHY_OWNER_IDLE, "", 0, 1);
	server.meters[0].total.has_counter = true;
	server.meters[0].total.counted = 77;
	OK(write_period(&server, "boot1"));
	add(&server, KWHY_OWNER_SLURM, "7", 0, 3 * J + 1);
	add(&server, KWHY_OWNER_SLURM, "7", 1, 2 * J);
	OK(write_period(&server, "boot1"));
	OK(write_period(&server, "boot1"));		/* period without new energy */
	add(&server, KWHY_OWNER_SLURM, "7", 0, 99 * J); /* lost: never stored */
	stop(&server);

	start(&server, 10, "boot1");
	assert_true(server.meters[0].total.begun);
	assert_true(server.meters[0].total.has_counter);
	assert_int_equal(server.meters[0].total.counted, 77);
	assert_int_equal(server.meters[0].total.booked_nj, 8 * J + 2);
	server.unix_ns += 2 * HOUR;
	add(&server, KWHY_OWNER_SLURM, "7", 0, 1 * J);
	OK(write_period(&server, "boot1"));
	stop(&server);

	OK(kwhy_stored_read(path, 0, &stored, &error));
	assert_int_equal(stored.count, 3);
	assert_int_equal(stored.items[0].owner.kind, KWHY_OWNER_IDLE);
	assert_string_equal(stored.items[1].owner.name, "7");
	assert_true(stored.items[1].share.energy_nj == 2 * J || stored.items[1].share.energy_nj == 9 * J + 1);
	assert_true(stored.booked_nj == stored.summed_nj);
	assert_true(stored.booked_nj == 11 * J + 2);
	kwhy_stored_done(&stored);
	OK(kwhy_stored_read(path, 500001 * HOUR, &stored, &error));
	assert_int_equal(stored.count, 1);
	assert_true(stored.items[0].share.energy_nj == 1 * J);
	kwhy_stored_done(&stored);
}

static void counters_of_another_boot_are_not_taken_up(void **state)
{
	struct server server;

	(void)state;
	start(&server, 10, "boot2");
	assert_true(server.meters[0].total.begun);
	assert_false(server.meters[0].total.has_counter);
	stop(&server);
}

static void a_second_server_is_refused_and_the_first_goes_on(void **state)
{
	struct server server;
	struct kwhy_store *second;
	int status;

	(void)state;
	start(&server, 10, "boot1");
	/* in a child process, as a second server would */
	if (fork() == 0)
		_exit(kwhy_store_open(path, &second, &error) == KWHY_E_INPUT &&
					strstr(error.text, "another kwhy")
				? 0
				: 1);
	wait(&status);
	assert_int_equal(status, 0);
	add(&server, KWHY_OWNER_USER, "u", 0, J);
	OK(write_period(&server, "boot1"));
	stop(&server);
}

/*
 * A writer is killed within a transaction. Its journal then lies beside the file, and the next reader must
 * undo the transaction.
 */
static void half_a_transaction_of_a_killed_server_is_undone(void **state)
{
	struct kwhy_stored before, after;
	char journal[256];
	int status;

	(void)state;
	OK(kwhy_stored_read(path, 0, &before, &error));
	if (fork() == 0) {
		sqlite3 *db;

		/*
		 * more than fits into SQLite's page cache, so that a part of the transaction is already in
		 * the file
		 */
		if (!sqlite3_open(path, &db) &&
			!sqlite3_exec(db,
				"PRAGMA cache_size=5; BEGIN; UPDATE account SET energy_nj=energy_nj+1; "
				"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<5000) "
				"INSERT INTO owner(kind, name, part, namespace, user) "
				"SELECT 'user', i, '', '', '' FROM n",
				NULL, NULL, NULL))
			kill(getpid(), SIGKILL);
		_exit(1);
	}
	wait(&status);
	assert_true(WIFSIGNALED(status));
	snprintf(journal, sizeof(journal), "%s-journal", path);
	assert_int_equal(access(journal, F_OK), 0);
	OK(kwhy_stored_read(path, 0, &after, &error));
	assert_true(after.count == before.count && after.summed_nj == before.summed_nj);
	assert_int_not_equal(access(journal, F_OK), 0);
	kwhy_stored_done(&before);
	kwhy_stored_done(&after);
}

static void what_fails_to_be_stored_is_stored_later_and_once(void **state)
{
	struct server server;
	struct kwhy_stored before, after;
	char command[256];

	(void)state;
	OK(kwhy_stored_read(path, 0, &before, &error));
	start(&server, 10, "boot1");
	add(&server, KWHY_OWNER_UNIT, "late.service", 0, 4 * J);
	snprintf(command, sizeof(command), "sqlite3 '%s' 'ALTER TABLE account RENAME TO hidden' 2>/dev/null",
		path);
	if (system(command)) {
		stop(&server);
		kwhy_stored_done(&before);
		kwhy_skip("sqlite3 is not installed");
	}
	assert_int_equal(write_period(&server, "boot1"), KWHY_E_IO);
	assert_non_null(strstr(error.text, path));
	snprintf(command, sizeof(command), "sqlite3 '%s' 'ALTER TABLE hidden RENAME TO account'", path);
	assert_int_equal(system(command), 0);
	OK(write_period(&server, "boot1"));
	stop(&server);
	OK(kwhy_stored_read(path, 0, &after, &error));
	assert_true(after.booked_nj == before.booked_nj + 4 * J);
	assert_true(after.summed_nj == after.booked_nj);
	kwhy_stored_done(&before);
	kwhy_stored_done(&after);
}

static void owners_beyond_the_limit_are_shown_as_one_and_stored_as_themselves(void **state)
{
	struct server server;
	struct kwhy_owner_row *rows;
	double shown_j = 0, other_j = 0;
	size_t count, labelled = 0;
	struct kwhy_stored stored;

	(void)state;
	assert_int_equal(unlink(path), 0);
	start(&server, 3, "boot1");
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 20; i++) {
			char name[8];

			snprintf(name, sizeof(name), "%d", i);
			add(&server, KWHY_OWNER_SLURM, name, 0, J);
		}
	add(&server, KWHY_OWNER_IDLE, "", 0, 5 * J);
	rows = kwhy_accounts_rows(server.accounts, &count);
	for (size_t i = 0; i < count; i++) {
		if (!rows[i].is_labelled)
			continue;
		labelled += rows[i].owner.kind == KWHY_OWNER_SLURM;
		shown_j += rows[i].accounts[0].shown.energy_j;
		if (rows[i].owner.kind == KWHY_OWNER_OTHER)
			other_j = rows[i].accounts[0].shown.energy_j;
	}
	assert_int_equal(labelled, 3);
	assert_float_equal(shown_j, 45, 1e-9);
	assert_float_equal(other_j, 34, 1e-9);
	OK(write_period(&server, "boot1"));
	kwhy_accounts_forget(server.accounts, INT64_MAX);
	add(&server, KWHY_OWNER_SLURM, "new", 0, J);
	rows = kwhy_accounts_rows(server.accounts, &count);
	for (size_t i = 0; i < count; i++)
		assert_false(strcmp(rows[i].owner.name, "new") == 0 && !rows[i].is_labelled);
	OK(write_period(&server, "boot1"));
	stop(&server);
	OK(kwhy_stored_read(path, 0, &stored, &error));
	assert_int_equal(stored.count, 22);
	assert_true(stored.summed_nj == 46 * J);
	kwhy_stored_done(&stored);
}

static void thousands_of_owners_take_little_memory(void **state)
{
	struct kwhy_accounts *accounts;
	const struct kwhy_share share = {.energy_nj = 1};
	const struct kwhy_owner_row *rows;
	struct kwhy_owner owner = {.kind = KWHY_OWNER_SLURM, .name = "7"};
	uint32_t row;
	size_t count;

	(void)state;
	OK(kwhy_accounts_new(1, &accounts, &error));
	OK(kwhy_accounts_find(accounts, &owner, 0, &row, &error));
	for (uint32_t meter = 0; meter < 3; meter++) {
		OK(kwhy_accounts_add(accounts, row, meter, &share, &error));
		rows = kwhy_accounts_rows(accounts, &count);
		assert_int_equal(rows[row].account_count, meter + 1);
		assert_true(rows[row].account_capacity <= 2 * rows[row].account_count);
	}
	kwhy_accounts_free(accounts);
}

static void sums_beyond_64_bits_are_exact(void **state)
{
	struct server server;
	struct kwhy_stored stored;
	char text[KWHY_WIDE_BYTES];

	(void)state;
	assert_int_equal(unlink(path), 0);
	start(&server, 3, "boot1");
	for (int i = 0; i < 12; i++) {
		add(&server, KWHY_OWNER_IDLE, "", 0, 1000000000 * J);
		server.meters[0].total.booked_nj -= 1000000000 * J;
		server.meters[0].total.taken_off_gj++;
		server.unix_ns += HOUR;
		OK(write_period(&server, "boot1"));
	}
	stop(&server);
	OK(kwhy_stored_read(path, 0, &stored, &error));
	assert_true(stored.summed_nj == stored.booked_nj);
	assert_string_equal(kwhy_wide_text(text, stored.summed_nj + 5), "12000000000000000005");
	assert_string_equal(kwhy_wide_text(text, 5), "5");
	kwhy_stored_done(&stored);
}

static void other_files_are_refused_and_left_alone(void **state)
{
	struct kwhy_store *store;
	struct kwhy_stored stored;
	char other[160];

	(void)state;
	snprintf(other, sizeof(other), "%s/other", folder);
	text_file_write(other, "some text that is no database, long enough to be looked at\n");
	assert_int_equal(kwhy_store_open(other, &store, &error), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "--accounts"));
	assert_int_equal(kwhy_stored_read(other, 0, &stored, &error), KWHY_E_INPUT);
	kwhy_stored_done(&stored);
	snprintf(other, sizeof(other), "%s/absent", folder);
	assert_int_equal(kwhy_stored_read(other, 0, &stored, &error), KWHY_E_INPUT);
	kwhy_stored_done(&stored);
	assert_int_not_equal(kwhy_store_open("/dev/null", &store, &error), KWHY_OK);
	assert_int_not_equal(kwhy_store_open("/nowhere/at/all", &store, &error), KWHY_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_outlive_the_server),
		cmocka_unit_test(counters_of_another_boot_are_not_taken_up),
		cmocka_unit_test(a_second_server_is_refused_and_the_first_goes_on),
		cmocka_unit_test(half_a_transaction_of_a_killed_server_is_undone),
		cmocka_unit_test(what_fails_to_be_stored_is_stored_later_and_once),
		cmocka_unit_test(owners_beyond_the_limit_are_shown_as_one_and_stored_as_themselves),
		cmocka_unit_test(thousands_of_owners_take_little_memory),
		cmocka_unit_test(sums_beyond_64_bits_are_exact),
		cmocka_unit_test(other_files_are_refused_and_left_alone),
	};

	return kwhy_test_main(tests, make_folder, remove_folder);
}

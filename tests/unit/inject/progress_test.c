/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/probe/progress.h"

#include "cmocka_all.h"
#include "inject/labels.h"
#include "recording/probe_progress.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECOND_NS INT64_C(1000000000)

static char folder[64], path[128];
static struct kwhy_probe *probe;

static char *get(const char *name)
{
	return strcmp(name, "KWHY_RECORD_DIR") ? NULL : folder;
}

static enum kwhy_probe_reason none(const char *name)
{
	(void)name;
	return KWHY_PROBE_NONE;
}

/*
 * Makes two kernels that ran in the program for 30 ms and 10 ms. The power of the first one is known from an
 * earlier recording.
 */
static int begin(void **state)
{
	const struct kwhy_probe_plan plan = {.within = 0.05, .ratio = 3, .budget_ns = 60 * SECOND_NS};
	static const char *const names[] = {"gemm", "softmax"};
	struct kwhy_probe_account *account = NULL;

	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/kwhy-progress-XXXXXX");
	probe = calloc(1, sizeof(*probe));
	if (!probe || !mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/" KWHY_PROBE_PROGRESS_FILE, folder);
	kwhy_probe_pace_init(&probe->pace, &plan, 0);
	for (size_t i = 0; i < 2; i++) {
		const struct kwhy_probe_shape shape = {
			.function = names[i], .grid = {4, 1, 1}, .block = {32, 1, 1}, .name = names[i]};

		account = kwhy_probe_account_of(&probe->accounts, &shape, none);
		atomic_store(&account->launches, 1);
		kwhy_probe_account_add_busy(
			&probe->accounts, kwhy_inject_label_hash(names[i]), 4, 32, i ? 10000000 : 30000000);
	}
	kwhy_probe_account_know(&probe->accounts, "gemm", 4, 32);
	atomic_store(&probe->bursts, 3);
	atomic_store(&probe->pace.spent_ns, 20 * SECOND_NS);
	return account ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	free(probe);
	unlink(path);
	return rmdir(folder);
}

static size_t read_rows(struct kwhy_probe_progress_row rows[4])
{
	FILE *file = fopen(path, "r");
	size_t count = file ? fread(rows, sizeof(*rows), 4, file) : 0;

	if (file)
		fclose(file);
	return count;
}

static void make_file(void)
{
	close(open(path, O_WRONLY | O_CREAT, 0666));
}

static void each_second_is_a_row_of_what_is_known(void **state)
{
	struct kwhy_probe_progress_row rows[4] = {{0}};

	(void)state;
	make_file();
	kwhy_probe_progress_open(get);
	kwhy_probe_progress_tell(probe, 1);
	kwhy_probe_progress_tell(probe, 2);
	assert_int_equal(read_rows(rows), 2);
	assert_int_equal(rows[1].process, (uint64_t)getpid());
	assert_int_equal(rows[1].bursts, 3);
	assert_int_equal(rows[1].accounts, 2);
	assert_int_equal(rows[1].known, 1);
	assert_int_equal(rows[1].busy_ns, 40000000);
	assert_int_equal(rows[1].known_ns, 30000000);
	assert_int_equal(rows[1].left_ns, 40 * SECOND_NS);
	assert_false(rows[1].is_over);
}

static void without_the_launchers_file_nothing_is_written(void **state)
{
	struct kwhy_probe_progress_row rows[4] = {{0}};

	(void)state;
	kwhy_probe_progress_open(get);
	kwhy_probe_progress_tell(probe, 1);
	assert_int_equal(read_rows(rows), 0);
}

/*
 * The program has closed all descriptors and opened a file of its own, which got the number of the progress
 * file. Nothing may be written to it.
 */
static void a_file_of_the_programs_that_took_the_number_stays_as_it_is(void **state)
{
	char other[128];
	struct kwhy_probe_progress_row rows[4] = {{0}};
	int file;

	(void)state;
	snprintf(other, sizeof(other), "%s/own", folder);
	make_file();
	kwhy_probe_progress_open(get);
	file = open(other, O_RDWR | O_CREAT, 0666);
	for (int number = 500; number < 600; number++)
		dup2(file, number);
	kwhy_probe_progress_tell(probe, 1);
	assert_int_equal(lseek(file, 0, SEEK_END), 0);
	assert_int_equal(read_rows(rows), 0);
	for (int number = 500; number < 600; number++)
		close(number);
	close(file);
	unlink(other);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(each_second_is_a_row_of_what_is_known),
		CASE(without_the_launchers_file_nothing_is_written),
		CASE(a_file_of_the_programs_that_took_the_number_stays_as_it_is),
	};

	return kwhy_test_main(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/host_share.h"

#include "cmocka_all.h"
#include "gpu/gpu.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 4096, STRANGER = 65533 };

static int memory_file(unsigned seals)
{
	int file = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_int_equal(ftruncate(file, BYTES), 0);
	if (seals)
		assert_int_equal(fcntl(file, F_ADD_SEALS, seals), 0);
	return file;
}

static void a_file_is_lent_to_who_knows_its_name_until_it_is_closed(void **state)
{
	int file = memory_file(F_SEAL_SHRINK), borrowed;
	struct kwhy_gpu_host_loan loan;
	struct kwhy_gpu_host_lender *lender = kwhy_gpu_host_lend(file, BYTES, &loan);
	struct stat ours, theirs;

	(void)state;
	assert_non_null(lender);
	for (int i = 0; i < 3; i++) {
		borrowed = kwhy_gpu_host_borrow(&loan);
		assert_true(borrowed >= 0);
		assert_int_equal(fstat(file, &ours), 0);
		assert_int_equal(fstat(borrowed, &theirs), 0);
		assert_int_equal(ours.st_ino, theirs.st_ino);
		close(borrowed);
	}
	kwhy_gpu_host_lender_close(lender);
	assert_int_equal(kwhy_gpu_host_borrow(&loan), -1);
	close(file);
}

/*
 * A process that knows our process id and the number of a descriptor of ours must not be able to open that
 * file by a made-up handle.
 */
static void the_number_of_a_descriptor_opens_nothing(void **state)
{
	char name[] = "/tmp/kwhy-share-XXXXXX";
	const struct {
		int64_t process, file;
		uint64_t bytes;
	} stolen = {getpid(), mkstemp(name), BYTES};
	struct kwhy_gpu_shared shared = {.bytes = {0}};
	struct kwhy_error error;
	struct kwhy_gpu *gpu;
	uint64_t address;

	(void)state;
	assert_int_equal(ftruncate((int)stolen.file, BYTES), 0);
	assert_int_equal(kwhy_gpu_open(KWHY_GPU_HOST, "0", &gpu, &error), KWHY_OK);
	memcpy(shared.bytes, &stolen, sizeof(stolen));
	assert_int_equal(gpu->ops->memory_open(gpu, &shared, &address, &error), KWHY_E_UNSUPPORTED);
	assert_non_null(strstr(error.text, "run both as one user on one host"));
	gpu->ops->close(gpu);
	close((int)stolen.file);
	unlink(name);
}

static void what_may_shrink_or_has_another_size_is_not_taken(void **state)
{
	static const struct {
		unsigned seals;
		size_t bytes;
	} rows[] = {{0, BYTES}, {F_SEAL_GROW, BYTES}, {F_SEAL_SHRINK, BYTES + 1}, {F_SEAL_SHRINK, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int file = memory_file(rows[i].seals);
		struct kwhy_gpu_host_loan loan;
		struct kwhy_gpu_host_lender *lender = kwhy_gpu_host_lend(file, rows[i].bytes, &loan);

		assert_non_null(lender);
		assert_int_equal(kwhy_gpu_host_borrow(&loan), -1);
		assert_int_equal(errno, EPROTO);
		kwhy_gpu_host_lender_close(lender);
		close(file);
	}
}

static void names_that_the_system_does_not_give_are_not_asked(void **state)
{
	static const char *const names[] = {"", "0", "12345a", "../ab", "ABCDE", "1234 "};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct kwhy_gpu_host_loan loan = {.bytes = BYTES};

		memcpy(loan.name, names[i], strlen(names[i]));
		assert_int_equal(kwhy_gpu_host_borrow(&loan), -1);
		assert_int_equal(errno, EPROTO);
	}
}

/* A process of another user that knows the name of a loan of memory must not get the file behind it. */
static void another_user_borrows_nothing(void **state)
{
	struct kwhy_gpu_host_loan loan;
	struct kwhy_gpu_host_lender *lender;
	int file, end_state = -1;
	pid_t child;

	(void)state;
	if (geteuid() != 0)
		kwhy_skip("needs root");
	file = memory_file(F_SEAL_SHRINK);
	lender = kwhy_gpu_host_lend(file, BYTES, &loan);
	assert_non_null(lender);
	child = fork();
	if (child == 0)
		_exit(setuid(STRANGER) || kwhy_gpu_host_borrow(&loan) >= 0);
	assert_int_equal(waitpid(child, &end_state, 0), child);
	assert_int_equal(end_state, 0);
	kwhy_gpu_host_lender_close(lender);
	close(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_lent_to_who_knows_its_name_until_it_is_closed),
		cmocka_unit_test(the_number_of_a_descriptor_opens_nothing),
		cmocka_unit_test(what_may_shrink_or_has_another_size_is_not_taken),
		cmocka_unit_test(names_that_the_system_does_not_give_are_not_asked),
		cmocka_unit_test(another_user_borrows_nothing),
	};

	return kwhy_test_main(tests, NULL, NULL);
}

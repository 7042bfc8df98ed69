/* SPDX-License-Identifier: Apache-2.0 */
#include "live/process.h"

#include "cmocka_all.h"

#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static void a_process_with_several_contexts_is_one_and_the_largest_comes_first(void **state)
{
	const struct kwhy_sensor_process listed[] = {{3000001, 100}, {3000002, 500}, {3000001, 900}};
	struct kwhy_live_process made[3];

	(void)state;
	assert_int_equal(kwhy_live_processes_make(listed, 3, NULL, 0, made), 2);
	assert_int_equal(made[0].pid, 3000001);
	assert_int_equal(made[0].memory_bytes, 1000);
	assert_int_equal(made[1].pid, 3000002);
}

static void memory_that_is_not_told_stays_unknown(void **state)
{
	const struct kwhy_sensor_process listed[] = {{3000001, -1}, {3000002, 5}, {3000001, 7}};
	struct kwhy_live_process made[3];

	(void)state;
	assert_int_equal(kwhy_live_processes_make(listed, 3, NULL, 0, made), 2);
	assert_int_equal(made[1].memory_bytes, -1);
}

static void a_command_is_named_as_the_kernel_names_it(void **state)
{
	const struct kwhy_sensor_process listed[] = {{getpid(), 5}};
	struct kwhy_live_process made[1];

	(void)state;
	prctl(PR_SET_NAME, "a\033[2Jb");
	assert_int_equal(kwhy_live_processes_make(listed, 1, NULL, 0, made), 1);
	assert_string_equal(made[0].command, "a [2Jb");
}

static void a_process_that_is_not_here_has_no_name(void **state)
{
	const struct kwhy_sensor_process listed[] = {{INT64_C(1) << 40, 5}};
	struct kwhy_live_process made[1];

	(void)state;
	assert_int_equal(kwhy_live_processes_make(listed, 1, NULL, 0, made), 1);
	assert_string_equal(made[0].command, "");
	assert_int_equal(kwhy_live_processes_make(listed, 0, NULL, 0, made), 0);
}

static void a_known_process_keeps_its_name(void **state)
{
	const struct kwhy_sensor_process listed[] = {{3000001, 5}, {getpid(), 7}, {3000001, 1}};
	const struct kwhy_live_process known[] = {{getpid(), 1, "before"}, {3000001, 9, "gone"}};
	struct kwhy_live_process made[3];

	(void)state;
	assert_int_equal(kwhy_live_processes_make(listed, 3, known, 2, made), 2);
	assert_string_equal(made[0].command, "before");
	assert_int_equal(made[0].memory_bytes, 7);
	assert_string_equal(made[1].command, "gone");
	assert_int_equal(made[1].memory_bytes, 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_with_several_contexts_is_one_and_the_largest_comes_first),
		cmocka_unit_test(memory_that_is_not_told_stays_unknown),
		cmocka_unit_test(a_command_is_named_as_the_kernel_names_it),
		cmocka_unit_test(a_process_that_is_not_here_has_no_name),
		cmocka_unit_test(a_known_process_keeps_its_name),
	};

	return kwhy_test_main(tests, NULL, NULL);
}

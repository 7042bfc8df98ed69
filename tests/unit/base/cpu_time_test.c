/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cpu_time.h"
#include "cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static double busy_of(const char *text)
{
	char path[] = "cpu_time_test.XXXXXX";
	int fd = mkstemp(path);
	double busy_s;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	busy_s = kwhy_cpu_busy_s(path);
	remove(path);
	return busy_s;
}

static void busy_is_all_but_waiting_and_stolen_time(void **state)
{
	double ticks_per_s = (double)sysconf(_SC_CLK_TCK);

	(void)state;
	assert_true(fabs(busy_of("cpu  1000 200 30 99999 5000 7 3 800 500 0\ncpu0 1 2 3 4 5 6 7\n") -
			    1240 / ticks_per_s) < 1e-9);
}

static void what_the_system_does_not_tell_is_unknown(void **state)
{
	(void)state;
	assert_true(isnan(busy_of("cpu  1000 200 30\n")));
	assert_true(isnan(busy_of("")));
	assert_true(isnan(kwhy_cpu_busy_s("/nowhere/stat")));
}

static void a_machine_gets_no_less_busy(void **state)
{
	double before_s = kwhy_cpu_busy_s(NULL);

	(void)state;
	assert_true(before_s > 0);
	assert_true(kwhy_cpu_busy_s(NULL) >= before_s);
}

static void a_part_has_as_much_of_the_energy_as_of_the_time(void **state)
{
	(void)state;
	assert_true(fabs(kwhy_cpu_part_j(200, 0.5, 10) - 10) < 1e-12);
	assert_true(kwhy_cpu_part_j(200, 0, 10) == 0);
	assert_true(isnan(kwhy_cpu_part_j(NAN, 0.5, 10)));
	assert_true(isnan(kwhy_cpu_part_j(-1, 0.5, 10)));
	assert_true(isnan(kwhy_cpu_part_j(200, 0.5, 0)));
	assert_true(isnan(kwhy_cpu_part_j(200, 0.5, NAN)));
	assert_true(isnan(kwhy_cpu_part_j(200, 11, 10)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(busy_is_all_but_waiting_and_stolen_time),
		cmocka_unit_test(what_the_system_does_not_tell_is_unknown),
		cmocka_unit_test(a_machine_gets_no_less_busy),
		cmocka_unit_test(a_part_has_as_much_of_the_energy_as_of_the_time),
	};

	return kwhy_test_main(tests, NULL, NULL);
}

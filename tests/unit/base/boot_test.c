/* SPDX-License-Identifier: Apache-2.0 */
#include "base/boot.h"
#include "cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void assert_read(const char *text, const char *expected)
{
	char path[] = "boot_test.XXXXXX", boot[KWHY_BOOT_BYTES];
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	kwhy_boot_read(path, boot);
	remove(path);
	assert_string_equal(boot, expected);
}

static void the_first_line_is_which_start_it_is(void **state)
{
	(void)state;
	assert_read("cf5d7f1a-d24e-41a3-bc2b-eae1deb18caa\n", "cf5d7f1a-d24e-41a3-bc2b-eae1deb18caa");
	assert_read("", "");
	assert_read("0123456789012345678901234567890123456789012345678901234567890123456789",
		"012345678901234567890123456789012345678901234567890123456789012");
}

static void a_system_that_does_not_say_has_none(void **state)
{
	char boot[KWHY_BOOT_BYTES] = "before";

	(void)state;
	kwhy_boot_read("/nowhere/boot_id", boot);
	assert_string_equal(boot, "");
	kwhy_boot_read("/", boot);
	assert_string_equal(boot, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_line_is_which_start_it_is),
		cmocka_unit_test(a_system_that_does_not_say_has_none),
	};

	return kwhy_test_main(tests, NULL, NULL);
}

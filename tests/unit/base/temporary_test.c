/* SPDX-License-Identifier: Apache-2.0 */
#include "base/temporary.h"
#include "cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct kwhy_error error;

static void folders_are_new_private_and_in_the_folder_of_tmpdir(void **state)
{
	char base[] = "/tmp/kwhy-temporary-test-XXXXXX", one[KWHY_TEMPORARY_BYTES],
	     other[KWHY_TEMPORARY_BYTES], start[64];
	struct stat facts;

	(void)state;
	assert_non_null(mkdtemp(base));
	setenv("TMPDIR", base, 1);
	snprintf(start, sizeof(start), "%s/kwhy-trial-", base);
	assert_int_equal(kwhy_temporary_folder_make(one, "trial", "a trial", &error), KWHY_OK);
	assert_int_equal(kwhy_temporary_folder_make(other, "trial", "a trial", &error), KWHY_OK);
	assert_int_equal(strncmp(one, start, strlen(start)), 0);
	assert_string_not_equal(one, other);
	assert_int_equal(stat(one, &facts), 0);
	assert_int_equal(facts.st_mode & 07777, 0700);
	assert_int_equal(rmdir(one) | rmdir(other) | rmdir(base), 0);
}

/* If TMPDIR names no usable folder, that is an error with advice; no folder is made elsewhere instead. */
static void a_missing_or_overlong_tmpdir_is_named_with_what_to_do(void **state)
{
	static char longest[KWHY_TEMPORARY_BYTES];
	char made[KWHY_TEMPORARY_BYTES];

	(void)state;
	setenv("TMPDIR", "/nonexistent/place", 1);
	assert_int_equal(kwhy_temporary_folder_make(made, "trial", "a trial", &error), KWHY_E_IO);
	assert_string_equal(error.text,
		"cannot make a folder in /nonexistent/place: No such file or directory; set TMPDIR to a "
		"folder with room for a trial");
	assert_string_equal(made, "");
	memset(longest, 'x', sizeof(longest) - 1);
	setenv("TMPDIR", longest, 1);
	assert_int_equal(kwhy_temporary_folder_make(made, "trial", "a trial", &error), KWHY_E_IO);
	assert_non_null(strstr(error.text, "File name too long"));
	assert_string_equal(made, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folders_are_new_private_and_in_the_folder_of_tmpdir),
		cmocka_unit_test(a_missing_or_overlong_tmpdir_is_named_with_what_to_do),
	};

	return kwhy_test_main(tests, NULL, NULL);
}

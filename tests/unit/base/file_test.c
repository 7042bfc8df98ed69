/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include "cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/kwhy-file-XXXXXX", path[64];
static struct kwhy_error error;

static int begin(void **state)
{
	(void)state;
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	snprintf(path, sizeof(path), "%s/result", mkdtemp(folder));
	return 0;
}

static int end(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder);
}

static void assert_holds(const char *words)
{
	struct kwhy_text text = {0};

	assert_int_equal(kwhy_file_read(path, 100, &text, &error), KWHY_OK);
	assert_string_equal(text.data, words);
	kwhy_text_done(&text);
}

static enum kwhy_status write_words(const char *words)
{
	return kwhy_file_write(path, words, strlen(words), &error);
}

static void a_file_that_nobody_may_write_to_is_replaced_and_stays_so(void **state)
{
	struct stat now;

	(void)state;
	assert_int_equal(write_words("before"), KWHY_OK);
	assert_int_equal(chmod(path, 0444), 0);
	assert_int_equal(write_words("after"), KWHY_OK);
	assert_holds("after");
	assert_int_equal(stat(path, &now), 0);
	assert_int_equal(now.st_mode & 07777, 0444);
}

static void a_link_keeps_pointing_where_it_did(void **state)
{
	char link_path[80];
	struct stat now;

	(void)state;
	snprintf(link_path, sizeof(link_path), "%s/link", folder);
	assert_int_equal(write_words("before"), KWHY_OK);
	assert_int_equal(symlink(path, link_path), 0);
	assert_int_equal(kwhy_file_write(link_path, "after", 5, &error), KWHY_OK);
	assert_int_equal(lstat(link_path, &now), 0);
	assert_true(S_ISLNK(now.st_mode));
	assert_holds("after");
	unlink(link_path);
}

static void a_folder_is_refused_by_name_and_a_device_is_written_to(void **state)
{
	(void)state;
	assert_int_equal(kwhy_file_write(folder, "x", 1, &error), KWHY_E_IO);
	assert_non_null(strstr(error.text, folder));
	assert_int_equal(kwhy_file_write("/dev/null", "x", 1, &error), KWHY_OK);
}

static enum kwhy_status fail_half_way(void *context, const char *beside, struct kwhy_error *out)
{
	(void)context;
	assert_int_equal(access(beside, W_OK), 0);
	return kwhy_fail(out, KWHY_E_IO, "half of it");
}

/*
 * The writer fails after half of the text. The file must be as before; the teardown checks that no temporary
 * file is left in the folder.
 */
static void a_writer_that_fails_leaves_the_old_file_alone(void **state)
{
	(void)state;
	assert_int_equal(write_words("before"), KWHY_OK);
	assert_int_equal(kwhy_file_make(path, fail_half_way, NULL, &error), KWHY_E_IO);
	assert_string_equal(error.text, "half of it");
	assert_holds("before");
}

static enum kwhy_status find_the_disk_full(void *context, const char *beside, struct kwhy_error *out)
{
	(void)context;
	return kwhy_fail(out, KWHY_E_IO, "cannot write %s: the disk is full", beside);
}

static void a_writer_s_failure_names_the_file_that_was_asked_for(void **state)
{
	char words[300];

	(void)state;
	snprintf(words, sizeof(words), "cannot write %s: the disk is full", path);
	assert_int_equal(kwhy_file_make(path, find_the_disk_full, NULL, &error), KWHY_E_IO);
	assert_string_equal(error.text, words);
}

static void a_file_that_is_too_large_is_told_how_large_it_may_be(void **state)
{
	struct kwhy_text text = {0};

	(void)state;
	assert_int_equal(write_words("more than that"), KWHY_OK);
	assert_int_equal(kwhy_file_read(path, 13, &text, &error), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, " is larger than the 13 B that such a file may have;"));
}

static void one_file_is_known_by_all_its_names(void **state)
{
	char link[80], other[80];

	(void)state;
	snprintf(link, sizeof(link), "%s/link", folder);
	snprintf(other, sizeof(other), "%s/other", folder);
	assert_int_equal(kwhy_file_write(path, "x", 1, &error), KWHY_OK);
	assert_int_equal(kwhy_file_write(other, "x", 1, &error), KWHY_OK);
	assert_int_equal(symlink("result", link), 0);
	assert_true(kwhy_file_is_same(path, link));
	assert_true(kwhy_file_is_same(folder, folder));
	assert_false(kwhy_file_is_same(path, other));
	assert_false(kwhy_file_is_same(path, "/nonexistent/a"));
	assert_false(kwhy_file_is_same("/nonexistent/a", "/nonexistent/a"));
	unlink(link);
	unlink(other);
}

int main(void)
{
#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, begin, end)
	const struct CMUnitTest tests[] = {
		IN_A_FOLDER(a_file_that_nobody_may_write_to_is_replaced_and_stays_so),
		IN_A_FOLDER(a_link_keeps_pointing_where_it_did),
		IN_A_FOLDER(a_folder_is_refused_by_name_and_a_device_is_written_to),
		IN_A_FOLDER(a_writer_s_failure_names_the_file_that_was_asked_for),
		IN_A_FOLDER(a_file_that_is_too_large_is_told_how_large_it_may_be),
		IN_A_FOLDER(one_file_is_known_by_all_its_names),
		IN_A_FOLDER(a_writer_that_fails_leaves_the_old_file_alone),
	};

	return kwhy_test_main(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/output.h"

#include "base/file.h"
#include "cmocka_all.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * A user and group id that no account has, for files of another owner. Only root can change the owner of a
 * file; cases that need this are skipped otherwise.
 */
enum { STRANGER = 65533 };

static char folder[] = "/tmp/kwhy-output-XXXXXX", path[64], other[64];
static struct kwhy_error error;

static int begin(void **state)
{
	(void)state;
	memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
	snprintf(path, sizeof(path), "%s/result", mkdtemp(folder));
	snprintf(other, sizeof(other), "%s/other", folder);
	umask(022);
	return 0;
}

static int end(void **state)
{
	(void)state;
	unlink(path);
	unlink(other);
	rmdir(other);
	return rmdir(folder);
}

static void needs_root(void)
{
	if (geteuid() != 0)
		kwhy_skip("needs root");
}

static void make(const char *name, mode_t mode)
{
	int file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	assert_int_equal(write(file, "before", 6), 6);
	assert_int_equal(close(file), 0);
	assert_int_equal(chmod(name, mode), 0);
}

static void assert_holds(const char *name, const char *words)
{
	struct kwhy_text text = {0};

	assert_int_equal(kwhy_file_read(name, 100, &text, &error), KWHY_OK);
	assert_string_equal(text.data ? text.data : "", words);
	kwhy_text_done(&text);
}

static struct stat facts_of(const char *name)
{
	struct stat facts;

	assert_int_equal(lstat(name, &facts), 0);
	return facts;
}

static void setuid_setgid_and_sticky_bits_are_not_taken_over(void **state)
{
	(void)state;
	make(path, 07751);
	assert_int_equal(kwhy_file_write(path, "after", 5, &error), KWHY_OK);
	assert_int_equal(facts_of(path).st_mode & 07777, 0751);
	assert_holds(path, "after");
}

static void neither_owner_nor_mode_of_a_stranger_s_file_is_taken_over(void **state)
{
	struct stat now;

	(void)state;
	needs_root();
	make(path, 0600);
	assert_int_equal(chown(path, STRANGER, STRANGER), 0);
	assert_int_equal(chmod(path, 06777), 0);
	assert_int_equal(kwhy_file_write(path, "after", 5, &error), KWHY_OK);
	now = facts_of(path);
	assert_int_equal(now.st_uid, geteuid());
	assert_int_equal(now.st_mode & 07777, 0644);
}

static void a_new_file_has_the_mode_that_the_umask_leaves(void **state)
{
	(void)state;
	umask(027);
	assert_int_equal(kwhy_file_write(path, "x", 1, &error), KWHY_OK);
	assert_int_equal(facts_of(path).st_mode & 07777, 0640);
	umask(0777);
	assert_int_equal(kwhy_file_write(other, "x", 1, &error), KWHY_OK);
	assert_int_equal(facts_of(other).st_mode & 07777, 0);
}

static void assert_refused(enum kwhy_status status)
{
	assert_int_equal(status, KWHY_E_IO);
	assert_non_null(strstr(error.text, path));
	assert_non_null(strstr(error.text, "other users may"));
}

static void a_link_in_a_folder_that_everybody_may_write_to_is_refused(void **state)
{
	int file;

	(void)state;
	make(other, 0644);
	assert_int_equal(symlink(other, path), 0);
	assert_int_equal(chmod(folder, 01777), 0);
	assert_refused(kwhy_file_write(path, "after", 5, &error));
	assert_refused(kwhy_output_open(path, KWHY_OUTPUT_TRUNCATE, &file, &error));
	assert_refused(kwhy_output_open(path, KWHY_OUTPUT_APPEND, &file, &error));
	assert_refused(kwhy_output_open(path, KWHY_OUTPUT_AS_IT_IS, &file, &error));
	assert_refused(kwhy_output_folder(path, &error));
	assert_holds(other, "before");
}

static void a_link_that_a_stranger_made_is_refused(void **state)
{
	(void)state;
	needs_root();
	make(other, 0644);
	assert_int_equal(symlink(other, path), 0);
	assert_int_equal(lchown(path, STRANGER, STRANGER), 0);
	assert_refused(kwhy_file_write(path, "after", 5, &error));
	assert_holds(other, "before");
}

static void a_link_in_a_stranger_s_folder_is_refused(void **state)
{
	(void)state;
	needs_root();
	make(other, 0644);
	assert_int_equal(symlink(other, path), 0);
	assert_int_equal(chown(folder, STRANGER, STRANGER), 0);
	assert_refused(kwhy_file_write(path, "after", 5, &error));
	assert_holds(other, "before");
	assert_int_equal(chown(folder, 0, 0), 0);
}

static void a_dangling_link_of_one_s_own_stays_and_its_file_is_made(void **state)
{
	(void)state;
	assert_int_equal(symlink("other", path), 0);
	assert_int_equal(kwhy_file_write(path, "after", 5, &error), KWHY_OK);
	assert_true(S_ISLNK(facts_of(path).st_mode));
	assert_true(S_ISREG(facts_of(other).st_mode));
	assert_holds(other, "after");
}

static void a_link_to_itself_is_refused(void **state)
{
	(void)state;
	assert_int_equal(symlink("result", path), 0);
	assert_int_equal(kwhy_file_write(path, "after", 5, &error), KWHY_E_IO);
	assert_non_null(strstr(error.text, path));
}

static void a_pipe_of_one_s_own_is_written_to_and_a_stranger_s_is_refused(void **state)
{
	char words[8] = "";
	int reader;

	(void)state;
	assert_int_equal(mkfifo(path, 0600), 0);
	reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_int_equal(kwhy_file_write(path, "after", 5, &error), KWHY_OK);
	assert_int_equal(read(reader, words, sizeof(words)), 5);
	assert_string_equal(words, "after");
	assert_true(S_ISFIFO(facts_of(path).st_mode));
	if (geteuid() == 0) {
		assert_int_equal(lchown(path, STRANGER, STRANGER), 0);
		assert_int_equal(chmod(folder, 01777), 0);
		assert_refused(kwhy_file_write(path, "after", 5, &error));
	}
	close(reader);
}

static void a_stranger_s_file_in_a_shared_folder_is_not_extended(void **state)
{
	int file;

	(void)state;
	needs_root();
	make(path, 0666);
	assert_int_equal(chown(path, STRANGER, STRANGER), 0);
	assert_int_equal(chmod(folder, 01777), 0);
	assert_refused(kwhy_output_open(path, KWHY_OUTPUT_TRUNCATE, &file, &error));
	assert_refused(kwhy_output_open(path, KWHY_OUTPUT_APPEND, &file, &error));
	assert_holds(path, "before");
}

/*
 * A path such as /dev/fd/N leads to a pipe: a shell passes it for >(command). It must be opened and written
 * to, as /dev/stdout must.
 */
static void what_proc_shows_of_a_pipe_is_written_to(void **state)
{
	char name[40], words[8] = "";
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	snprintf(name, sizeof(name), "/dev/fd/%d", ends[1]);
	assert_int_equal(kwhy_file_write(name, "after", 5, &error), KWHY_OK);
	assert_int_equal(read(ends[0], words, sizeof(words)), 5);
	assert_string_equal(words, "after");
	close(ends[0]);
	close(ends[1]);
}

static void an_open_file_goes_on_where_it_is(void **state)
{
	char name[40];
	int file;

	(void)state;
	make(path, 0644);
	file = open(path, O_WRONLY | O_CLOEXEC);
	assert_int_equal(lseek(file, 6, SEEK_SET), 6);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", file);
	assert_int_equal(kwhy_file_write(name, ", after", 7, &error), KWHY_OK);
	assert_int_equal(write(file, " all", 4), 4);
	assert_holds(path, "before, after all");
	close(file);
}

static void a_folder_is_made_once_and_a_file_is_none(void **state)
{
	(void)state;
	assert_int_equal(kwhy_output_folder(other, &error), KWHY_OK);
	assert_int_equal(kwhy_output_folder(other, &error), KWHY_OK);
	assert_true(S_ISDIR(facts_of(other).st_mode));
	make(path, 0644);
	assert_int_equal(kwhy_output_folder(path, &error), KWHY_E_IO);
	assert_non_null(strstr(error.text, path));
}

static void what_is_extended_keeps_what_it_has(void **state)
{
	int file;

	(void)state;
	make(path, 0644);
	assert_int_equal(kwhy_output_open(path, KWHY_OUTPUT_APPEND, &file, &error), KWHY_OK);
	assert_int_equal(write(file, " and after", 10), 10);
	close(file);
	assert_holds(path, "before and after");
	assert_int_equal(kwhy_output_open(path, KWHY_OUTPUT_TRUNCATE, &file, &error), KWHY_OK);
	close(file);
	assert_holds(path, "");
}

int main(void)
{
#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, begin, end)
	const struct CMUnitTest tests[] = {
		IN_A_FOLDER(setuid_setgid_and_sticky_bits_are_not_taken_over),
		IN_A_FOLDER(neither_owner_nor_mode_of_a_stranger_s_file_is_taken_over),
		IN_A_FOLDER(a_new_file_has_the_mode_that_the_umask_leaves),
		IN_A_FOLDER(a_link_in_a_folder_that_everybody_may_write_to_is_refused),
		IN_A_FOLDER(a_link_that_a_stranger_made_is_refused),
		IN_A_FOLDER(a_link_in_a_stranger_s_folder_is_refused),
		IN_A_FOLDER(a_dangling_link_of_one_s_own_stays_and_its_file_is_made),
		IN_A_FOLDER(a_link_to_itself_is_refused),
		IN_A_FOLDER(a_pipe_of_one_s_own_is_written_to_and_a_stranger_s_is_refused),
		IN_A_FOLDER(a_stranger_s_file_in_a_shared_folder_is_not_extended),
		IN_A_FOLDER(what_proc_shows_of_a_pipe_is_written_to),
		IN_A_FOLDER(an_open_file_goes_on_where_it_is),
		IN_A_FOLDER(a_folder_is_made_once_and_a_file_is_none),
		IN_A_FOLDER(what_is_extended_keeps_what_it_has),
	};

	return kwhy_test_main(tests, NULL, NULL);
}

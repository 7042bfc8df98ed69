/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "serve/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

/*
 * Tests what a confined server process can do and what it cannot do (Landlock and seccomp). Each test
 * confines a child process, because confinement cannot be undone.
 */

struct folders {
	char place[64], inside[96], accounts[128], outside[96], old[96];
};

static void make_folders(struct folders *folders)
{
	strcpy(folders->place, P_tmpdir "/kwhy-confine-XXXXXX");
	assert_non_null(mkdtemp(folders->place));
	snprintf(folders->inside, sizeof(folders->inside), "%s/inside", folders->place);
	snprintf(folders->accounts, sizeof(folders->accounts), "%s/inside/accounts", folders->place);
	snprintf(folders->outside, sizeof(folders->outside), "%s/outside", folders->place);
	snprintf(folders->old, sizeof(folders->old), "%s/old", folders->place);
	assert_int_equal(mkdir(folders->inside, 0700), 0);
	close(open(folders->old, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

static void remove_folders(const struct folders *folders)
{
	unlink(folders->accounts);
	unlink(folders->outside);
	unlink(folders->old);
	rmdir(folders->inside);
	rmdir(folders->place);
}

static bool opens(const char *path, int flags)
{
	const int file = open(path, flags | O_CLOEXEC, 0600);

	if (file >= 0)
		close(file);
	return file >= 0;
}

static void *run_thread(void *context)
{
	*(bool *)context = true;
	return NULL;
}

/*
 * Checks in a confined process what a server needs (its accounts, reading files, threads, sockets) and what
 * it may not do (write other files, start programs, trace). Returns the number of the first wrong result; 0:
 * there is none.
 */
static int first_wrong(const struct folders *folders)
{
	char name[] = "true", *const words[] = {name, NULL};
	bool ran = false;
	pthread_t thread;

	if (!opens(folders->accounts, O_WRONLY | O_CREAT | O_TRUNC) || unlink(folders->accounts))
		return 1;
	if (opens(folders->outside, O_WRONLY | O_CREAT) || opens(folders->old, O_WRONLY))
		return 2;
	if (!opens(folders->old, O_RDONLY) || unlink(folders->old) == 0 || mkdir(folders->outside, 0700) == 0)
		return 3;
	if (!opens("/dev/null", O_WRONLY) || opens("/dev/zero", O_WRONLY))
		return 4;
	if (execvp("true", words) != -1 || fork() != -1 || errno != EPERM)
		return 5;
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != -1 || errno != EPERM || setuid(getuid()) != -1)
		return 6;
	if (pthread_create(&thread, NULL, run_thread, &ran) || pthread_join(thread, NULL) || !ran)
		return 7;
	if (socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) < 0)
		return 8;
	return 0;
}

/*
 * Checks in a confined process that calls are refused that would change another process, or files in ways
 * that Landlock does not prevent. Returns the number of the first wrong result; 0: there is none.
 */
static int first_allowed(const struct folders *folders)
{
	const int file = open(folders->old, O_RDONLY | O_CLOEXEC);
	const pid_t parent = getppid();
	struct io_uring_params {
		char bytes[120];
	} ring = {{0}};
	char input = 'x';

	if (chmod(folders->old, 0644) == 0 || fchmod(file, 0644) == 0 ||
		fchmodat(AT_FDCWD, folders->old, 0644, 0) == 0)
		return 1;
	if (chown(folders->old, getuid(), getgid()) == 0 || fchown(file, getuid(), getgid()) == 0)
		return 2;
	if (fsetxattr(file, "user.kwhy", "x", 1, 0) == 0 || errno != EPERM)
		return 3;
	if (truncate(folders->old, 0) == 0 || errno != EPERM)
		return 4;
	if (syscall(425, 1, &ring) >= 0 || errno != EPERM) /* io_uring_setup(): 425 on all architectures */
		return 5;
	if (kill(parent, 0) == 0 || syscall(SYS_tgkill, parent, parent, 0) == 0)
		return 6;
	if (ioctl(STDIN_FILENO, TIOCSTI, &input) == 0 || errno != EPERM)
		return 7;
	if (syscall(430, "tmpfs", 0) >= 0 || errno != EPERM) /* fsopen(): 430 on all architectures */
		return 8;
	return raise(0) || pthread_kill(pthread_self(), 0) ? 9 : 0;
}

static void check_confined(int (*first)(const struct folders *folders))
{
	struct folders folders;
	char words[KWHY_CONFINE_BYTES];
	int status;
	pid_t child;

	make_folders(&folders);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		kwhy_confine(folders.accounts, words);
		if (strncmp(words, "confined", 8) != 0) {
			fprintf(stderr, "%s\n", words);
			_exit(77);
		}
		_exit(first(&folders));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	remove_folders(&folders);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		kwhy_skip("this kernel does not confine processes");
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void a_confined_process_keeps_what_serving_needs(void **state)
{
	(void)state;
	check_confined(first_wrong);
}

static void a_confined_process_changes_no_other_files_and_processes(void **state)
{
	(void)state;
	check_confined(first_allowed);
}

static void without_accounts_no_folder_is_written(void **state)
{
	struct folders folders;
	char words[KWHY_CONFINE_BYTES];
	int status;
	pid_t child;

	(void)state;
	make_folders(&folders);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		kwhy_confine(NULL, words);
		_exit(strncmp(words, "confined", 8) == 0 && opens(folders.accounts, O_WRONLY | O_CREAT));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	remove_folders(&folders);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_confined_process_keeps_what_serving_needs),
		cmocka_unit_test(a_confined_process_changes_no_other_files_and_processes),
		cmocka_unit_test(without_accounts_no_folder_is_written),
	};

	return kwhy_test_main(tests, NULL, NULL);
}

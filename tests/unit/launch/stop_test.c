/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/stop.h"

#include "cmocka_all.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Exit statuses of the process that gets the signals. */
enum { ENDED_ITSELF = 3, WAS_NOT_ASKED = 4 };

/* Sends two signals to a process that watches for them, with SIGINT ignored or not. Returns its wait status.
 */
static int status_after(int first, int second, bool ignores_interrupts)
{
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		signal(SIGTERM, SIG_DFL);
		signal(SIGINT, ignores_interrupts ? SIG_IGN : SIG_DFL);
		kwhy_stop_watch(true);
		raise(first);
		if (!kwhy_stop_asked())
			_exit(WAS_NOT_ASKED);
		raise(second);
		_exit(ENDED_ITSELF);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void a_second_signal_of_either_kind_ends_the_program(void **state)
{
	static const int kinds[] = {SIGINT, SIGTERM};

	(void)state;
	for (size_t first = 0; first < 2; first++)
		for (size_t second = 0; second < 2; second++) {
			int status = status_after(kinds[first], kinds[second], false);

			assert_true(WIFSIGNALED(status));
			assert_int_equal(WTERMSIG(status), kinds[second]);
		}
}

static void an_ignored_interrupt_stays_ignored(void **state)
{
	int status = status_after(SIGTERM, SIGINT, true);

	(void)state;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), ENDED_ITSELF);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_second_signal_of_either_kind_ends_the_program),
		cmocka_unit_test(an_ignored_interrupt_stays_ignored),
	};

	return kwhy_test_main(tests, NULL, NULL);
}

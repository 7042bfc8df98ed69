/* SPDX-License-Identifier: Apache-2.0 */
#include "launch/stop.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t is_asked, is_quiet;

static const int watched[] = {SIGINT, SIGTERM};

static void ask(int number);

/* Gives the signals whose handler is ask() their default action. */
static void unwatch(void)
{
	const struct sigaction action = {.sa_handler = SIG_DFL};
	struct sigaction before;

	for (size_t i = 0; i < sizeof(watched) / sizeof(watched[0]); i++)
		if (sigaction(watched[i], NULL, &before) == 0 && before.sa_handler == ask)
			sigaction(watched[i], &action, NULL);
}

static void ask(int number)
{
	static const char words[] = "\nending with what was measured; another interrupt ends immediately\n";
	const int before = errno;

	(void)number;
	unwatch();
	is_asked = 1;
	if (!is_quiet && write(STDERR_FILENO, words, sizeof(words) - 1) < 0)
		is_quiet = 1; /* writing failed, so no message is written for a further signal */
	errno = before;
}

/*
 * Installs ask() as the handler of a signal. A signal that is ignored stays so: shells ignore SIGINT for
 * commands in the background.
 */
static void watch(int number)
{
	const struct sigaction action = {.sa_handler = ask, .sa_flags = SA_RESTART};
	struct sigaction before;

	if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
		sigaction(number, &action, NULL);
}

void kwhy_stop_watch(bool quiet)
{
	is_asked = 0;
	is_quiet = quiet;
	for (size_t i = 0; i < sizeof(watched) / sizeof(watched[0]); i++)
		watch(watched[i]);
}

bool kwhy_stop_asked(void)
{
	return is_asked != 0;
}

enum kwhy_status kwhy_stop_check(struct kwhy_error *error)
{
	return is_asked ? kwhy_fail(error, KWHY_E_LOST, "it was interrupted") : KWHY_OK;
}

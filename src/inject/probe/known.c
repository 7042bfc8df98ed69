/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/probe/known.h"

#include "base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINE_BYTES = 8192 };

/*
 * Reads an unsigned number and the tab after it. Returns the position after the tab; NULL: there is no such
 * number, or it is above `most`.
 */
static char *read_number(char *at, unsigned long most, unsigned long *out)
{
	char *end;

	errno = 0;
	*out = strtoul(at, &end, 10);
	return end == at || *end != '\t' || errno || *out > most ? NULL : end + 1;
}

static void know(struct kwhy_probe_accounts *accounts, char *line, double within)
{
	unsigned long blocks, threads;
	char *at;
	const double half_width = strtod(line, &at);

	if (at == line || *at != '\t' || !(half_width <= within))
		return;
	at = read_number(at + 1, UINT32_MAX, &blocks);
	at = at ? read_number(at, UINT16_MAX, &threads) : NULL;
	if (!at)
		return;
	at[strcspn(at, "\n")] = '\0';
	kwhy_probe_account_know(accounts, at, (uint32_t)blocks, (uint16_t)threads);
}

void kwhy_probe_accounts_read_known(struct kwhy_probe_accounts *accounts, const char *path, double within)
{
	FILE *file = path ? fopen(path, "re") : NULL;
	char line[LINE_BYTES];

	if (!file)
		return;
	while (fgets(line, sizeof(line), file))
		know(accounts, line, within);
	fclose(file);
}

/*
 * Start of the process in clock ticks since boot; 0: unknown. It is the 22nd field of /proc/self/stat, the
 * 20th after the program's name.
 */
static unsigned long long start_ticks(void)
{
	FILE *file = fopen("/proc/self/stat", "re");
	char text[1024] = "";
	const char *at;

	if (file && !fgets(text, sizeof(text), file))
		text[0] = '\0';
	if (file)
		fclose(file);
	at = strrchr(text, ')');
	for (int i = 0; at && i < 20; i++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

int64_t kwhy_probe_process_begun(void)
{
	const int64_t now_mono_ns = kwhy_clock_mono_ns();
	const unsigned long long ticks = start_ticks();
	struct timespec boot;

	if (!ticks || clock_gettime(CLOCK_BOOTTIME, &boot))
		return now_mono_ns;
	return now_mono_ns -
		((int64_t)boot.tv_sec * INT64_C(1000000000) + boot.tv_nsec -
			(int64_t)(ticks * (UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK))));
}

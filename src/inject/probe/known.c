/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/probe/known.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINE_BYTES = 8192 };

static void know(struct kwhy_probe_accounts *accounts, char *line, double within)
{
	unsigned blocks, threads;
	int name_at = 0;
	char *end;
	const double half_width = strtod(line, &end);

	if (end == line || *end != '\t' || !(half_width <= within))
		return;
	if (sscanf(end, "%u %u%n", &blocks, &threads, &name_at) != 2 || end[name_at] != '\t' ||
		threads > UINT16_MAX)
		return;
	end += name_at + 1;
	end[strcspn(end, "\n")] = '\0';
	kwhy_probe_account_know(accounts, end, blocks, (uint16_t)threads);
}

void kwhy_probe_known_read(struct kwhy_probe_accounts *accounts, const char *path, double within)
{
	FILE *file = path ? fopen(path, "re") : NULL;
	char line[LINE_BYTES];

	if (!file)
		return;
	while (fgets(line, sizeof(line), file))
		know(accounts, line, within);
	fclose(file);
}

int64_t kwhy_probe_process_begun(void)
{
	const int64_t now_mono_ns = kwhy_clock_mono_ns();
	FILE *file = fopen("/proc/self/stat", "re");
	char text[1024] = "";
	unsigned long long ticks = 0;
	struct timespec boot;
	const char *at;

	if (file && !fgets(text, sizeof(text), file))
		text[0] = '\0';
	if (file)
		fclose(file);
	at = strrchr(text, ')'); /* behind the program's name; the 22nd field is the 20th from here */
	for (int i = 0; at && i < 20; i++)
		at = strchr(at + 1, ' ');
	if (!at || sscanf(at, "%llu", &ticks) != 1 || clock_gettime(CLOCK_BOOTTIME, &boot))
		return now_mono_ns;
	return now_mono_ns -
		((int64_t)boot.tv_sec * INT64_C(1000000000) + boot.tv_nsec -
			(int64_t)(ticks * (UINT64_C(1000000000) / (uint64_t)sysconf(_SC_CLK_TCK))));
}

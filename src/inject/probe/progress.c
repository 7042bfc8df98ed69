/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/probe/progress.h"

#include "recording/probe_progress.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * DESCRIPTOR_MIN: least number of the progress file's descriptor; programs expect low numbers for their own
 * files.
 */
enum { DESCRIPTOR_MIN = 500, PATH_BYTES = 4200 };

static int descriptor = -1;
static struct stat opened; /* inode and device of the progress file, by which kwhy notices if the program has
			      closed the descriptor and its number is now another file's */

void kwhy_probe_progress_open(char *(*get)(const char *name))
{
	const char *folder = get("KWHY_RECORD_DIR");
	char path[PATH_BYTES];
	int file;

	descriptor = -1;
	if (!folder ||
		(size_t)snprintf(path, sizeof(path), "%s/" KWHY_PROBE_PROGRESS_FILE, folder) >= sizeof(path))
		return;
	file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (file < 0)
		return;
	if (!fstat(file, &opened))
		descriptor = fcntl(file, F_DUPFD_CLOEXEC, DESCRIPTOR_MIN);
	close(file);
}

static bool is_still_ours(void)
{
	struct stat now;

	return !fstat(descriptor, &now) && now.st_dev == opened.st_dev && now.st_ino == opened.st_ino;
}

void kwhy_probe_progress_tell(struct kwhy_probe *probe, int64_t now_mono_ns)
{
	struct kwhy_probe_pace *pace = &probe->pace;
	const struct kwhy_probe_progress progress = kwhy_probe_pace_review(
		pace, &probe->accounts, now_mono_ns);
	const struct kwhy_probe_progress_row row = {.process = (uint64_t)getpid(),
		.bursts = atomic_load(&probe->bursts),
		.accounts = progress.accounts,
		.known = progress.known,
		.busy_ns = progress.busy_ns,
		.known_ns = progress.known_ns,
		.left_ns = pace->plan.budget_ns - atomic_load(&pace->spent_ns),
		.is_over = atomic_load(&pace->is_over)};

	if (descriptor < 0 || !progress.accounts)
		return;
	if (!is_still_ours() || write(descriptor, &row, sizeof(row)) != sizeof(row))
		descriptor = -1;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/probe_watch.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

void kwhy_probe_watch_open(struct kwhy_probe_watch *watch, const char *folder)
{
	char path[4200];

	*watch = (struct kwhy_probe_watch){.file = -1};
	if ((size_t)snprintf(path, sizeof(path), "%s/" KWHY_PROBE_PROGRESS_FILE, folder) < sizeof(path))
		watch->file = open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

void kwhy_probe_watch_close(struct kwhy_probe_watch *watch)
{
	if (watch->file >= 0)
		close(watch->file);
	watch->file = -1;
}

/*
 * Stores a row of the file in place of the earlier row of its process. Rows of further processes than
 * KWHY_PROBE_PROCESSES are ignored.
 */
static void take(struct kwhy_probe_watch *watch, const struct kwhy_probe_progress_row *row)
{
	size_t at = 0;

	while (at < watch->count && watch->rows[at].process != row->process)
		at++;
	if (at == KWHY_PROBE_PROCESSES)
		return;
	watch->count += at == watch->count;
	watch->rows[at] = *row;
}

static void read_rows(struct kwhy_probe_watch *watch)
{
	struct kwhy_probe_progress_row row;

	while (watch->file >= 0 && read(watch->file, &row, sizeof(row)) == (ssize_t)sizeof(row))
		take(watch, &row);
}

static void write_left(const struct kwhy_probe_progress_row *sum, char *out, size_t space)
{
	if (sum->is_over)
		snprintf(out, space, "no more bursts");
	else
		snprintf(out, space, "%" PRId64 " s left", sum->left_ns / INT64_C(1000000000));
}

void kwhy_probe_watch_write(struct kwhy_probe_watch *watch, char *out, size_t space)
{
	struct kwhy_probe_progress_row sum = {.is_over = true};
	char left[40];

	read_rows(watch);
	out[0] = '\0';
	for (size_t i = 0; i < watch->count; i++) {
		const struct kwhy_probe_progress_row *row = &watch->rows[i];

		sum.accounts += row->accounts;
		sum.known += row->known;
		sum.busy_ns += row->busy_ns;
		sum.known_ns += row->known_ns;
		sum.is_over &= row->is_over;
		if (!row->is_over && row->left_ns > sum.left_ns)
			sum.left_ns = row->left_ns;
	}
	if (!sum.accounts)
		return;
	write_left(&sum, left, sizeof(left));
	snprintf(out, space, "%" PRIu64 " of %" PRIu64 " kernels known, %.0f %% of busy; %s", sum.known,
		sum.accounts, sum.busy_ns > 0 ? 100.0 * (double)sum.known_ns / (double)sum.busy_ns : 0.0,
		left);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/stat_work_file.h"

#include "base/file.h"
#include "base/temporary.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_LIMIT_BYTES ((size_t)256 << 20)

enum kwhy_status kwhy_stat_work_file_open(
	struct kwhy_stat_work_file *file, struct kwhy_environment *environment, struct kwhy_error *error)
{
	const char *folder = kwhy_temporary_folder();
	int made;

	if (strlen(folder) + sizeof("/kwhy-work-XXXXXX") > sizeof(file->path))
		folder = P_tmpdir;
	snprintf(file->path, sizeof(file->path), "%s/kwhy-work-XXXXXX", folder);
	made = mkstemp(file->path);
	if (made < 0) {
		file->path[0] = '\0';
		return kwhy_fail(error, KWHY_E_IO,
			"cannot make a file in %s for the work that the command reports: %s; set TMPDIR",
			folder, strerror(errno));
	}
	close(made);
	return kwhy_environment_set(environment, KWHY_STAT_WORK_FILE_VARIABLE, file->path, error);
}

void kwhy_stat_work_file_close(struct kwhy_stat_work_file *file)
{
	if (!file->path[0])
		return;
	unlink(file->path);
	file->path[0] = '\0';
}

/*
 * The amount in a line that begins with a unit of `length` bytes; NAN: no number follows the unit, the number
 * is negative or not finite, or more text follows it.
 */
static double amount_of(const char *line, size_t length)
{
	char *end;
	double amount = strtod(line + length, &end);

	end += strspn(end, " \t\r");
	return end == line + length || *end || !isfinite(amount) || amount < 0 ? (double)NAN : amount;
}

static void take_line(struct kwhy_stat *stat, double *amounts, const char *line)
{
	size_t length = strcspn(line, " \t");

	for (size_t i = 0; i < stat->work_count; i++) {
		struct kwhy_stat_work *work = &stat->work[i];
		double amount;

		if (work->from != KWHY_STAT_WORK_REPORTED || strlen(work->unit) != length ||
			memcmp(work->unit, line, length) != 0)
			continue;
		amount = amount_of(line, length);
		if (isnan(amount))
			work->unreadable++;
		else
			amounts[i] = isnan(amounts[i]) ? amount : amounts[i] + amount;
	}
}

enum kwhy_status kwhy_stat_work_file_empty(const struct kwhy_stat_work_file *file, struct kwhy_error *error)
{
	if (file->path[0] && truncate(file->path, 0))
		return kwhy_fail(error, KWHY_E_IO, "cannot empty %s: %s", file->path, strerror(errno));
	return KWHY_OK;
}

enum kwhy_status kwhy_stat_work_file_take(const struct kwhy_stat_work_file *file, struct kwhy_stat *stat,
	double *amounts, struct kwhy_error *error)
{
	struct kwhy_text text = {0};
	char *rest = NULL;
	enum kwhy_status status;

	if (!file->path[0])
		return KWHY_OK;
	status = kwhy_file_read(file->path, FILE_LIMIT_BYTES, &text, error);
	for (char *line = !status && text.data ? strtok_r(text.data, "\n", &rest) : NULL; line;
		line = strtok_r(NULL, "\n", &rest))
		take_line(stat, amounts, line);
	kwhy_text_done(&text);
	return status ? status : kwhy_stat_work_file_empty(file, error);
}

enum kwhy_status kwhy_stat_work_file_each(const struct kwhy_stat_work_file *file, kwhy_stat_work_seen *seen,
	void *context, struct kwhy_error *error)
{
	struct kwhy_text text = {0};
	char *rest = NULL;
	enum kwhy_status status;

	if (!file->path[0])
		return KWHY_OK;
	status = kwhy_file_read(file->path, FILE_LIMIT_BYTES, &text, error);
	for (char *line = !status && text.data ? strtok_r(text.data, "\n", &rest) : NULL; line;
		line = strtok_r(NULL, "\n", &rest)) {
		const size_t length = strcspn(line, " \t");
		const double amount = amount_of(line, length);

		if (length && !isnan(amount))
			seen(context, line, length, amount);
	}
	kwhy_text_done(&text);
	return status ? status : kwhy_stat_work_file_empty(file, error);
}

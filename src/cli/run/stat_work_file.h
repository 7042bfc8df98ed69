/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RUN_STAT_WORK_FILE_H
#define KWHY_CLI_RUN_STAT_WORK_FILE_H

#include "base/status.h"
#include "launch/environment.h"
#include "model/stat.h"

/*
 * A temporary file in which a command reports its work. Its path is in the environment variable
 * KWHY_WORK_FILE. The command and its children append lines of a unit, a blank and an amount: "tokens 500".
 */
struct kwhy_stat_work_file {
	char path[64]; /* "": no file */
};

#define KWHY_STAT_WORK_FILE_VARIABLE "KWHY_WORK_FILE"

/* Creates the file and sets the variable in the environment of later commands. */
KWHY_MUST_USE enum kwhy_status kwhy_stat_work_file_open(
	struct kwhy_stat_work_file *file, struct kwhy_environment *environment, struct kwhy_error *error);
void kwhy_stat_work_file_close(struct kwhy_stat_work_file *file);

/* Empties the file, after runs that do not count. */
KWHY_MUST_USE enum kwhy_status kwhy_stat_work_file_empty(
	const struct kwhy_stat_work_file *file, struct kwhy_error *error);

/*
 * Adds the reported amounts of stat's works of that kind to amounts[work_count], where NAN means no amount
 * yet, and empties the file for the next run. A malformed line counts as unreadable for the unit that it
 * begins with.
 */
KWHY_MUST_USE enum kwhy_status kwhy_stat_work_file_take(const struct kwhy_stat_work_file *file,
	struct kwhy_stat *stat, double *amounts, struct kwhy_error *error);

/* Called with a reported unit and amount; the unit is not NUL-terminated. */
typedef void kwhy_stat_work_seen(void *context, const char *unit, size_t length, double amount);

/* Calls `seen` for each readable line of any unit, and empties the file. */
KWHY_MUST_USE enum kwhy_status kwhy_stat_work_file_each(const struct kwhy_stat_work_file *file,
	kwhy_stat_work_seen *seen, void *context, struct kwhy_error *error);

#endif

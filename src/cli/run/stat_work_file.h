/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RUN_STAT_WORK_FILE_H
#define KWHY_CLI_RUN_STAT_WORK_FILE_H

#include "base/status.h"
#include "launch/environment.h"
#include "model/stat.h"

/*
 * A temporary file in which a command reports its work. Its path is in the environment variable
 * KWHY_WORK_FILE. The command and its children append lines that consist of a unit, a space and an amount:
 * "tokens 500".
 */
struct kwhy_stat_work_file {
	char path[64]; /* path of the file; "": there is none */
};

#define KWHY_STAT_WORK_FILE_VARIABLE "KWHY_WORK_FILE"

/* Creates the file, and sets the variable in the environment that later commands get. */
KWHY_MUST_USE enum kwhy_status kwhy_stat_work_file_open(
	struct kwhy_stat_work_file *file, struct kwhy_environment *environment, struct kwhy_error *error);
void kwhy_stat_work_file_close(struct kwhy_stat_work_file *file);

/* Empties the file. Called after runs that are not counted. */
KWHY_MUST_USE enum kwhy_status kwhy_stat_work_file_empty(
	const struct kwhy_stat_work_file *file, struct kwhy_error *error);

/*
 * Adds the reported amounts to amounts[work_count], for each kind of work that the command reports; NAN in
 * amounts[] means that no amount has been reported. Then empties the file for the next run. A line without a
 * valid amount counts as unreadable for the unit with which it begins.
 */
KWHY_MUST_USE enum kwhy_status kwhy_stat_work_file_take(const struct kwhy_stat_work_file *file,
	struct kwhy_stat *stat, double *amounts, struct kwhy_error *error);

/* Type of a function that is called with a reported unit, which does not end in NUL, and its amount. */
typedef void kwhy_stat_work_seen(void *context, const char *unit, size_t length, double amount);

/* Calls `seen` for each valid line, whatever its unit, and empties the file. */
KWHY_MUST_USE enum kwhy_status kwhy_stat_work_file_each(const struct kwhy_stat_work_file *file,
	kwhy_stat_work_seen *seen, void *context, struct kwhy_error *error);

#endif

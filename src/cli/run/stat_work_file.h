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

/*
 * Creates the file, and sets KWHY_WORK_FILE in `environment`, with which the measured commands are started.
 */
KWHY_MUST_USE enum kwhy_status kwhy_stat_work_file_open(
	struct kwhy_stat_work_file *file, struct kwhy_environment *environment, struct kwhy_error *error);
void kwhy_stat_work_file_close(struct kwhy_stat_work_file *file);

/* Empties the file, if there is one. To be called after warm-up runs, whose work does not count. */
KWHY_MUST_USE enum kwhy_status kwhy_stat_work_file_empty(
	const struct kwhy_stat_work_file *file, struct kwhy_error *error);

/*
 * Adds the amounts in the file to amounts[work_count] for the units of `stat` that the command reports
 * (KWHY_STAT_WORK_REPORTED); NAN in amounts[]: no amount so far. Then empties the file for the next run. A
 * line with such a unit but without a valid amount is counted in the unit's `unreadable`. Does nothing if
 * there is no file.
 */
KWHY_MUST_USE enum kwhy_status kwhy_stat_work_file_take(const struct kwhy_stat_work_file *file,
	struct kwhy_stat *stat, double *amounts, struct kwhy_error *error);

/* Type of a function that is called with a reported unit, which does not end in NUL, and its amount. */
typedef void kwhy_stat_work_seen(void *context, const char *unit, size_t length, double amount);

/* Calls `seen` for each valid line, whatever its unit, and empties the file. */
KWHY_MUST_USE enum kwhy_status kwhy_stat_work_file_each(const struct kwhy_stat_work_file *file,
	kwhy_stat_work_seen *seen, void *context, struct kwhy_error *error);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RUN_STAT_WORK_FILE_H
#define KWHY_CLI_RUN_STAT_WORK_FILE_H

#include "base/status.h"
#include "launch/environment.h"
#include "model/stat.h"

/*
 * Where a command reports its work: a file of ours, named to it by KWHY_WORK_FILE, to which it and its
 * children append lines of a unit, a blank and an amount: "tokens 500".
 */
struct kwhy_stat_work_file {
	char path[64]; /* "": there is none */
};

#define KWHY_STAT_WORK_FILE_VARIABLE "KWHY_WORK_FILE"

/* Makes the file and sets the variable of the commands to come. */
KWHY_MUST_USE enum kwhy_status kwhy_stat_work_file_open(
	struct kwhy_stat_work_file *file, struct kwhy_environment *environment, struct kwhy_error *error);
void kwhy_stat_work_file_close(struct kwhy_stat_work_file *file);

/* Forgets what was reported; of runs that do not count. */
KWHY_MUST_USE enum kwhy_status kwhy_stat_work_file_empty(
	const struct kwhy_stat_work_file *file, struct kwhy_error *error);

/*
 * Adds what was reported of the works marked so to amounts[work_count], where NAN is nothing yet, and empties
 * the file for the next run. Lines that are none of the kind count as unreadable for the unit they begin
 * with.
 */
KWHY_MUST_USE enum kwhy_status kwhy_stat_work_file_take(const struct kwhy_stat_work_file *file,
	struct kwhy_stat *stat, double *amounts, struct kwhy_error *error);

/* A unit and an amount that were reported; unit is not ended by NUL. */
typedef void kwhy_stat_work_seen(void *context, const char *unit, size_t length, double amount);

/* Gives each readable line of whatever unit, and empties the file. */
KWHY_MUST_USE enum kwhy_status kwhy_stat_work_file_each(const struct kwhy_stat_work_file *file,
	kwhy_stat_work_seen *seen, void *context, struct kwhy_error *error);

#endif

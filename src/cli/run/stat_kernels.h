/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RUN_STAT_KERNELS_H
#define KWHY_CLI_RUN_STAT_KERNELS_H

#include "cli/command.h"
#include "model/stat.h"

/* Options and command of the one additional run that kwhy stat --powers makes and records. */
struct kwhy_stat_kernels_request {
	const struct kwhy_strings *powers, *meters;
	const char *devices, *replay;
	const struct kwhy_operands *operands; /* the words of the measured command */
};

/*
 * Checks, before any run is made, that the files of --powers can be read as powers. Returns the failure of
 * the first file that cannot.
 */
KWHY_MUST_USE enum kwhy_status kwhy_stat_kernels_check(
	const struct kwhy_strings *powers, struct kwhy_error *error);

/*
 * Runs the command once more under kwhy record, and adds the energies of its kernels to stat->recorded, by a
 * ledger that uses the powers from the files of --powers. The recording is deleted. *out_exit: exit status of
 * the command. The caller must have closed its struct kwhy_signals before.
 */
KWHY_MUST_USE enum kwhy_status kwhy_stat_kernels_record(const struct kwhy_stat_kernels_request *request,
	struct kwhy_stat *stat, int *out_exit, struct kwhy_error *error);

#endif

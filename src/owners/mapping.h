/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_OWNERS_MAPPING_H
#define KWHY_OWNERS_MAPPING_H

#include "owners/owner.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Reads which jobs hold a device from the folder that a batch system's prolog fills for DCGM's exporter (its
 * option --hpc-job-mapping-dir). The folder has a file for each device, named by its index ("2"), or by index
 * and MIG instance ("2.1"). Each line of a file has the id of a job; in files of kwhy's own prolog the job's
 * user follows as a second word.
 *
 * An id that is a number becomes an owner of the kind KWHY_OWNER_SLURM, so that it is equal to the owner of
 * the job's processes; other ids become KWHY_OWNER_MAPPED. mig_index -1: the whole device. Returns the number
 * of owners written to `out`; 0: there is no such file.
 */
size_t kwhy_mapping_read(
	const char *folder, int32_t index, int32_t mig_index, struct kwhy_owner *out, size_t most);

#endif

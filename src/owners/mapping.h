/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_OWNERS_MAPPING_H
#define KWHY_OWNERS_MAPPING_H

#include "owners/owner.h"

#include <stddef.h>
#include <stdint.h>

/*
 * The folder that a batch system's prolog fills for DCGM's exporter (its --hpc-job-mapping-dir): a file for
 * each device, named "2", or "2.1" for MIG instance 1, whose lines are ids of the jobs that hold it. A second
 * word of a line is taken for the user, as kwhy's own prolog writes it. The ids become owners of the kind
 * KWHY_OWNER_SLURM if they are numbers, else KWHY_OWNER_MAPPED, so that they are the same as those of the
 * jobs' processes. mig_index -1: the whole device. Returns the number of owners written to `out`; 0: there is
 * no such file.
 */
size_t kwhy_mapping_read(
	const char *folder, int32_t index, int32_t mig_index, struct kwhy_owner *out, size_t most);

#endif

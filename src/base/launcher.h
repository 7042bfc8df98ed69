/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_LAUNCHER_H
#define KWHY_BASE_LAUNCHER_H

#include <stdint.h>

/*
 * Which of several processes this one is, by the variables that launchers set: torchrun, OpenMPI, MVAPICH,
 * PMI (MPICH, Intel MPI), SLURM. Of several that speak, the one that stands closest to the process counts:
 * torchrun starts several under one task of SLURM.
 */
struct kwhy_launcher_ranks {
	int64_t rank, world_size, local_rank; /* -1: not said */
	int64_t local_size;		      /* of them on this host; -1: not said */
};

/* `get` is getenv() or a test's. */
struct kwhy_launcher_ranks kwhy_launcher_ranks(char *(*get)(const char *name));

#endif

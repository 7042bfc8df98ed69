/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_LAUNCHER_H
#define KWHY_BASE_LAUNCHER_H

#include <stdint.h>

/*
 * Ranks of this process from the environment variables of launchers: torchrun, OpenMPI, MVAPICH, PMI (MPICH,
 * Intel MPI), SLURM. If the environment has variables of several launchers, the first launcher in this order
 * that states rank and world size counts, because it started the process itself: torchrun, for example,
 * starts several processes in one SLURM task.
 */
struct kwhy_launcher_ranks {
	int64_t rank, world_size, local_rank; /* -1: no launcher states it */
	int64_t local_size;		      /* number of processes on this host; -1: unknown */
};

/* `get` is secure_getenv(), or a substitute in tests. */
struct kwhy_launcher_ranks kwhy_launcher_ranks(char *(*get)(const char *name));

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAUNCH_INJECT_H
#define KWHY_LAUNCH_INJECT_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The library that records what a CUDA program does on its devices from inside: the CUDA driver loads it
 * into every process that finds CUDA_INJECTION64_PATH in its environment, NVTX by NVTX_INJECTION64_PATH. It
 * reads what to do from the environment too.
 */
#define KWHY_INJECT_PATH_BYTES 4096
#define KWHY_INJECT_ABSENCE_BYTES 600

struct kwhy_inject {
	char library[KWHY_INJECT_PATH_BYTES];	 /* "": none, for the reason below */
	char absence[KWHY_INJECT_ABSENCE_BYTES]; /* one sentence with its cure; "": none */
};

/* Looks where KWHY_INJECT says, else beside the running program as it was installed or built. */
void kwhy_inject_find(struct kwhy_inject *inject);

/*
 * Sets the environment for all commands that are started from now on. `folder` of the recording is absolute;
 * limit_bytes is that of each process's file, 0: any.
 */
KWHY_MUST_USE enum kwhy_status kwhy_inject_prepare(
	const struct kwhy_inject *inject, const char *folder, uint64_t limit_bytes, struct kwhy_error *error);

/* The number of this process among those of a distributed program, as its launcher names it; -1: none. */
int64_t kwhy_launch_rank(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_RECORDING_PROBE_PROGRESS_H
#define KWHY_RECORDING_PROBE_PROGRESS_H

#include <stdint.h>

/*
 * How far `kwhy probe` is, for its launcher to show meanwhile: a file in the folder of the recording, no part
 * of it, which the launcher makes and deletes. Where it is there, the library in each process of the command
 * appends a row once a second; the last one of a process holds. A write to the end of a file, unlike a
 * mapping of it, cannot end a program whose disk is full.
 */
#define KWHY_PROBE_PROGRESS_FILE "probe.progress"

struct kwhy_probe_progress_row {
	uint64_t process; /* pid */
	uint64_t bursts;
	uint64_t accounts, known;  /* kernels by size; those whose power is known */
	int64_t busy_ns, known_ns; /* of the program's own kernels */
	int64_t left_ns;	   /* of the budget */
	uint64_t is_over;	   /* no burst comes any more */
};

_Static_assert(sizeof(struct kwhy_probe_progress_row) == 64, "library and launcher agree on it");

#endif

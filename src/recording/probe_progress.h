/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_RECORDING_PROBE_PROGRESS_H
#define KWHY_RECORDING_PROBE_PROGRESS_H

#include <stdint.h>

/*
 * Progress of `kwhy probe`, for its launcher to show while the command runs. It is a file in the folder of
 * the recording but not part of the recording; the launcher makes and deletes it. If it exists, the library
 * in each process of the command appends a row once a second; the last row of a process is valid. Appending
 * to a file, unlike writing to a mapping of it, cannot kill a program whose disk is full.
 */
#define KWHY_PROBE_PROGRESS_FILE "probe.progress"

struct kwhy_probe_progress_row {
	uint64_t process; /* pid */
	uint64_t bursts;
	uint64_t accounts, known; /* number of kernels by size; of these, those whose power is known */
	int64_t busy_ns,
		known_ns; /* busy time of the program's own kernels; of this, that of known kernels */
	int64_t left_ns;  /* rest of the budget */
	uint64_t is_over; /* 1: no more bursts follow */
};

_Static_assert(sizeof(struct kwhy_probe_progress_row) == 64, "library and launcher agree on it");

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_RECORDING_PROBE_PROGRESS_H
#define KWHY_RECORDING_PROBE_PROGRESS_H

#include <stdint.h>

/*
 * File with the progress of `kwhy probe`, which its launcher shows while the command runs. It is in the
 * folder of the recording but is not part of the recording; the launcher makes and deletes it. If it exists,
 * the library in each process of the command appends a row once a second; the last row of a process is valid.
 * Rows are appended and not written to a memory mapping, because that would kill the program when the disk is
 * full.
 */
#define KWHY_PROBE_PROGRESS_FILE "probe.progress"

struct kwhy_probe_progress_row {
	uint64_t process; /* pid */
	uint64_t bursts;
	/*
	 * accounts: number of kernels, where equal names with another grid or block size count as another
	 * kernel; known: how many of them have a known power
	 */
	uint64_t accounts, known;
	int64_t busy_ns,
		/*
		 * Busy time of the program's own kernels, and the part of it in kernels with a known power.
		 */
		known_ns;
	int64_t left_ns;  /* time that bursts may still take */
	uint64_t is_over; /* 1: the process makes no more bursts */
};

_Static_assert(sizeof(struct kwhy_probe_progress_row) == 64, "library and launcher agree on it");

#endif

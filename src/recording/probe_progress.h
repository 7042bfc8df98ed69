/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_RECORDING_PROBE_PROGRESS_H
#define KWHY_RECORDING_PROBE_PROGRESS_H

#include <stdint.h>

/*
 * File with the progress of `kwhy probe`, which its launcher shows while the command runs. The launcher
 * creates the file in the folder of the recording and deletes it at the end; it is no part of the recording.
 * If it exists, the injected library in each process of the command appends a row once a second; the last row
 * of a process is valid. Rows are appended by write(), because a store to a memory mapping would kill the
 * program when the disk is full.
 */
#define KWHY_PROBE_PROGRESS_FILE "probe.progress"

struct kwhy_probe_progress_row {
	uint64_t process; /* pid */
	uint64_t bursts;
	/*
	 * accounts: number of distinct kernels by name, grid size and block size; known: how many of these
	 * have a known power
	 */
	uint64_t accounts, known;
	int64_t busy_ns,
		/*
		 * busy_ns: device time of the program's own kernels so far; known_ns: the part of it in
		 * kernels with a known power.
		 */
		known_ns;
	int64_t left_ns; /* time in ns that the process may still spend on bursts: the limit that it was given
			    minus the time that its bursts took so far */
	uint64_t is_over; /* 1: the process makes no more bursts */
};

_Static_assert(sizeof(struct kwhy_probe_progress_row) == 64, "library and launcher agree on it");

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_ANALYSE_WINDOWS_H
#define KWHY_ANALYSE_WINDOWS_H

#include "analyse/analysis.h"

/* The share that one account, or the time in which nothing ran, has in a window of a recorded run. */
struct kwhy_analysis_part {
	const char *name;  /* name of the account: a kernel, or a kind of copy such as "h2d pageable->device
			      4-8 KB"; NULL: nothing ran */
	uint32_t category; /* enum kwhy_category; KWHY_CATEGORY_IDLE: nothing ran */
	int64_t time_ns;   /* sum over the devices; time in which two activities ran counts for both */
	int64_t energy_nj;
	/*
	 * Ends of the 90 % interval, which is as wide relative to energy_nj as the interval of the account.
	 * KWHY_UNKNOWN_NJ if nothing ran.
	 */
	int64_t low_nj, high_nj;
};

struct kwhy_analysis_window {
	int64_t start_unix_ns, end_unix_ns;
	/*
	 * set by kwhy_analysis_windows(); the parts add up to energy_nj, and the part with the most energy
	 * comes first
	 */
	struct kwhy_analysis_part *parts;
	size_t part_count;
	int64_t energy_nj;
	int64_t idle_nj; /* what the devices would have drawn with their contexts alone */
};

/*
 * Divides the energy of windows among what ran in them. The windows must follow each other in time. The
 * analysis owns the names. Call kwhy_analysis_windows_done() in any case. KWHY_E_UNSUPPORTED: the recording
 * has no Unix times, has no energy, or does not cover a window in full.
 */
KWHY_MUST_USE enum kwhy_status kwhy_analysis_windows(const struct kwhy_analysis *analysis,
	struct kwhy_analysis_window *windows, size_t count, struct kwhy_error *error);
void kwhy_analysis_windows_done(struct kwhy_analysis_window *windows, size_t count);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_ANALYSE_WINDOWS_H
#define KWHY_ANALYSE_WINDOWS_H

#include "analyse/analysis.h"

/* What ran in a window of a recorded run, and what all devices with work drew meanwhile. */
struct kwhy_analysis_part {
	const char *name;  /* an account's: a kernel, "h2d pageable->device 4-8 KB"; NULL: nothing ran */
	uint32_t category; /* enum kwhy_category; KWHY_CATEGORY_IDLE: nothing ran */
	int64_t time_ns;   /* sum over the devices; where activities ran at once, each has its own time */
	int64_t energy_nj;
	/*
	 * Ends of the 90 % interval, in proportion to that of the accounts of this name. KWHY_UNKNOWN_NJ
	 * where nothing ran.
	 */
	int64_t low_nj, high_nj;
};

struct kwhy_analysis_window {
	int64_t start_unix_ns, end_unix_ns;
	/* set by kwhy_analysis_windows(); the parts add up to energy_nj, those with most energy come first */
	struct kwhy_analysis_part *parts;
	size_t part_count;
	int64_t energy_nj;
	int64_t idle_nj; /* what the devices would have drawn with their contexts alone */
};

/*
 * Divides the energy of windows, which follow each other, among what ran in them. Names are the analysis's.
 * Call kwhy_analysis_windows_done() in any case. KWHY_E_UNSUPPORTED: the recording has no Unix times, no
 * energy, or not all of a window.
 */
KWHY_MUST_USE enum kwhy_status kwhy_analysis_windows(const struct kwhy_analysis *analysis,
	struct kwhy_analysis_window *windows, size_t count, struct kwhy_error *error);
void kwhy_analysis_windows_done(struct kwhy_analysis_window *windows, size_t count);

#endif

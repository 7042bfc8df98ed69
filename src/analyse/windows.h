/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_ANALYSE_WINDOWS_H
#define KWHY_ANALYSE_WINDOWS_H

#include "analyse/analysis.h"

/*
 * Energy and time, in a window of a recorded run, of what ran under one name on all devices, or of the time
 * in which nothing ran.
 */
struct kwhy_analysis_part {
	const char *name;  /* name of the account: a kernel, or a kind of copy such as "h2d pageable->device
			      4-8 KB"; NULL: nothing ran */
	uint32_t category; /* enum kwhy_category; KWHY_CATEGORY_IDLE: nothing ran */
	int64_t time_ns;   /* sum of durations, over all devices; if two activities run at the same time, both
			      count */
	int64_t energy_nj;
	/*
	 * Ends of the 90 % interval of energy_nj: those of the account's energy in the whole run, scaled to
	 * energy_nj. KWHY_UNKNOWN_NJ for the time in which nothing ran.
	 */
	int64_t low_nj, high_nj;
};

struct kwhy_analysis_window {
	int64_t start_unix_ns, end_unix_ns;
	/*
	 * The members from here on are set by kwhy_analysis_windows(). The energies of the parts add up to
	 * energy_nj; parts are in descending order of energy.
	 */
	struct kwhy_analysis_part *parts;
	size_t part_count;
	int64_t energy_nj;
	int64_t idle_nj; /* energy in nJ that the devices with activities would have drawn in the window if
			    idle */
};

/*
 * Divides the energy of windows, which the caller gives in Unix times, among what ran in them. Windows must
 * be in order and must not overlap (KWHY_E_INPUT). The analysis owns the names of parts.
 * kwhy_analysis_windows_done() must be called in any case. KWHY_E_UNSUPPORTED: the recording has no Unix
 * times, does not contain a window, or lacks energy in one.
 */
KWHY_MUST_USE enum kwhy_status kwhy_analysis_windows(const struct kwhy_analysis *analysis,
	struct kwhy_analysis_window *windows, size_t count, struct kwhy_error *error);
void kwhy_analysis_windows_done(struct kwhy_analysis_window *windows, size_t count);

#endif

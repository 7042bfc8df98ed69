/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_OWNERS_MISSED_H
#define KWHY_OWNERS_MISSED_H

#include "owners/holders.h"

/*
 * The holders of a device at the looks whose energy is not known yet. While its meters are refused there may
 * be many of them, and later one figure for all. Pure. All zero at first.
 */
struct kwhy_missed {
	struct kwhy_holders all;	 /* everybody who held the device at one of the looks */
	uint32_t seen[KWHY_HOLDERS_MAX]; /* number of looks at which each of them did */
	uint32_t looks, empty;		 /* number of looks, and of those at which nobody held it */
	bool is_mixed;			 /* the holders were not the same at all looks */
	bool is_vague;			 /* at a look with several holders their use was not known */
};

/* Adds a look. has_uses: the driver told how much each holder used. */
void kwhy_missed_add(struct kwhy_missed *missed, const struct kwhy_holders *holders, bool has_uses);

/* Whether the last look does not stand for all of them. */
bool kwhy_missed_differs(const struct kwhy_missed *missed);

/*
 * Divides the energy of a window that all of these looks belong to in proportion to the looks at which each
 * holder held the device, with bounds that say that nobody knows who used what. If nobody was seen to hold it
 * at some look, the idle owner is one of them or, if the processes could not be listed, the unknown owner.
 * Returns the number of shares; `out` has space for KWHY_HOLDERS_MAX.
 */
size_t kwhy_missed_divide(
	struct kwhy_missed *missed, struct kwhy_share_window *window, struct kwhy_share_of *out);

#endif

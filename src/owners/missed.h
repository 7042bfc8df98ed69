/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_OWNERS_MISSED_H
#define KWHY_OWNERS_MISSED_H

#include "owners/holders.h"

/*
 * The holders of a device at the looks whose energy is not known yet. While its meters are refused there may
 * be many of them, and later one figure for all. Pure. All zero at first.
 */
struct kwhy_missed {
	struct kwhy_holders all; /* everybody who held the device at one of the looks */
	size_t looks;
	bool had_none, had_some; /* looks at which nobody, and at which somebody held it */
	bool is_mixed;		 /* the holders were not the same at all looks */
	int64_t busy_permille;	 /* of the busiest look; -1: unknown at one of them */
};

/* Adds a look. */
void kwhy_missed_add(struct kwhy_missed *missed, const struct kwhy_holders *holders, int64_t busy_permille);

/*
 * Sets the holders of a window that all of these looks belong to. If they changed, it is unknown who used
 * what. If nobody was seen to hold the device at some look, the idle owner is one of them or, if the
 * processes could not be listed, the unknown owner.
 */
void kwhy_missed_hold(struct kwhy_missed *missed, struct kwhy_share_window *window);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_OWNERS_MISSED_H
#define KWHY_OWNERS_MISSED_H

#include "owners/holders.h"

/*
 * The holders of a device at the looks since its energy was divided last. While the device's meters cannot be
 * read, looks pass without an energy; the next reading gives one energy for the time of all of them. Pure.
 * All zero at first.
 */
struct kwhy_missed {
	struct kwhy_holders
		all; /* all who held the device at one or more of the looks, with their largest parts */
	uint32_t
		seen[KWHY_HOLDERS_MAX]; /* [all.count] number of looks at which that holder held the device */
	uint32_t looks, empty; /* number of all looks, and number of looks at which nobody held the device */
	bool is_mixed;	       /* the holders were not the same at all looks */
	bool is_vague;	       /* at a look with several holders their use was not known */
};

/* Adds a look. has_uses: the driver told how much each holder used. */
void kwhy_missed_add(struct kwhy_missed *missed, const struct kwhy_holders *holders, bool has_uses);

/*
 * Whether the holders of the last look do not stand for those of all looks: they changed, the use of several
 * holders was unknown, or processes could not be listed.
 */
bool kwhy_missed_differs(const struct kwhy_missed *missed);

/*
 * Divides the energy of a window that covers all the looks added, in proportion to each holder's part times
 * the number of looks at which it held the device, with bounds that allow for any use. The looks at which
 * nobody held it count for the idle owner or, if the processes could not be listed, for the unknown owner.
 * Returns the number of shares; `out` has memory for KWHY_HOLDERS_MAX.
 */
size_t kwhy_missed_divide(
	struct kwhy_missed *missed, struct kwhy_share_window *window, struct kwhy_share_of *out);

#endif

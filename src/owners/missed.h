/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_OWNERS_MISSED_H
#define KWHY_OWNERS_MISSED_H

#include "owners/holders.h"

/*
 * The holders of a device at the looks since its energy was divided last. While the device's meters are
 * refused, many looks pass, and later one energy is known for all of them. Pure. All zero at first.
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

/*
 * Whether the holders of the last look do not stand for those of all looks: they changed, the use of several
 * holders was unknown, or processes could not be listed.
 */
bool kwhy_missed_differs(const struct kwhy_missed *missed);

/*
 * Divides the energy of a window that covers all these looks in proportion to each holder's part times the
 * number of looks at which it held the device, with bounds that allow for any use. The looks at which nobody
 * held it count for the idle owner or, if the processes could not be listed, for the unknown owner. Returns
 * the number of shares; `out` has memory for KWHY_HOLDERS_MAX.
 */
size_t kwhy_missed_divide(
	struct kwhy_missed *missed, struct kwhy_share_window *window, struct kwhy_share_of *out);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_WARMUPS_H
#define KWHY_WHATIF_WARMUPS_H

#include "whatif/change.h"

/* Lists calls that took far longer than others that issue the same, after calls of other kinds: fills
 * `cold`. */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_find_warmups(struct kwhy_whatif *whatif, struct kwhy_error *error);

/*
 * After a change: such a call takes what is usual where most of the calls between it and the one of its kind
 * before have gone. (In the slow corner it stays as it is.)
 */
void kwhy_whatif_drop_warmups(struct kwhy_whatif *whatif);

#endif

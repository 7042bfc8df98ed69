/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_WARMUPS_H
#define KWHY_WHATIF_WARMUPS_H

#include "whatif/change.h"

/*
 * Lists warm-up outliers: calls that came after calls of other kinds and took far longer than others that
 * issue the same kind of work. Fills `warmups`.
 */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_find_warmups(struct kwhy_whatif *whatif, struct kwhy_error *error);

/*
 * After a change: a listed call takes the usual time where most of the calls between it and the previous call
 * of its kind are dropped. In the slow corner it stays as it is.
 */
void kwhy_whatif_drop_warmups(struct kwhy_whatif *whatif);

#endif

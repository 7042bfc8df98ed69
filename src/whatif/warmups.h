/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_WARMUPS_H
#define KWHY_WHATIF_WARMUPS_H

#include "whatif/change.h"

/*
 * Lists warm-up outliers: calls that come after calls of other kinds and take far longer than others of their
 * name that issue the same kind of work. Sets `warmups` and warmup_count.
 */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_find_warmups(struct kwhy_whatif *whatif, struct kwhy_error *error);

/*
 * Edits the graph after a change: an outlier gets the usual length if more than half of the calls between it
 * and the previous call of its kind are removed. For the lower bound of the saving, all outliers keep their
 * lengths.
 */
void kwhy_whatif_drop_warmups(struct kwhy_whatif *whatif);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_CHANGES_H
#define KWHY_WHATIF_CHANGES_H

#include "whatif/change.h"

/* The functions of the changes in the table of changes.c, by file. */
typedef void kwhy_whatif_apply(
	struct kwhy_whatif *whatif, uint32_t number, struct kwhy_whatif_effect *effect);

kwhy_whatif_apply kwhy_whatif_pack_h2d, kwhy_whatif_pack_d2h, kwhy_whatif_pin; /* change_copies.c */
kwhy_whatif_apply kwhy_whatif_keep_on_device, kwhy_whatif_overlap_copies;      /* change_flow.c */
kwhy_whatif_apply kwhy_whatif_drop_waits, kwhy_whatif_use_events, kwhy_whatif_use_pool,
	kwhy_whatif_join_waits, kwhy_whatif_prefetch;				 /* change_host.c */
kwhy_whatif_apply kwhy_whatif_capture_graph;					 /* change_graph.c */
kwhy_whatif_apply kwhy_whatif_change_host_speed;				 /* change_host_speed.c */
kwhy_whatif_apply kwhy_whatif_fuse, kwhy_whatif_batch, kwhy_whatif_grow_batch;	 /* change_kernels.c */
kwhy_whatif_apply kwhy_whatif_overlap_collectives, kwhy_whatif_thin_collectives; /* change_collectives.c */

#endif

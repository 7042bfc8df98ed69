/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_RESULTS_PROJECTION_H
#define KWHY_IMPORT_RESULTS_PROJECTION_H

#include "base/arena.h"
#include "base/status.h"
#include "model/projection.h"

#include <stddef.h>

/* Savings of one change beyond those of the changes before it. */
struct kwhy_checked_change {
	const char *name; /* "overlap-copies 2" */
	int64_t saved_ns, saved_nj;
};

/* A projection made from run A, compared with the measurements of run B. */
struct kwhy_projection_check {
	struct kwhy_arena arena;
	const char *label;   /* name of the projection's file */
	const char *changes; /* "pinned, overlap-copies 2" */
	double host_speed; /* host speed that the projection assumes, as a ratio to A's: 1 unless "host-speed"
			      is among the changes */
	struct kwhy_checked_change *list;
	size_t count;
	struct kwhy_projection before, after;
};

/* KWHY_E_INPUT when `json` is no kwhy.whatif/1. */
KWHY_MUST_USE enum kwhy_status kwhy_projection_check_read(struct kwhy_projection_check *check,
	const char *label, const char *json, size_t length, struct kwhy_error *error);
void kwhy_projection_check_done(struct kwhy_projection_check *check);

#endif

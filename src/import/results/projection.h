/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_RESULTS_PROJECTION_H
#define KWHY_IMPORT_RESULTS_PROJECTION_H

#include "base/arena.h"
#include "base/status.h"
#include "model/projection.h"

#include <stddef.h>

/*
 * What a change of the program is projected to save in time and energy, in addition to the changes before it
 * in the list.
 */
struct kwhy_checked_change {
	const char *name; /* such as "overlap-copies 2" */
	int64_t saved_ns, saved_nj;
};

/*
 * A projection of kwhy whatif: figures of run A before and after the listed changes, to be compared with
 * those of a later run.
 */
struct kwhy_projection_check {
	struct kwhy_arena arena;
	const char *label;   /* name of the projection's file */
	const char *changes; /* names of all changes, separated by commas: "pinned, overlap-copies 2" */
	/*
	 * Speed of the host that the projection assumes, divided by that of run A; 1 unless "host-speed" is
	 * among the changes.
	 */
	double host_speed;
	struct kwhy_checked_change *list;
	size_t count;
	struct kwhy_projection before, after;
};

/*
 * Reads a projection. KWHY_E_INPUT: `json` does not have the schema kwhy.whatif/1 or a time after the
 * changes.
 */
KWHY_MUST_USE enum kwhy_status kwhy_projection_check_read(struct kwhy_projection_check *check,
	const char *label, const char *json, size_t length, struct kwhy_error *error);
void kwhy_projection_check_done(struct kwhy_projection_check *check);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_PREDICTED_H
#define KWHY_REPORT_PREDICTED_H

#include "model/projection.h"
#include "report/compare.h"
#include "report/json/writer.h"
#include "report/text_context.h"

/* What one change saves beyond those before it. */
struct kwhy_checked_change {
	const char *name; /* "overlap-copies 2" */
	int64_t saved_ns, saved_nj;
};

/* A projection that was made of run A, compared with what run B measured. */
struct kwhy_projection_check {
	struct kwhy_arena arena;
	const char *label;   /* its file */
	const char *changes; /* "pinned, overlap-copies 2" */
	double host_speed;   /* that it supposes, of A's: 1 unless "host-speed" is among the changes */
	struct kwhy_checked_change *list;
	size_t count;
	struct kwhy_projection before, after;
};

/* KWHY_E_INPUT when `json` is no kwhy.whatif/1. */
KWHY_MUST_USE enum kwhy_status kwhy_projection_check_read(struct kwhy_projection_check *check,
	const char *label, const char *json, size_t length, struct kwhy_error *error);
void kwhy_projection_check_done(struct kwhy_projection_check *check);

/* (projected - measured) / measured; NAN where either is unknown. */
struct kwhy_projection_errors {
	double time_ratio, energy_ratio;
	double net_ratio;    /* of what lies above the idle level of each run */
	double launch_ratio; /* mean launch call of B over that of A, a host's speed; NAN unknown */
	double host_ratio;   /* the same over what the projection supposes of it */
	bool is_of_a;	     /* what was projected from is run A, within a hundredth of its time */
};
struct kwhy_projection_errors kwhy_projection_errors_of(
	const struct kwhy_projection_check *check, const struct kwhy_side *a, const struct kwhy_side *b);

/* Parts of the comparison; nothing where predicted is NULL. */
void kwhy_projection_check_text(
	const struct kwhy_comparison *comparison, const struct kwhy_text_context *context);
void kwhy_projection_check_json(const struct kwhy_comparison *comparison, struct kwhy_json *json);

#endif

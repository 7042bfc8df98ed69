/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_PROJECTION_H
#define KWHY_MODEL_PROJECTION_H

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

/* Projected savings of changes to a program, from its recording. */

/* What the amount of a projected saving means. */
enum kwhy_bound {
	KWHY_BOUND_EXPECTED, /* the saving to expect, as far as the recording shows it */
	KWHY_BOUND_UPPER,    /* upper bound: no more than this is saved */
	KWHY_BOUND_LOWER,    /* lower bound: no less than this is saved */
	KWHY_BOUND_COUNT
};

enum kwhy_effort { KWHY_EFFORT_LINES, KWHY_EFFORT_DAYS, KWHY_EFFORT_DESIGN, KWHY_EFFORT_COUNT };

enum kwhy_risk {
	KWHY_RISK_NONE,	 /* the change leaves results bitwise the same */
	KWHY_RISK_ORDER, /* the change removes an order of work or a wait; results stay right only if nothing
			    in the program relies on it */
	KWHY_RISK_NUMERICS, /* the change alters numerical results */
	KWHY_RISK_COUNT
};

const char *kwhy_bound_name(enum kwhy_bound bound); /* "expected", "upper", "lower" */
/* Effort of making a change: "lines", "days", "design". */
const char *kwhy_effort_name(enum kwhy_effort effort);
/* Risk to the program's results: "none", "order", "numerics". */
const char *kwhy_risk_name(enum kwhy_risk risk);

/*
 * Projected time from the first start to the last end of device work, and energy of all devices in that time.
 * Low and high are bounds, not quantiles: they assume that all costs and powers are at the same end of their
 * intervals, and include the variation between runs as far as the recording shows it. Energies are
 * KWHY_UNKNOWN_NJ if unknown. net_nj is the energy above what the devices would draw idle in that time, and
 * may be below 0.
 */
struct kwhy_projection {
	int64_t time_ns, time_low_ns, time_high_ns;
	int64_t energy_nj, energy_low_nj, energy_high_nj;
	int64_t net_nj, net_low_nj, net_high_nj;
};

/*
 * A change of the program in a plan, which is applied after the plan's changes before it. Strings live as
 * long as the plan.
 */
struct kwhy_projected_change {
	const char *id, *title; /* "pack-h2d", "pack copies to the device" */
	const char *finding;	/* id of the finding that the change cures; NULL: it cures no finding */
	uint32_t number;	/* argument of the change; 0: it has no argument */
	enum kwhy_bound bound;
	enum kwhy_effort effort;
	enum kwhy_risk risk;
	uint64_t places; /* number of launches, copies or waits of the program that the change affects */
	const char *assumption;	      /* the assumption in words, with its figures */
	struct kwhy_projection after; /* projection with this change and all before it */
	int64_t saved_ns, saved_nj;   /* what this change saves in addition to the changes before it; may be
					 below 0; saved_nj KWHY_UNKNOWN_NJ: unknown */
};

/* A change that was considered and left out. */
struct kwhy_refused_change {
	const char *id, *title, *reason;
	const char *premise; /* assumption that the change needs and no recording can prove, such as "the
				launches depend on nothing of each other", if the change is left out for that
				reason; NULL: it is left out for another reason */
	int64_t saved_ns, saved_nj; /* projected saving; KWHY_UNKNOWN_NS and KWHY_UNKNOWN_NJ: unknown */
};

/*
 * An activity or a call in an excerpt of the run: its times in the recording (before_) and in the projection
 * with all changes (after_), in nanoseconds since the excerpt began.
 */
struct kwhy_stretch_item {
	uint32_t activity, call; /* row in the recording's activities or in its calls; the other of the two is
				    KWHY_NONE */
	int64_t before_start_ns, before_end_ns;
	int64_t after_start_ns, after_end_ns; /* both KWHY_UNKNOWN_TIME: the changes remove the item */
};

/*
 * An excerpt of the run: the representative steps from first_step up to, not including, end_step of the run's
 * step_count steps, as recorded and with all changes of a plan.
 */
struct kwhy_stretch {
	uint32_t first_step, end_step, step_count; /* step_count 0: no steps are known, and the excerpt is
						      from the middle of the run */
	int64_t before_ns, after_ns; /* time from the excerpt's first start to its last end, as recorded and
					with all changes */
	struct kwhy_stretch_item *items; /* in the order of before_start_ns */
	size_t item_count;
	size_t left_out_count; /* number of items that were left out, to limit item_count */
};

struct kwhy_plan {
	struct kwhy_arena arena;
	struct kwhy_projection before;
	double busy_before_ratio, busy_after_ratio; /* share of the time in which a device ran anything, mean
						       over the devices; NAN: not computed */
	const struct kwhy_stretch *stretch;	    /* NULL: not computed, or nothing ran */
	struct kwhy_projected_change *changes;	    /* in the order in which they are applied */
	struct kwhy_refused_change *refused;
	size_t change_count, refused_count;
};

/* The projection with all changes; `before` if there are no changes. */
static inline const struct kwhy_projection *kwhy_plan_after(const struct kwhy_plan *plan)
{
	return plan->change_count ? &plan->changes[plan->change_count - 1].after : &plan->before;
}

/*
 * What the saving of all changes together is: an upper or lower bound if that of at least one of the changes
 * is, else the expected saving. No plan mixes upper and lower bounds.
 */
static inline enum kwhy_bound kwhy_plan_bound(const struct kwhy_plan *plan)
{
	enum kwhy_bound bound = KWHY_BOUND_EXPECTED;

	for (size_t i = 0; i < plan->change_count && bound == KWHY_BOUND_EXPECTED; i++)
		bound = plan->changes[i].bound;
	return bound;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_PROJECTION_H
#define KWHY_MODEL_PROJECTION_H

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

/* What changes to a program would bring, by its recording. */

/* What the figure of a saving is. */
enum kwhy_bound {
	KWHY_BOUND_EXPECTED, /* what is to be expected, as far as the recording shows */
	KWHY_BOUND_UPPER,    /* no more than this is saved */
	KWHY_BOUND_LOWER,    /* no less than this is saved */
	KWHY_BOUND_COUNT
};

enum kwhy_effort { KWHY_EFFORT_LINES, KWHY_EFFORT_DAYS, KWHY_EFFORT_DESIGN, KWHY_EFFORT_COUNT };

enum kwhy_risk {
	KWHY_RISK_NONE,	    /* results stay the same bits */
	KWHY_RISK_ORDER,    /* right only if nothing relied on the order or the wait that goes */
	KWHY_RISK_NUMERICS, /* results are other numbers */
	KWHY_RISK_COUNT
};

const char *kwhy_bound_name(enum kwhy_bound bound);    /* "expected", "upper", "lower" */
const char *kwhy_effort_name(enum kwhy_effort effort); /* "lines", "days", "design" */
const char *kwhy_risk_name(enum kwhy_risk risk);       /* "none", "order", "numerics" */

/*
 * Time from the first start to the last end of device work, and energy of the devices. Low and high: all
 * costs and powers at one end of their intervals, and what differs from run to run as far as the
 * recording shows it; so bounds and no quantile. Energies are KWHY_UNKNOWN_NJ where they are not known; net
 * is what lies above the power that the devices drew while they idled, and may be below 0.
 */
struct kwhy_projection {
	int64_t time_ns, time_low_ns, time_high_ns;
	int64_t energy_nj, energy_low_nj, energy_high_nj;
	int64_t net_nj, net_low_nj, net_high_nj;
};

/* A change that was made, behind those before it. Strings live as long as the plan. */
struct kwhy_projected_change {
	const char *id, *title; /* "pack-h2d", "pack copies to the device" */
	const char *finding;	/* id of the finding that it cures; NULL: none */
	uint32_t number;	/* argument; 0: has none */
	enum kwhy_bound bound;
	enum kwhy_effort effort;
	enum kwhy_risk risk;
	uint64_t places;	      /* at which it was made */
	const char *assumption;	      /* in words, with its figures */
	struct kwhy_projection after; /* of this and all before it */
	int64_t saved_ns, saved_nj;   /* by this one beyond those; saved_nj KWHY_UNKNOWN_NJ; may be below 0 */
};

/* A change that was looked at and left out. */
struct kwhy_refused_change {
	const char *id, *title, *reason;
	const char *premise; /* "the launches depend on nothing of each other": not in a plan; NULL: none */
	int64_t saved_ns, saved_nj; /* it would have; KWHY_UNKNOWN_NS, KWHY_UNKNOWN_NJ */
};

/* An activity or a call of a stretch, in nanoseconds from where the stretch begins. */
struct kwhy_stretch_item {
	uint32_t activity, call; /* rows of the recording; one of them is KWHY_NONE */
	int64_t before_start_ns, before_end_ns;
	int64_t after_start_ns, after_end_ns; /* both KWHY_UNKNOWN_TIME: it goes */
};

/* A few steps that stand for the run, as they were and with all changes of a plan. */
struct kwhy_stretch {
	uint32_t first_step, end_step, step_count; /* step_count 0: no steps are known, it is the middle */
	int64_t before_ns, after_ns;		   /* from its first start to its last end */
	struct kwhy_stretch_item *items;	   /* in the order of before_start_ns */
	size_t item_count;
	size_t left_out_count; /* that it would hold too, but for their number */
};

struct kwhy_plan {
	struct kwhy_arena arena;
	struct kwhy_projection before;
	double busy_before_ratio, busy_after_ratio; /* of the time, mean of the devices; NAN: not asked for */
	const struct kwhy_stretch *stretch;	    /* NULL: not asked for, or there is no work */
	struct kwhy_projected_change *changes;	    /* in the order in which they were made */
	struct kwhy_refused_change *refused;
	size_t change_count, refused_count;
};

/* With all changes; as before where there are none. */
static inline const struct kwhy_projection *kwhy_plan_after(const struct kwhy_plan *plan)
{
	return plan->change_count ? &plan->changes[plan->change_count - 1].after : &plan->before;
}

/* What the saving of all changes is: a bound as soon as one of them is. No plan has bounds of both sides. */
static inline enum kwhy_bound kwhy_plan_bound(const struct kwhy_plan *plan)
{
	enum kwhy_bound bound = KWHY_BOUND_EXPECTED;

	for (size_t i = 0; i < plan->change_count && bound == KWHY_BOUND_EXPECTED; i++)
		bound = plan->changes[i].bound;
	return bound;
}

#endif

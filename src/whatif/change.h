/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_CHANGE_H
#define KWHY_WHATIF_CHANGE_H

#include "model/ledger.h"
#include "model/profile.h"
#include "model/projection.h"
#include "whatif/costs.h"
#include "whatif/graph.h"

/*
 * A change to a program, made to the graph of its recording. A change sees the graph that earlier changes
 * left, so that no saving counts twice.
 */

enum { KWHY_WHATIF_WORDS = 240 };

/* The result of making a change. */
struct kwhy_whatif_effect {
	uint64_t places;	       /* number of places where it was made; 0: it was refused */
	char words[KWHY_WHATIF_WORDS]; /* the assumptions with their figures, or the reason for the refusal */
	bool is_generic; /* a cost is neither recorded nor in the profile: the saving is an upper bound */
};

struct kwhy_whatif;

struct kwhy_whatif_change {
	const char *id;	   /* "pack-h2d"; the option of the command */
	const char *title; /* "pack copies to the device" */
	/* as in the option's help; "[N]" is optional; NULL: the option takes no argument */
	const char *argument;
	uint32_t number; /* used by plans and where the argument is left out; below `least`: no plan tries the
			    change */
	uint32_t least;	 /* smallest number that is accepted */
	enum kwhy_bound bound;
	enum kwhy_effort effort;
	enum kwhy_risk risk;
	const char *finding; /* id of the finding that the change cures; NULL: no finding */
	const char *premise; /* condition that a recording cannot show; plans leave the change out and list
				it; NULL: no condition */
	/* Edits the graph. A refusal sets places to 0 and leaves the graph as it was. */
	void (*apply)(struct kwhy_whatif *whatif, uint32_t number, struct kwhy_whatif_effect *effect);
};

/* Index of each change in the table, KWHY_WHATIF_<function>_AT, and the number of changes. */
enum {
#define X(function, argument, number, least, bound, effort, risk, id, title, finding, premise, help) \
	KWHY_WHATIF_##function##_AT,
#include "whatif/changes.def"
#undef X
	KWHY_WHATIF_CHANGES
};

/* The constant table of all changes (whatif/changes.def). They are applied in its order unless a plan says
 * otherwise. */
extern const struct kwhy_whatif_change kwhy_whatif_changes[KWHY_WHATIF_CHANGES];
extern const size_t kwhy_whatif_change_count;

/*
 * A call that took far longer than is usual for its kind; `after` is the previous call of that kind on the
 * same thread.
 */
struct kwhy_whatif_warmup {
	uint32_t call, after;
	int64_t usual_ns;
};

/* What one change brings alone, with its own number, so that the graph is played once for each. */
struct kwhy_whatif_alone {
	bool is_played;			  /* the next two are known */
	struct kwhy_whatif_effect effect; /* places 0: refused */
	struct kwhy_projection expected;  /* at the expected costs */
	bool is_widened;
	struct kwhy_projection after; /* with the intervals of all costs */
};

/* All data that changes read. Made by kwhy_whatif_new(). */
struct kwhy_whatif {
	const struct kwhy_recording *recording;
	const struct kwhy_ledger *ledger;   /* NULL: energies are unknown */
	const struct kwhy_profile *profile; /* NULL: no machine profile */
	struct kwhy_whatif_graph *graph;
	struct kwhy_whatif_costs costs;
	struct kwhy_whatif_alone *alone; /* [kwhy_whatif_change_count] */
	enum kwhy_whatif_corner corner;	 /* which costs apply now */

	uint32_t *first_issued;	   /* [calls + 1] first index in `issued` of the rows that an outermost call
				      issued */
	uint32_t *issued;	   /* [activities] */
	uint32_t *next;		   /* [activities] next row in the same stream; KWHY_NONE: the last */
	uint32_t *first_of_stream; /* [streams] first row of the stream */
	uint32_t *step;		   /* [activities] number of the step; KWHY_NONE: outside all steps */
	uint32_t step_count;	   /* 0: steps are unknown */
	bool steps_named; /* ranges name the steps; else a repeating sequence of launches defines them */
	const char *step_words; /* "ranges" or "a sequence of launches that repeats" */

	uint64_t *packed_bytes; /* [activities] bytes of copies with KWHY_NODE_PACKED; NULL: no copy was
				   packed yet */

	struct kwhy_whatif_warmup *warmups; /* [warmup_count] */
	size_t warmup_count;

	int64_t first_ns, last_ns; /* of all recorded device work; equal where there is no work */
	float *net_w;		   /* [activities] power above idle; NAN: unknown */
	float *half_ci90_ratio;	  /* [activities] half of the 90 % interval of the account's energy, over that
				     energy */
	double *idle_w;		  /* [devices] power while the device idles; NAN: unknown */
	double *idle_half_ci90_w; /* [devices] half of the 90 % interval of idle_w */
	double scatter_ratio;	  /* half of the 90 % interval of a run's time, over that time: runs of one
				     program differ */
	bool has_energy;	  /* energy is known for every device that worked */
	bool out_of_memory;
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_CHANGE_H
#define KWHY_WHATIF_CHANGE_H

#include "model/ledger.h"
#include "model/profile.h"
#include "model/projection.h"
#include "whatif/costs.h"
#include "whatif/graph.h"

/*
 * A change to a program is projected by editing the dependency graph of its recording (whatif/graph.h). Each
 * change edits the graph as earlier changes left it, so no saving counts twice.
 */

enum { KWHY_WHATIF_WORDS = 240 };

/* Result of making a change. */
struct kwhy_whatif_effect {
	/*
	 * number of places in the program (launches, copies, waits, pauses or calls) at which the change was
	 * made; 0: the change was refused
	 */
	uint64_t places;
	/* assumptions of the projection with their figures, or the reason for the refusal */
	char words[KWHY_WHATIF_WORDS];
	/*
	 * whether a cost was assumed, because neither the recording nor the profile has it; the projected
	 * saving is then an upper bound
	 */
	bool is_generic;
};

struct kwhy_whatif;

struct kwhy_whatif_change {
	const char *id;	   /* name of the change's option on the command line: "pack-h2d" */
	const char *title; /* title of the change: "pack copies to the device" */
	/*
	 * name of the argument in the option's help, in brackets if optional: "[N]"; NULL: the option takes
	 * no argument
	 */
	const char *argument;
	/*
	 * the change's argument in plans, and on the command line if the option is given without one; a
	 * number below `least`: plans do not try the change
	 */
	uint32_t number;
	uint32_t least; /* smallest argument that is accepted */
	enum kwhy_bound bound;
	enum kwhy_effort effort;
	enum kwhy_risk risk;
	const char *finding; /* id of the finding (kind of waste) that the change cures; NULL: none */
	/*
	 * condition for the change that a recording cannot show; plans list such a change with its condition
	 * and do not make it; NULL: no condition
	 */
	const char *premise;
	/*
	 * Edits the graph with the argument `number`, and describes the effect. A refused change sets places
	 * to 0 and leaves the graph as it was.
	 */
	void (*apply)(struct kwhy_whatif *whatif, uint32_t number, struct kwhy_whatif_effect *effect);
};

/*
 * KWHY_WHATIF_<function>_AT: index of each change in kwhy_whatif_changes. KWHY_WHATIF_CHANGES: their number.
 */
enum {
#define X(function, argument, number, least, bound, effort, risk, id, title, finding, premise, help) \
	KWHY_WHATIF_##function##_AT,
#include "whatif/changes.def"
#undef X
	KWHY_WHATIF_CHANGES
};

/*
 * The table of all changes (whatif/changes.def). Changes are applied in its order unless a plan states
 * another one.
 */
extern const struct kwhy_whatif_change kwhy_whatif_changes[KWHY_WHATIF_CHANGES];
extern const size_t kwhy_whatif_change_count;

/*
 * A warm-up outlier: a first call that took far longer than later ones of its kind (usual_ns). `after`:
 * previous call of that kind on the same thread.
 */
struct kwhy_whatif_warmup {
	uint32_t call, after;
	int64_t usual_ns;
};

/*
 * Projection of one change, made alone with its default argument. It is kept, so that the graph is simulated
 * only once for each change and set of costs.
 */
struct kwhy_whatif_alone {
	bool is_played; /* whether `effect` and `expected` are set */
	struct kwhy_whatif_effect
		effect; /* effect of the change; its `places` is 0 if the change was refused */
	struct kwhy_projection expected; /* projection at the expected costs */
	bool is_widened;
	struct kwhy_projection after; /* projection whose intervals include the uncertainty of all costs;
					 valid if is_widened */
};

/* State that changes read and edit, as kwhy_whatif_new() makes it. */
struct kwhy_whatif {
	const struct kwhy_recording *recording;
	const struct kwhy_ledger *ledger;   /* NULL: energies are unknown */
	const struct kwhy_profile *profile; /* NULL: no machine profile */
	struct kwhy_whatif_graph *graph;
	struct kwhy_whatif_costs costs;
	struct kwhy_whatif_alone *alone; /* [kwhy_whatif_change_count] projection of each change made alone */
	enum kwhy_whatif_corner corner;	 /* which value of each cost changes use at present: the expected one,
					    or the lower or upper end of its interval */

	/*
	 * [call_count + 1] index in `issued` of the first activity of each call; only outermost calls have
	 * any
	 */
	uint32_t *first_issued;
	uint32_t *issued; /* [activities] indices of the activities, sorted by the outermost call that issued
			     them */
	/* [activities] next activity in the same stream; KWHY_NONE: the activity is the last */
	uint32_t *next;
	uint32_t *first_of_stream; /* [streams] first activity of the stream */
	/* [activity_count] number of the step that issued each activity, from 0 on; KWHY_NONE: none */
	uint32_t *step;
	uint32_t step_count; /* 0: steps are unknown */
	/* true: ranges name the steps; false: a repeating sequence of launches defines them */
	bool steps_named;
	/* how steps were found, in words: "ranges" or "a sequence of launches that repeats" */
	const char *step_words;

	/* [activities] bytes of each copy that is marked KWHY_NODE_PACKED; NULL: no copy was packed yet */
	uint64_t *packed_bytes;

	struct kwhy_whatif_warmup *warmups; /* [warmup_count] warm-up outliers */
	size_t warmup_count;

	/* first start and last end, in ns, of all recorded device work; equal if there is no work */
	int64_t first_ns, last_ns;
	/* [activities] power of each activity above idle, W; NAN: unknown; NULL: `has_energy` is false */
	float *net_w;
	/*
	 * [activities] half of the 90 % interval of the energy of the activity's account, as a share of
	 * that energy; NULL: `has_energy` is false
	 */
	float *half_ci90_ratio;
	double *idle_w;		  /* [devices] power while the device idles, W; NAN: unknown */
	double *idle_half_ci90_w; /* [devices] half of the 90 % interval of idle_w */
	/*
	 * half of the 90 % interval of the time of another run of the same program, unchanged, as a share of
	 * that time
	 */
	double scatter_ratio;
	bool has_energy; /* whether the energy of every device that worked is known */
	bool out_of_memory;
};

#endif

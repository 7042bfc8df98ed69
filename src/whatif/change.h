/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_CHANGE_H
#define KWHY_WHATIF_CHANGE_H

#include "model/ledger.h"
#include "model/profile.h"
#include "model/projection.h"
#include "whatif/costs.h"
#include "whatif/graph.h"

/*
 * A change to a program, made to the graph of its recording. Changes see what those before them left, so that
 * nothing is saved twice.
 */

enum { KWHY_WHATIF_WORDS = 240 };

/* What became of a change. */
struct kwhy_whatif_effect {
	uint64_t places;	       /* at which it was made; 0 where it was refused */
	char words[KWHY_WHATIF_WORDS]; /* what was assumed, with its figures; or why it was refused */
	bool is_generic;	       /* it was made at a cost that nobody knows here: a bound */
};

struct kwhy_whatif;

struct kwhy_whatif_change {
	const char *id;	      /* "pack-h2d"; the option of the command */
	const char *title;    /* "pack copies to the device" */
	const char *argument; /* as the option's help shows it; "[N]" may be left out; NULL: takes none */
	uint32_t number;      /* what a plan takes, and who gives none; below `least`: no plan tries it */
	uint32_t least;	      /* the smallest that is taken */
	enum kwhy_bound bound;
	enum kwhy_effort effort;
	enum kwhy_risk risk;
	const char *finding; /* id of the finding whose cure it is; NULL: none */
	const char *premise; /* that a recording cannot show: a plan leaves it out and tells it apart; NULL */
	/* Edits the graph; a refusal leaves places 0 and the graph as it was. */
	void (*apply)(struct kwhy_whatif *whatif, uint32_t number, struct kwhy_whatif_effect *effect);
};

/* The constant table; changes are applied in its order unless a plan says otherwise. */
extern const struct kwhy_whatif_change kwhy_whatif_changes[];
extern const size_t kwhy_whatif_change_count;

/* A call that took far longer than its kind does; `behind` is the one of its kind before it on its thread. */
struct kwhy_whatif_warmup {
	uint32_t call, after;
	int64_t usual_ns;
};

/* Everything that changes look at. Made by kwhy_whatif_new(). */
struct kwhy_whatif {
	const struct kwhy_recording *recording;
	const struct kwhy_ledger *ledger;   /* NULL: no energies */
	const struct kwhy_profile *profile; /* NULL: none */
	struct kwhy_whatif_graph *graph;
	struct kwhy_whatif_costs costs;
	enum kwhy_whatif_corner corner; /* which costs are in force */

	uint32_t *first_issued;	   /* [calls + 1] rows that an outermost call issued, in `issued` */
	uint32_t *issued;	   /* [activities] */
	uint32_t *next;		   /* [activities] in the stream; KWHY_NONE: the last */
	uint32_t *first_of_stream; /* [streams] */
	uint32_t *step;		   /* [activities] number of the step; KWHY_NONE: in none */
	uint32_t step_count;	   /* 0: none are known */
	bool steps_named;	   /* by ranges; else by a sequence of launches that repeats */
	const char *step_words;	   /* "ranges" or "a sequence of launches that repeats" */

	uint64_t *packed_bytes; /* [activities] of those that are KWHY_NODE_PACKED; NULL: none ever was */

	struct kwhy_whatif_warmup *warmups; /* [warmup_count] */
	size_t warmup_count;

	int64_t first_ns, last_ns; /* of all device work as recorded; equal where there is none */
	float *net_w;		   /* [activities] power above idle; NAN unknown */
	float *half_ci90_ratio;	  /* [activities] half of the 90 % interval of its account's energy to that */
	double *idle_w;		  /* [devices] while nothing runs; NAN unknown */
	double *idle_half_ci90_w; /* [devices] half of its 90 % interval */
	double scatter_ratio;	  /* by which a run of the same program would take longer or shorter, 90 % */
	bool has_energy;	  /* known for every device that worked */
	bool out_of_memory;
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_DETECT_TALLY_H
#define KWHY_DETECT_TALLY_H

#include "detect/detect.h"
#include "detect/energy.h"
#include "detect/view.h"
#include "model/host_wait.h"

/* A place before it has words: what was there, most telling first. Unused: KWHY_NONE, NULL. */
struct kwhy_occurrence {
	int64_t start_ns, end_ns;
	uint32_t row;	    /* the activity */
	uint32_t row_after; /* an activity after it */
	uint32_t call;	    /* the API call that issued it or that is the waste itself */
	uint32_t wait;	    /* the API call that waited for it */
	bool host;	    /* the host was elsewhere: name the range it was in */
};

struct kwhy_occurrence kwhy_occurrence_at(int64_t start_ns, int64_t end_ns);

struct kwhy_idle_span {
	int64_t start_ns, end_ns;
};

/*
 * The account of one detector on one device. The detector marks activities and hands in intervals
 * of host time and gaps; kwhy_tally_finish() makes one finding of them:
 *   cost = union of the marked activities + idle device time in those stretches and gaps,
 * two disjoint parts, so it never exceeds the window. Sticky: the first failure is given by the finish.
 */
struct kwhy_tally {
	const struct kwhy_detect_context *context;
	uint32_t device;
	enum kwhy_status status;
	uint64_t count;	      /* what the title counts */
	size_t marked_count;  /* activities */
	double kept_total_ns; /* time that the marked ones would still take */

	struct kwhy_idle_span *spans; /* host stretches that touch idle time */
	size_t span_count, span_capacity;

	struct kwhy_energy_source source;
	struct kwhy_energy_ci90 gap_energy; /* of the gap parts */
	int64_t gap_ns, gap_kept_ns;	    /* idle time of gap parts, and what of it would remain */

	/* The same time by category: the union of the marked by kind, idle time by what the host did then. */
	int64_t category_ns[KWHY_CATEGORY_COUNT];
	struct kwhy_host_wait host;
	bool is_partly_exposed; /* what is counted: bare for less than half its time */
	bool takes_host_first;	/* of a gap, time of the host elsewhere, else that inside calls */

	struct kwhy_occurrence *occurrences; /* min-heap by length */
	size_t occurrence_count, occurrence_capacity;
};

/* For the context's device, whose marks it clears. */
void kwhy_tally_init(struct kwhy_tally *tally, const struct kwhy_detect_context *context);

/* Marks an activity that belongs to the waste; cured, it would still take kept_ns. Twice marked counts once.
 */
void kwhy_tally_mark(struct kwhy_tally *tally, size_t row, double kept_ns);
/* The device's idle time inside [start_ns, end_ns) belongs to the waste; overlaps count once. */
void kwhy_tally_idle(struct kwhy_tally *tally, int64_t start_ns, int64_t end_ns);
/*
 * The idle time right after an activity that the host waited for, if the device idles then: no more of it
 * than the host was blocked, since unblocked it would be ahead by so much. `wait`: KWHY_NONE, or as `call`,
 * where the call itself blocked. Gives the end of that idle time, or the activity's.
 */
int64_t kwhy_tally_idle_after(struct kwhy_tally *tally, size_t row, uint32_t call, uint32_t wait);
/*
 * length_ns of one gap belong to the waste, of which kept_ns would remain. Gaps in the order of time, each at
 * most once, and no kwhy_tally_idle() over it.
 */
void kwhy_tally_gap(struct kwhy_tally *tally, const struct kwhy_gap *gap, int64_t length_ns, int64_t kept_ns);
/* A candidate for the evidence: the longest ones are shown. */
void kwhy_tally_add_occurrence(struct kwhy_tally *tally, struct kwhy_occurrence occurrence);

/*
 * Marks every activity that `match` takes, and counts those that run bare of the kinds in `covers` for half
 * of their time and more, where none does those that do for less. What is counted is evidence.
 */
typedef bool kwhy_tally_match(const struct kwhy_tally *tally, size_t row);
void kwhy_tally_mark_exposed(struct kwhy_tally *tally, unsigned covers, kwhy_tally_match *match);
/* "ran with no", and for how long where that is less than half their time; "kernel running" follows. */
const char *kwhy_tally_exposed_words(const struct kwhy_tally *tally);

/* How the finding reads and what bounds its saving. */
struct kwhy_finding_terms {
	const char *title;	/* from the findings' arena */
	const char *assumption; /* likewise, or a literal */
	const char *cure;	/* likewise; NULL: that of the table of detectors */
	const char *change;	/* as in struct kwhy_finding */
	unsigned covers;	/* kinds that hide a marked activity: removing that one saves no time then */
	bool exposed_only;	/* unrecorded time is no cost either */
	bool work_remains;	/* the work is done all the same: a saved second saves idle power alone */
	unsigned hiding_kinds;	/* not 0: no more can be saved than free time of these kinds to hide it in */
	double kept_share;	/* of the whole cost that would remain */
	double idle_energy_share; /* of the idle energy that the cure saves */
	bool frees_device;	  /* the device's time, not the run's */
};

#define KWHY_KIND(kind) (1u << KWHY_ACTIVITY_##kind)
#define KWHY_KINDS_ALL ((1u << KWHY_ACTIVITY_KIND_COUNT) - 1)
#define KWHY_KINDS_COMPUTE (KWHY_KIND(KERNEL) | KWHY_KIND(GRAPH))

struct kwhy_finding_terms kwhy_finding_terms_default(void);

/* Adds the finding unless it is empty or saves too little. Frees what the tally holds, always. */
KWHY_MUST_USE enum kwhy_status kwhy_tally_finish(struct kwhy_tally *tally, struct kwhy_finding_terms verdict);
/* Frees without a finding; gives the sticky status. */
KWHY_MUST_USE enum kwhy_status kwhy_tally_drop(struct kwhy_tally *tally);

/* Words for the title and the assumption, in the findings' arena; NULL makes the finish fail for memory. */
char *kwhy_tally_words(const struct kwhy_tally *tally, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* "each gap closes to the smallest before queued work here, 1.2 us" or that it vanishes, behind `cure`. */
char *kwhy_tally_floor_words(const struct kwhy_tally *tally, const char *cure);

/* Threshold of the running detector by place in its table row. */
static inline double kwhy_tally_threshold(const struct kwhy_tally *tally, size_t index)
{
	return tally->context->thresholds[index];
}

/*
 * Posts length_ns of the idle interval before row `after` to the categories of what the host did in it; in
 * the order of time, from the beginning after kwhy_tally_divide_again(). (tally_categories.c)
 */
void kwhy_tally_divide_idle(
	struct kwhy_tally *tally, const struct kwhy_idle_span *idle, uint32_t after, int64_t length_ns);
void kwhy_tally_divide_again(struct kwhy_tally *tally);
/* Posts `share` of the time of activities by kind. */
void kwhy_tally_count_kinds(
	struct kwhy_tally *tally, const int64_t kind_ns[KWHY_ACTIVITY_KIND_COUNT], double share);

/* What a saving must reach against the window and the energy of the run. */
void kwhy_finding_set_least(const struct kwhy_detect_context *context, int64_t window_ns, double recorded_nj,
	struct kwhy_finding *out);
/* Adds a complete finding when its saving is large enough. */
KWHY_MUST_USE enum kwhy_status kwhy_findings_add(
	const struct kwhy_detect_context *context, const struct kwhy_finding *finding);

/* Where rows are lost, adds behind a saving's assumption what that does to it. */
void kwhy_saving_tell_lost(
	const struct kwhy_detect_context *context, struct kwhy_saving *saving, const char *effect);

/* A place with its words (evidence.c), which lie in the findings' arena; `what` NULL: no memory. */
struct kwhy_evidence kwhy_occurrence_evidence(
	const struct kwhy_detect_context *context, const struct kwhy_occurrence *occurrence);

#endif

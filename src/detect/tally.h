/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_DETECT_TALLY_H
#define KWHY_DETECT_TALLY_H

#include "detect/detect.h"
#include "detect/energy.h"
#include "detect/view.h"
#include "model/host_wait.h"

/* An occurrence of a finding before its sentence is written. Unused fields: KWHY_NONE. */
struct kwhy_occurrence {
	int64_t start_ns, end_ns;
	uint32_t row;	    /* the activity */
	uint32_t row_after; /* an activity after it */
	uint32_t call;	    /* the API call that issued the activity, or that is the waste itself */
	uint32_t wait;	    /* the API call that waited for the activity */
	uint32_t range;	    /* the host range whose work the activity did, for its name and shape */
	bool host;	    /* the host did something other than issue work: the sentence names its range */
};

struct kwhy_occurrence kwhy_occurrence_at(int64_t start_ns, int64_t end_ns);

struct kwhy_idle_span {
	int64_t start_ns, end_ns;
};

/*
 * The sums of one detector on one device. The detector marks activities and adds intervals of host time and
 * gaps; kwhy_tally_finish() makes one finding of them:
 *   cost = union of the marked activities + idle device time in those intervals and gaps,
 * two disjoint parts, so it never exceeds the window. The first failure is kept and returned by
 * kwhy_tally_finish().
 */
struct kwhy_tally {
	const struct kwhy_detect_context *context;
	uint32_t device;
	enum kwhy_status status;
	uint64_t count;	      /* number that the title shows */
	size_t marked_count;  /* number of marked activities */
	double kept_total_ns; /* time that the marked activities would still take after the cure */

	struct kwhy_idle_span *spans; /* intervals of host time that overlap idle time */
	size_t span_count, span_capacity;

	struct kwhy_energy_source source;
	struct kwhy_energy_ci90 gap_energy; /* energy of the parts of gaps */
	int64_t gap_ns, gap_kept_ns; /* idle time of the parts of gaps, and how much of it would remain */

	/* The same time by category: marked activities by kind, idle time by what the host did then. */
	int64_t category_ns[KWHY_CATEGORY_COUNT];
	struct kwhy_host_wait host;
	bool is_partly_exposed; /* the counted activities are exposed for less than half of their time */
	bool takes_host_first;	/* parts of gaps count time of the host outside calls before time inside calls
				 */

	struct kwhy_occurrence *occurrences; /* min-heap by length: the longest ones so far */
	size_t occurrence_count, occurrence_capacity;
};

/* Starts a tally of the context's device, whose marks it clears. */
void kwhy_tally_init(struct kwhy_tally *tally, const struct kwhy_detect_context *context);

/*
 * Marks an activity as part of the waste. After the cure it would still take kept_ns. Marking it again has no
 * effect.
 */
void kwhy_tally_mark(struct kwhy_tally *tally, size_t row, double kept_ns);
/* Counts the device's idle time inside [start_ns, end_ns) as waste; overlapping intervals count once. */
void kwhy_tally_idle(struct kwhy_tally *tally, int64_t start_ns, int64_t end_ns);
/*
 * Counts as waste the idle time right after an activity that the host waited for, if the device idles then:
 * at most as long as the host was blocked, since otherwise it would be ahead by that time. `wait` is
 * KWHY_NONE or equals `call` where the call itself blocked. Returns the end of the counted idle time, or of
 * the activity.
 */
int64_t kwhy_tally_idle_after(struct kwhy_tally *tally, size_t row, uint32_t call, uint32_t wait);
/*
 * Counts length_ns of one gap as waste, of which kept_ns would remain. Gaps must be given in the order of
 * time, each at most once, and not overlap intervals given to kwhy_tally_idle().
 */
void kwhy_tally_gap(struct kwhy_tally *tally, const struct kwhy_gap *gap, int64_t length_ns, int64_t kept_ns);
/* Adds a candidate for the evidence, which shows the longest ones. */
void kwhy_tally_add_occurrence(struct kwhy_tally *tally, struct kwhy_occurrence occurrence);

/*
 * Marks every activity that `match` accepts. Counts, and adds as evidence, those that run for at least half
 * of their time while no activity of the kinds in `covers` runs; where there are no such activities, those
 * that do so for less.
 */
typedef bool kwhy_tally_match(const struct kwhy_tally *tally, size_t row);
void kwhy_tally_mark_exposed(struct kwhy_tally *tally, unsigned covers, kwhy_tally_match *match);
/* "ran with no", with a note where that is less than half of their time; "kernel running" follows. */
const char *kwhy_tally_exposed_words(const struct kwhy_tally *tally);

/* The words of a finding and the bounds of its saving. */
struct kwhy_finding_terms {
	const char *title;	/* in the findings' arena */
	const char *assumption; /* in the findings' arena, or a literal */
	const char *cure;	/* in the findings' arena; NULL: the cure in the table of detectors */
	const char *change;	/* as in struct kwhy_finding */
	unsigned covers;	/* kinds that hide a marked activity: removing a hidden one saves no time */
	bool exposed_only; /* time during which marked activities are hidden is not part of the cost either */
	bool work_remains; /* the work is still done, so a saved second saves only idle power */
	unsigned hiding_kinds; /* if not 0: the saving is at most the time of these kinds that hides nothing
				  yet */
	double kept_share;     /* share of the whole cost that would remain */
	double idle_energy_share; /* share of the idle energy that the cure saves */
	bool frees_device;	  /* the saving is time of the device; the run is no shorter */
};

#define KWHY_KIND(kind) (1u << KWHY_ACTIVITY_##kind)
#define KWHY_KINDS_ALL ((1u << KWHY_ACTIVITY_KIND_COUNT) - 1)
#define KWHY_KINDS_COMPUTE (KWHY_KIND(KERNEL) | KWHY_KIND(GRAPH))

struct kwhy_finding_terms kwhy_finding_terms_default(void);

/* Adds the finding unless it is empty or saves too little. Always frees the tally's memory. */
KWHY_MUST_USE enum kwhy_status kwhy_tally_finish(struct kwhy_tally *tally, struct kwhy_finding_terms verdict);
/* Frees the tally without a finding; returns its first failure. */
KWHY_MUST_USE enum kwhy_status kwhy_tally_drop(struct kwhy_tally *tally);

/*
 * Formats words for the title and the assumption, in the findings' arena; NULL makes kwhy_tally_finish() fail
 * for lack of memory.
 */
char *kwhy_tally_words(const struct kwhy_tally *tally, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * The title with the source line from which most of the marked activities were issued, as far as host ranges
 * name lines: "...; 12 of 15 launches whose line is known in backward (train.py:18)". The title itself where
 * none is known; NULL: out of memory. (place.c)
 */
const char *kwhy_tally_title_with_place(const struct kwhy_tally *tally, const char *title);

/* "CURE: each gap closes to the smallest before queued work here, 1.2 us", or that the gaps vanish. */
char *kwhy_tally_floor_words(const struct kwhy_tally *tally, const char *cure);

/* Threshold of the running detector by its name in the detector's table row. */
static inline double kwhy_tally_threshold(const struct kwhy_tally *tally, const char *name)
{
	return kwhy_detect_threshold(tally->context, name);
}

/*
 * Adds length_ns of the idle interval before row `after` to the categories of what the host did in it.
 * Intervals must come in the order of time, which restarts after kwhy_tally_divide_again().
 * (tally_categories.c)
 */
void kwhy_tally_divide_idle(
	struct kwhy_tally *tally, const struct kwhy_idle_span *idle, uint32_t after, int64_t length_ns);
void kwhy_tally_divide_again(struct kwhy_tally *tally);
/* Adds `share` of the time of activities to the categories of their kinds. */
void kwhy_tally_count_kinds(
	struct kwhy_tally *tally, const int64_t kind_ns[KWHY_ACTIVITY_KIND_COUNT], double share);

/* Sets the least saving that a finding must reach, from the window and the energy of the run. */
void kwhy_finding_set_least(const struct kwhy_detect_context *context, int64_t window_ns, double recorded_nj,
	struct kwhy_finding *out);
/* Adds a complete finding if its saving is large enough. */
KWHY_MUST_USE enum kwhy_status kwhy_findings_add(
	const struct kwhy_detect_context *context, const struct kwhy_finding *finding);

/* Where rows are lost, appends the effect on the saving to its assumption. */
void kwhy_saving_tell_lost(
	const struct kwhy_detect_context *context, struct kwhy_saving *saving, const char *effect);

/* An occurrence with its sentence (evidence.c), in the findings' arena; `what` NULL: out of memory. */
struct kwhy_evidence kwhy_occurrence_evidence(
	const struct kwhy_detect_context *context, const struct kwhy_occurrence *occurrence);

#endif

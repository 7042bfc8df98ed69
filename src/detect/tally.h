/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_DETECT_TALLY_H
#define KWHY_DETECT_TALLY_H

#include "detect/detect.h"
#include "detect/energy.h"
#include "detect/view.h"
#include "model/host_wait.h"

/*
 * An occurrence of a finding as a detector describes it; kwhy_occurrence_evidence() makes the sentence about
 * it. Indices that do not apply are KWHY_NONE.
 */
struct kwhy_occurrence {
	int64_t start_ns, end_ns;
	uint32_t row;	    /* activity that the sentence is about */
	uint32_t row_after; /* later activity, which the sentence also names */
	uint32_t call;	    /* API call that issued the activity, or that is itself the waste */
	uint32_t wait;	    /* the API call that waited for the activity */
	uint32_t range; /* host range of the operator that launched the activity; the sentence has its name
			   and shape */
	bool host; /* the host did something other than issue work; the sentence then names the host range of
		      that time */
};

struct kwhy_occurrence kwhy_occurrence_at(int64_t start_ns, int64_t end_ns);

struct kwhy_idle_span {
	int64_t start_ns, end_ns;
};

/*
 * The sums of one detector on one device. The detector marks activities as waste, and adds idle gaps and
 * intervals of host time. kwhy_tally_finish() makes one finding of them, whose cost is the length of the
 * union of the marked activities plus the device's idle time in the gaps and intervals. These two parts are
 * disjoint, so the cost never exceeds the device's window. The first failure is kept in `status`, and
 * kwhy_tally_finish() returns it.
 */
struct kwhy_tally {
	const struct kwhy_detect_context *context;
	uint32_t device;
	enum kwhy_status status;
	uint64_t count;	      /* number of occurrences that the title shows */
	size_t marked_count;  /* number of marked activities */
	double kept_total_ns; /* sum over the marked activities of the time in ns that each would still take
				 with the cure */

	struct kwhy_idle_span *spans; /* intervals of host time; the device's idle time in them is waste */
	size_t span_count, span_capacity;

	struct kwhy_energy_source source;
	/*
	 * energy of the idle time given to kwhy_tally_gap(); for a part of a gap, that part's share of the
	 * gap's energy
	 */
	struct kwhy_energy_ci90 gap_energy;
	/*
	 * gap_ns: idle time given to kwhy_tally_gap(); gap_kept_ns: the part of it that would remain with the
	 * cure
	 */
	int64_t gap_ns, gap_kept_ns;

	/*
	 * The time of the finding by category: marked activities by their kind, idle time by what the host
	 * did meanwhile.
	 */
	int64_t category_ns[KWHY_CATEGORY_COUNT];
	struct kwhy_host_wait host;
	/*
	 * true: no marked activity is exposed (not hidden by other work) for half of its time or more, so the
	 * counted activities are exposed for less than half of their time
	 */
	bool is_partly_exposed;
	/*
	 * used if only a part of a gap is waste, to divide that part among categories. true: the part
	 * consists first of the host's time outside of calls, and if that is not enough, also of its time in
	 * launch and waiting calls; false: first of its time in launch and waiting calls, then of that
	 * outside of calls. Time in allocations comes last in both cases.
	 */
	bool takes_host_first;

	struct kwhy_occurrence
		*occurrences; /* min-heap by length that holds the longest occurrences so far */
	size_t occurrence_count, occurrence_capacity;
};

/* Initialises a tally for the context's device, and clears the marks of that device's activities. */
void kwhy_tally_init(struct kwhy_tally *tally, const struct kwhy_detect_context *context);

/*
 * Marks an activity as waste, which with the cure would still take kept_ns. Marking it again has no effect.
 */
void kwhy_tally_mark(struct kwhy_tally *tally, size_t row, double kept_ns);
/*
 * Counts the device's idle time in [start_ns, end_ns) as waste. Idle time that lies in several such
 * intervals counts once.
 */
void kwhy_tally_idle(struct kwhy_tally *tally, int64_t start_ns, int64_t end_ns);
/*
 * Counts as waste the device's idle time right after the activity `row`, for whose end the host waited. It
 * counts at most the sum of the lengths of `call`, which issued the activity, and `wait`, since without
 * blocking the host would issue the next work earlier by that time. `wait` is KWHY_NONE or equals `call` if
 * the issuing call itself blocked. Returns the end of the counted idle time or, if none counts, the end of
 * the activity.
 */
int64_t kwhy_tally_idle_after(struct kwhy_tally *tally, size_t row, uint32_t call, uint32_t wait);
/*
 * Counts length_ns of one gap as waste, of which kept_ns would remain with the cure. Gaps must be given in
 * the order of time, each at most once. They must not overlap intervals given to kwhy_tally_idle().
 */
void kwhy_tally_gap(struct kwhy_tally *tally, const struct kwhy_gap *gap, int64_t length_ns, int64_t kept_ns);
/* Adds an occurrence to the evidence, which keeps the longest ones. */
void kwhy_tally_add_occurrence(struct kwhy_tally *tally, struct kwhy_occurrence occurrence);

/*
 * Marks every activity that `match` accepts. Counts, and takes as evidence, each marked activity for at least
 * half of whose time no activity of the kinds in `covers` (bits 1 << enum kwhy_activity_kind) runs. If there
 * is none, counts each for a part of whose time none runs.
 */
typedef bool kwhy_tally_match(const struct kwhy_tally *tally, size_t row);
void kwhy_tally_mark_exposed(struct kwhy_tally *tally, unsigned covers, kwhy_tally_match *match);
/*
 * Words for a title, which continues with "kernel running": "ran with no" or, if is_partly_exposed, "ran for
 * less than half their time with no".
 */
const char *kwhy_tally_exposed_words(const struct kwhy_tally *tally);

/* The words of a finding, and the parameters from which its cost and saving are computed. */
struct kwhy_finding_terms {
	const char *title; /* allocated in the findings' arena */
	/* the title without the source position, for the first screen; NULL: the title has none */
	const char *headline;
	struct kwhy_finding_place place;
	const char *assumption; /* in the findings' arena, or a literal */
	/* allocated in the findings' arena; NULL: the cure that the detector's table states */
	const char *cure;
	/* id of the change of `kwhy whatif` that is the cure, as in struct kwhy_finding */
	const char *change;
	/*
	 * bits of the kinds of activity that hide a marked activity: removing it saves no time while one of
	 * them runs
	 */
	unsigned covers;
	/* true: the cost includes only the time in which marked activities are not hidden (`covers`) */
	bool exposed_only;
	/* true: the same work is done in less time, so a saved second saves only its energy at idle power */
	bool work_remains;
	/*
	 * bits of the kinds of activity behind which marked activities could be hidden; if not 0, the saving
	 * is at most the time in which these run and hide no marked activity yet
	 */
	unsigned hiding_kinds;
	/*
	 * share that would remain with the cure of that part of the cost that the kept_ns of activities and
	 * gaps do not state as remaining
	 */
	double kept_share;
	double idle_energy_share; /* share of the energy of the saved idle time that the cure saves */
	/* true: the run becomes no shorter, but the device is free for other work during the saved time */
	bool frees_device;
};

#define KWHY_KIND(kind) (1u << KWHY_ACTIVITY_##kind)
#define KWHY_KINDS_ALL ((1u << KWHY_ACTIVITY_KIND_COUNT) - 1)
#define KWHY_KINDS_COMPUTE (KWHY_KIND(KERNEL) | KWHY_KIND(GRAPH))

struct kwhy_finding_terms kwhy_finding_terms_default(void);

/*
 * Makes the finding of the tally and adds it, unless it costs nothing or saves less than the option
 * min_gain_ratio. Always frees the tally's memory.
 */
KWHY_MUST_USE enum kwhy_status kwhy_tally_finish(struct kwhy_tally *tally, struct kwhy_finding_terms verdict);
/* Frees the tally without adding a finding; returns the tally's first failure. */
KWHY_MUST_USE enum kwhy_status kwhy_tally_drop(struct kwhy_tally *tally);

/*
 * Formats text for the title or the assumption, in the findings' arena. If the text is NULL,
 * kwhy_tally_finish() fails with out of memory.
 */
char *kwhy_tally_words(const struct kwhy_tally *tally, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Sets the place of a finding to the source line from which most of the marked activities were issued, and
 * appends it to the title: "...; 12 of 15 launches whose line is known in backward (train.py:18)". Does
 * nothing if no host range states source lines. Sets the title to NULL if out of memory. (place.c)
 */
void kwhy_tally_add_place(const struct kwhy_tally *tally, struct kwhy_finding *finding);

/*
 * Text in the findings' arena on what remains of gaps with the cure: "CURE: each gap closes to the smallest
 * before queued work here, 1.2 us" or, if the device has no gap before work that was already queued, that the
 * gaps vanish.
 */
char *kwhy_tally_floor_words(const struct kwhy_tally *tally, const char *cure);

/* Value of a threshold of the running detector, found by its name. */
static inline double kwhy_tally_threshold(const struct kwhy_tally *tally, const char *name)
{
	return kwhy_detect_threshold(tally->context, name);
}

/*
 * Divides length_ns of the idle interval `idle`, which ends with the start of activity `after`, among
 * category_ns, by what the host did in the interval. Intervals must come in the order of time; after
 * kwhy_tally_divide_again() they may start from the beginning. (tally_categories.c)
 */
void kwhy_tally_divide_idle(
	struct kwhy_tally *tally, const struct kwhy_idle_span *idle, uint32_t after, int64_t length_ns);
void kwhy_tally_divide_again(struct kwhy_tally *tally);
/* Adds `share` times kind_ns, the times by kind of activity, to the categories of these kinds. */
void kwhy_tally_count_kinds(
	struct kwhy_tally *tally, const int64_t kind_ns[KWHY_ACTIVITY_KIND_COUNT], double share);

/*
 * Sets the limits below which a finding is dropped: least_ns is the option min_gain_ratio times window_ns,
 * least_nj is min_gain_ratio times recorded_nj.
 */
void kwhy_finding_set_least(const struct kwhy_detect_context *context, int64_t window_ns, double recorded_nj,
	struct kwhy_finding *out);
/* Adds a complete finding, unless it saves less than both its least_ns and its least_nj. */
KWHY_MUST_USE enum kwhy_status kwhy_findings_add(
	const struct kwhy_detect_context *context, const struct kwhy_finding *finding);

/*
 * If activities were lost in recording, appends "; rows are lost, and EFFECT" to the assumption of the
 * saving.
 */
void kwhy_saving_tell_lost(
	const struct kwhy_detect_context *context, struct kwhy_saving *saving, const char *effect);

/* An occurrence with its sentence, in the findings' arena; `what` is NULL if out of memory. (evidence.c) */
struct kwhy_evidence kwhy_occurrence_evidence(
	const struct kwhy_detect_context *context, const struct kwhy_occurrence *occurrence);

#endif

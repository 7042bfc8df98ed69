/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_DETECT_DETECT_H
#define KWHY_DETECT_DETECT_H

#include "base/status.h"
#include "model/finding.h"
#include "model/ledger.h"
#include "model/profile.h"

/* A threshold that a user may set: --threshold ID.NAME=VALUE. */
struct kwhy_threshold {
	const char *name;	 /* "max_bytes" */
	double value;		 /* default */
	const char *description; /* with its unit */
};

enum { KWHY_DETECTOR_THRESHOLDS = 4 };

struct kwhy_detector;
struct kwhy_detect_options;
struct kwhy_detect_view;

/* What every detector sees; all of it read-only but `findings` and the view's marks. */
struct kwhy_detect_context {
	const struct kwhy_recording *recording;
	const struct kwhy_ledger *ledger;
	const struct kwhy_profile *profile;  /* NULL: none */
	uint32_t device;		     /* the one looked at; every detector sees each device in turn */
	const struct kwhy_detect_view *view; /* detect/view.h */
	const struct kwhy_detector *detector;
	const struct kwhy_detect_options *options;
	const double *thresholds; /* of this detector, in its table's order */
	struct kwhy_findings *findings;
	struct kwhy_error *error;
};

struct kwhy_detector {
	const char *id;	   /* "small-copies" */
	const char *title; /* "Small copies" */
	const char *cure;
	enum kwhy_status (*run)(const struct kwhy_detect_context *context);
	struct kwhy_threshold thresholds[KWHY_DETECTOR_THRESHOLDS]; /* ends with a NULL name */
};

/* The constant table of all detectors. */
extern const struct kwhy_detector kwhy_detectors[];
extern const size_t kwhy_detector_count;

struct kwhy_detect_options {
	double min_gain_ratio;	       /* silent below this share of the window; 0.01 */
	size_t evidence_limit;	       /* top places kept for each finding; 5 */
	const char *const *thresholds; /* "ID.NAME=VALUE" */
	size_t threshold_count;
};

struct kwhy_detect_options kwhy_detect_options_default(void);

/*
 * Runs every detector over a finished recording. `ledger` and `profile` may be NULL. Thresholds that name
 * no detector or no threshold of it, or are no number, are KWHY_E_USAGE with the choices.
 */
KWHY_MUST_USE enum kwhy_status kwhy_detect_run(const struct kwhy_recording *recording,
	const struct kwhy_ledger *ledger, const struct kwhy_profile *profile,
	const struct kwhy_detect_options *options, struct kwhy_findings **out, struct kwhy_error *error);
void kwhy_findings_free(struct kwhy_findings *findings);

/* Largest saving first: by energy where every finding has one, else by time. */
void kwhy_findings_sort(struct kwhy_findings *findings);

#endif

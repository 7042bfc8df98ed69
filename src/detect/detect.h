/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_DETECT_DETECT_H
#define KWHY_DETECT_DETECT_H

#include "base/status.h"
#include "model/finding.h"
#include "model/ledger.h"
#include "model/profile.h"

/* A threshold that users can set: --threshold ID.NAME=VALUE. */
struct kwhy_threshold {
	const char *name; /* id of the threshold, such as "max_bytes" */
	double value;	  /* default value */
	/* unit of the value, and what the threshold limits: "bytes; copies below are small" */
	const char *description;
};

enum { KWHY_DETECTOR_THRESHOLDS = 4 };

struct kwhy_detector;
struct kwhy_detect_options;
struct kwhy_detect_view;

/*
 * What every detector gets. Detectors write only to `findings`, `error` and the scratch arrays of the view.
 */
struct kwhy_detect_context {
	const struct kwhy_recording *recording;
	const struct kwhy_ledger *ledger;
	const struct kwhy_profile *profile;  /* NULL: no machine profile */
	uint32_t device;		     /* device that is searched; detectors run once for each device */
	const struct kwhy_detect_view *view; /* data that all detectors share (detect/view.h) */
	const struct kwhy_detector *detector;
	const struct kwhy_detect_options *options;
	const double *thresholds; /* values of this detector's thresholds, in the order of `thresholds` in
				     struct kwhy_detector */
	struct kwhy_findings *findings;
	struct kwhy_error *error;
};

struct kwhy_detector {
	const char *id;	   /* identifies the detector in options and reports, such as "small-copies" */
	const char *title; /* such as "Small copies" */
	const char *cure;
	enum kwhy_status (*run)(const struct kwhy_detect_context *context);
	struct kwhy_threshold thresholds[KWHY_DETECTOR_THRESHOLDS]; /* an unused entry has a NULL name */
};

/*
 * Value of a threshold of the running detector, found by its name; NAN: the detector has no threshold of that
 * name.
 */
double kwhy_detect_threshold(const struct kwhy_detect_context *context, const char *name);

/* The table of all detectors. */
extern const struct kwhy_detector kwhy_detectors[];
extern const size_t kwhy_detector_count;

struct kwhy_detect_options {
	/*
	 * a finding is left out if it saves less than this share of the time of its device's window and less
	 * than this share of the energy of the run; default 0.01
	 */
	double min_gain_ratio;
	size_t evidence_limit; /* largest number of occurrences that are kept as evidence for a finding; the
				  longest ones are kept; default 5 */
	const char *const *thresholds; /* each of the form "ID.NAME=VALUE" */
	size_t threshold_count;
};

struct kwhy_detect_options kwhy_detect_options_default(void);

/*
 * Runs every detector over a finished recording. `ledger` and `profile` may be NULL. Fails with
 * KWHY_E_USAGE and lists the valid names if an entry of `thresholds` names no detector, names no threshold
 * of that detector, or has no number as its value.
 */
KWHY_MUST_USE enum kwhy_status kwhy_detect_run(const struct kwhy_recording *recording,
	const struct kwhy_ledger *ledger, const struct kwhy_profile *profile,
	const struct kwhy_detect_options *options, struct kwhy_findings **out, struct kwhy_error *error);
void kwhy_findings_free(struct kwhy_findings *findings);

/*
 * Sorts findings by saving, largest first: by energy if that is known for all findings, else by time.
 * Findings of a device for which others wait (`leads`) come before all others.
 */
void kwhy_findings_sort(struct kwhy_findings *findings);

#endif

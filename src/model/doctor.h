/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_DOCTOR_H
#define KWHY_MODEL_DOCTOR_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Verdict of a check of this machine's settings. */

enum kwhy_doctor_verdict {
	KWHY_DOCTOR_GOOD,
	KWHY_DOCTOR_ADVICE,
	KWHY_DOCTOR_UNKNOWN,
	KWHY_DOCTOR_VERDICT_COUNT
};

/*
 * One check with its result. Strings live as long as the report; titles, effects and sources are constants.
 */
struct kwhy_doctor_check {
	const char *id;	   /* "persistence"; an id keeps its meaning across versions */
	const char *title; /* "persistence mode" */
	int32_t gpu;	   /* number of the GPU in the driver; -1: a check of the machine */
	enum kwhy_doctor_verdict verdict;
	const char *fact;   /* what was found, or why it is unknown */
	const char *effect; /* what a bad setting costs */
	const char *source; /* reference for the effect */
	const char *cure;   /* what to change; NULL unless the verdict is KWHY_DOCTOR_ADVICE */
	bool installation;  /* the check is of kwhy's own parts and what they need, not of a setting of the
			       machine */
	bool minor; /* the check is of an environment variable that is not set; text reports show it only with
		       --verbose */
};

struct kwhy_doctor_gpu {
	int32_t index;
	const char *name, *uuid, *pci_address; /* NULL: unknown */
};

struct kwhy_doctor_report {
	struct kwhy_arena arena;
	struct kwhy_doctor_gpu *gpus;
	struct kwhy_doctor_check *checks;
	size_t gpu_count, check_count, check_capacity;
	const char *no_gpu; /* why no GPU was found; NULL: at least one GPU was found */
};

/* Number of checks with this verdict. */
static inline size_t kwhy_doctor_count(
	const struct kwhy_doctor_report *report, enum kwhy_doctor_verdict verdict)
{
	size_t count = 0;

	for (size_t i = 0; i < report->check_count; i++)
		count += report->checks[i].verdict == verdict;
	return count;
}

#endif

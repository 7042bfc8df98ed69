/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_DOCTOR_H
#define KWHY_MODEL_DOCTOR_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What was looked at on this machine, and what could be changed. */

enum kwhy_doctor_verdict {
	KWHY_DOCTOR_GOOD,
	KWHY_DOCTOR_ADVICE,
	KWHY_DOCTOR_UNKNOWN,
	KWHY_DOCTOR_VERDICT_COUNT
};

/* One check with its result. Strings live as long as the report; words of a check are constants. */
struct kwhy_doctor_check {
	const char *id;	   /* "persistence"; never changes its meaning */
	const char *title; /* "persistence mode" */
	int32_t gpu;	   /* as the driver numbers it; -1: of the machine */
	enum kwhy_doctor_verdict verdict;
	const char *fact;   /* what is, or why it is not known */
	const char *effect; /* what it costs when it is not good */
	const char *source; /* who says so */
	const char *cure;   /* NULL unless the verdict is advice */
	bool minor;	    /* good because nothing was set: not worth a line of its own */
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
	const char *no_gpu; /* why there are none, NULL where there are */
};

/* How many checks have that verdict. */
static inline size_t kwhy_doctor_count(
	const struct kwhy_doctor_report *report, enum kwhy_doctor_verdict verdict)
{
	size_t count = 0;

	for (size_t i = 0; i < report->check_count; i++)
		count += report->checks[i].verdict == verdict;
	return count;
}

#endif

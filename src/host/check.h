/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_HOST_CHECK_H
#define KWHY_HOST_CHECK_H

#include "host/facts.h"
#include "model/doctor.h"

/* Arguments and results of the function that evaluates a check. */
struct kwhy_judging {
	const struct kwhy_host_facts *facts;
	const struct kwhy_host_gpu *gpu; /* NULL: the check concerns the machine */
	struct kwhy_doctor_check *check;
	struct kwhy_arena *arena;
};

/*
 * A kind of check. `cure` is the end of the advice; "{gpu}" in it is replaced by the GPU's number. `judge`
 * evaluates the check and sets its verdict and fact by kwhy_judge().
 */
struct kwhy_check_kind {
	const char *id, *title, *effect, *source, *cure;
	void (*judge)(const struct kwhy_judging *judging);
};

/* Tables of checks; each ends with a row whose id is NULL. */
extern const struct kwhy_check_kind kwhy_gpu_checks[], kwhy_machine_checks[], kwhy_installation_checks[];

/* An environment variable of which some values make programs slower. */
struct kwhy_variable_kind {
	const char *name, *id;
	const char *costly; /* values that make programs slower, separated by blanks; NULL: any value */
	const char *effect, *source, *cure;
};
extern const struct kwhy_variable_kind kwhy_variables[];

void kwhy_judge(const struct kwhy_judging *judging, enum kwhy_doctor_verdict verdict, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif

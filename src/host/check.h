/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_HOST_CHECK_H
#define KWHY_HOST_CHECK_H

#include "host/facts.h"
#include "model/doctor.h"

/* Arguments of the function that evaluates a check, and `check`, to which it writes the result. */
struct kwhy_judging {
	const struct kwhy_host_facts *facts;
	const struct kwhy_host_gpu *gpu; /* the GPU to check; NULL: it is a check of the machine */
	struct kwhy_doctor_check *check;
	struct kwhy_arena *arena;
};

/*
 * One kind of check. `title`, `effect` and `source` are copied to its result. `cure`: what to do if the
 * verdict is advice; "{gpu}" in it is replaced by the number of the GPU; NULL: the verdict is never advice.
 * `judge` evaluates the check and must call kwhy_judge() once, which sets verdict and fact.
 */
struct kwhy_check_kind {
	const char *id, *title, *effect, *source, *cure;
	void (*judge)(const struct kwhy_judging *judging);
};

/* The checks of each GPU, of the machine and of kwhy's installation; each array ends with an id of NULL. */
extern const struct kwhy_check_kind kwhy_gpu_checks[], kwhy_machine_checks[], kwhy_installation_checks[];

/* An environment variable that makes programs slower if it has certain values. */
struct kwhy_variable_kind {
	const char *name, *id;
	const char *costly; /* these values, separated by blanks; NULL: any value but an empty one */
	const char *effect, *source, *cure;
};
extern const struct kwhy_variable_kind kwhy_variables[];

void kwhy_judge(const struct kwhy_judging *judging, enum kwhy_doctor_verdict verdict, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif

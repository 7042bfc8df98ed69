/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_HOST_DOCTOR_H
#define KWHY_HOST_DOCTOR_H

#include "base/status.h"
#include "model/doctor.h"

struct kwhy_doctor_request {
	const char *root; /* before /sys, /proc and the like; NULL: "" */
	int64_t gpu;	  /* that GPU alone; -1: all */
};

/*
 * Looks at the machine, its GPUs, and the environment that a program started from here would get. Changes
 * nothing; reads files, NVML and hwloc, and takes well under a second. A thing that cannot be read is a check
 * with the verdict "unknown" and the reason. KWHY_E_USAGE: no such GPU. End with kwhy_doctor_done(), also
 * after a failure.
 */
KWHY_MUST_USE enum kwhy_status kwhy_doctor_run(
	const struct kwhy_doctor_request *request, struct kwhy_doctor_report *out, struct kwhy_error *error);
void kwhy_doctor_done(struct kwhy_doctor_report *report);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_HOST_DOCTOR_H
#define KWHY_HOST_DOCTOR_H

#include "base/status.h"
#include "model/doctor.h"

struct kwhy_doctor_request {
	const char *root; /* prefix of /sys, /proc and other paths; NULL: "" */
	int64_t gpu;	  /* number of the only GPU to check; -1: all GPUs */
	size_t further;	  /* number of checks that the caller will add; `checks` gets the capacity for them */
};

/*
 * Checks the machine, its GPUs, and the environment variables that a program started by this process would
 * get. It only reads files and queries NVML and hwloc, which takes well under a second. What cannot be read
 * becomes a check with the verdict "unknown" and the reason. KWHY_E_USAGE: the GPU does not exist. End with
 * kwhy_doctor_done(), also after a failure.
 */
KWHY_MUST_USE enum kwhy_status kwhy_doctor_run(
	const struct kwhy_doctor_request *request, struct kwhy_doctor_report *out, struct kwhy_error *error);
void kwhy_doctor_done(struct kwhy_doctor_report *report);

#endif

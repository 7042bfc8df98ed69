/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_HOST_DOCTOR_H
#define KWHY_HOST_DOCTOR_H

#include "base/status.h"
#include "model/doctor.h"

struct kwhy_doctor_request {
	const char
		*root;	/* text that is put before the path of each file that is read, for tests; NULL: "" */
	int64_t gpu;	/* number, in NVML, of the only GPU to check; -1: all GPUs */
	size_t further; /* number of checks that the caller will append to out->checks, for which memory is
			   allocated */
};

/*
 * Checks the machine, its GPUs, the environment variables that a program started by this process would
 * inherit, and the installation of kwhy. It only reads files, queries NVML and hwloc, and loads the libraries
 * of CUDA and NCCL, and takes well under a second. A fact that cannot be read gives a check with the verdict
 * "unknown" and the reason. KWHY_E_USAGE: the GPU does not exist. Call kwhy_doctor_done() afterwards, also
 * after a failure.
 */
KWHY_MUST_USE enum kwhy_status kwhy_doctor_run(
	const struct kwhy_doctor_request *request, struct kwhy_doctor_report *out, struct kwhy_error *error);
void kwhy_doctor_done(struct kwhy_doctor_report *report);

#endif

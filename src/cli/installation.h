/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_INSTALLATION_H
#define KWHY_CLI_INSTALLATION_H

#include "base/status.h"
#include "model/doctor.h"

/* Checks of kwhy's own parts that may be missing from an installation; each says what to do. */

enum { KWHY_INSTALLATION_CHECKS = 2 };

/*
 * Adds these checks to a report. The request of the report must have reserved capacity for the checks
 * (`further` in struct kwhy_doctor_request).
 */
KWHY_MUST_USE enum kwhy_status kwhy_installation_check(
	struct kwhy_doctor_report *report, struct kwhy_error *error);

#endif

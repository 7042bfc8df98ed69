/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_INSTALLATION_H
#define KWHY_CLI_INSTALLATION_H

#include "base/status.h"
#include "model/doctor.h"

/*
 * Checks of `kwhy doctor` for parts of kwhy that may be missing from an installation: machine profiles and
 * the injected library.
 */

enum { KWHY_INSTALLATION_CHECKS = 2 };

/*
 * Adds these KWHY_INSTALLATION_CHECKS checks to a report. The report must have been made with capacity for
 * them (`further` in struct kwhy_doctor_request).
 */
KWHY_MUST_USE enum kwhy_status kwhy_installation_check(
	struct kwhy_doctor_report *report, struct kwhy_error *error);

#endif

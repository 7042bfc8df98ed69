/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_INSTALLATION_H
#define KWHY_CLI_INSTALLATION_H

#include "base/status.h"
#include "model/doctor.h"

/* Checks of kwhy's own parts: what a copy of the program may lack, with what to do about it. */

enum { KWHY_INSTALLATION_CHECKS = 2 };

/* Adds them to a report that has room for them (`further` of its request). */
KWHY_MUST_USE enum kwhy_status kwhy_installation_check(
	struct kwhy_doctor_report *report, struct kwhy_error *error);

#endif

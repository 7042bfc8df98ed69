/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_DOCTOR_H
#define KWHY_REPORT_DOCTOR_H

#include "base/status.h"
#include "base/text.h"
#include "model/doctor.h"
#include "report/report.h"

/*
 * Write the checks of `kwhy doctor` and their verdicts as text and as JSON (docs/formats/doctor.schema.json).
 */
KWHY_MUST_USE enum kwhy_status kwhy_doctor_text(const struct kwhy_doctor_report *report,
	const struct kwhy_text_style *style, struct kwhy_text *out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_doctor_json(
	const struct kwhy_doctor_report *report, struct kwhy_text *out, struct kwhy_error *error);

#endif

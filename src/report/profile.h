/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_PROFILE_H
#define KWHY_REPORT_PROFILE_H

#include "base/text.h"
#include "model/profile.h"
#include "report/report.h"

/* Write a machine profile as JSON (docs/formats/profile.md) and as a summary 80 columns wide. */
KWHY_MUST_USE enum kwhy_status kwhy_report_profile_json(
	const struct kwhy_profile *profile, struct kwhy_text *out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_report_profile_text(const struct kwhy_profile *profile,
	const struct kwhy_text_style *style, struct kwhy_text *out, struct kwhy_error *error);

/*
 * Describes the power sensor: "20.0 ms samples through a low-pass of 14.5 ms ± 1.5 ms (2026-11-21, driver
 * 580.159.04)", where ± is a standard deviation and the date that of the measurement. Writes "" if the period
 * or the time constant is unknown. Returns `out`.
 */
#define KWHY_PROFILE_METER_BYTES 160
const char *kwhy_report_profile_meter(char out[KWHY_PROFILE_METER_BYTES], const struct kwhy_profile *profile);

#endif

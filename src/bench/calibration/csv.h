/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_CALIBRATION_CSV_H
#define KWHY_BENCH_CALIBRATION_CSV_H

#include "base/text.h"
#include "bench/calibration/calibration.h"

/* What a self-test saw, as CSV, for analysis elsewhere; times are Unix nanoseconds (docs/man/kwhy-calibrate).
 */
enum kwhy_calibration_table {
	KWHY_CALIBRATION_POWER,	  /* power CSV: every reading of every meter */
	KWHY_CALIBRATION_GAUGES,  /* clocks, temperatures, throttle reasons */
	KWHY_CALIBRATION_PHASES,  /* what was done when */
	KWHY_CALIBRATION_PULSES,  /* when each kernel really ran */
	KWHY_CALIBRATION_MACHINE, /* the device, and what calls cost: key,value,spread */
	KWHY_CALIBRATION_TABLE_COUNT
};

/* "power.csv" */
const char *kwhy_calibration_table_name(enum kwhy_calibration_table table);

void kwhy_calibration_csv(
	const struct kwhy_calibration *calibration, enum kwhy_calibration_table table, struct kwhy_text *out);

/* Reads the tables back from the files of a folder. KWHY_E_INPUT names file, line and what is wrong. */
KWHY_MUST_USE enum kwhy_status kwhy_calibration_read(
	const char *folder, struct kwhy_calibration **out, struct kwhy_error *error);

#endif

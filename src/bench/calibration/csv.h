/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_CALIBRATION_CSV_H
#define KWHY_BENCH_CALIBRATION_CSV_H

#include "base/text.h"
#include "bench/calibration/calibration.h"

/*
 * The CSV files that hold the results of a self-test (docs/man/kwhy-calibrate), for evaluation by other
 * programs. Times are Unix nanoseconds.
 */
enum kwhy_calibration_table {
	KWHY_CALIBRATION_POWER,	  /* every reading of every meter, in the format of docs/formats/csv.md */
	KWHY_CALIBRATION_GAUGES,  /* readings of clock rates, temperatures and throttle reasons */
	KWHY_CALIBRATION_PHASES,  /* the phases of the self-test */
	KWHY_CALIBRATION_PULSES,  /* measured start and end of each kernel */
	KWHY_CALIBRATION_MACHINE, /* facts about the device and costs of calls, in columns key,value,spread */
	KWHY_CALIBRATION_TABLE_COUNT
};

/* File name of a table, such as "power.csv". */
const char *kwhy_calibration_table_name(enum kwhy_calibration_table table);

void kwhy_calibration_csv(
	const struct kwhy_calibration *calibration, enum kwhy_calibration_table table, struct kwhy_text *out);

/*
 * Reads the tables back from the files of a folder. KWHY_E_INPUT: a file is invalid; the message names the
 * file, the line and the error.
 */
KWHY_MUST_USE enum kwhy_status kwhy_calibration_read(
	const char *folder, struct kwhy_calibration **out, struct kwhy_error *error);

#endif

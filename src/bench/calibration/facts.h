/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_CALIBRATION_FACTS_H
#define KWHY_BENCH_CALIBRATION_FACTS_H

#include "bench/calibration/calibration.h"

/*
 * A fact: a single value in a calibration, such as the number of multiprocessors or the time of a launch,
 * with the key that names it in machine.csv. The writer and the reader of that file use the same list.
 */
enum kwhy_fact_kind { KWHY_FACT_TEXT, KWHY_FACT_COUNT, KWHY_FACT_INTEGER, KWHY_FACT_MEASURED };

struct kwhy_calibration_fact {
	const char *key;
	enum kwhy_fact_kind kind;
	void *place; /* address of the value: char[text_bytes], uint32_t, int64_t or struct kwhy_measured,
			according to its kind */
	size_t text_bytes; /* size of the text in bytes; only for KWHY_FACT_TEXT */
};

enum { KWHY_CALIBRATION_FACTS_MAX = 24 };

/* Fills out[] with the calibration's facts and returns their number. */
size_t kwhy_calibration_facts(
	struct kwhy_calibration *calibration, struct kwhy_calibration_fact out[KWHY_CALIBRATION_FACTS_MAX]);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_CALIBRATION_FACTS_H
#define KWHY_BENCH_CALIBRATION_FACTS_H

#include "bench/calibration/calibration.h"

/*
 * All single values of a calibration with their names, in one list that both the writer and the reader of the
 * CSV use.
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

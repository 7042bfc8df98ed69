/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_POWER_ROW_H
#define KWHY_MODEL_POWER_ROW_H

#include "base/decimal.h"
#include "base/span.h"
#include "model/meter.h"

#include <stdbool.h>
#include <stdint.h>

/* The columns of power CSV (docs/formats/csv.md). */
enum kwhy_power_column {
	KWHY_POWER_COLUMN_TIME,
	KWHY_POWER_COLUMN_DEVICE,
	KWHY_POWER_COLUMN_SOURCE,
	KWHY_POWER_COLUMN_VALUE,
	KWHY_POWER_COLUMN_COUNT
};

const char *kwhy_power_column_name(enum kwhy_power_column column); /* "time_ns" */
bool kwhy_power_column_is_required(enum kwhy_power_column column);

enum { KWHY_POWER_DEVICES_MAX = 1024 }; /* device numbers are 0 to 1023 */

struct kwhy_power_row {
	enum kwhy_meter meter;
	uint32_t domain;
	int32_t device; /* number of the device; -1: a meter of the host, or a meter of the user that names no
			   device */
	bool has_value; /* false: the value is empty, and the row has no reading */
	int64_t time_ns; /* time on the file's clock */
	int64_t value;	 /* reading in the unit of the meter */
};

/* Why a row is invalid: the column with the invalid text, and words that follow this text in a message. */
struct kwhy_power_wrong {
	enum kwhy_power_column column;
	/* large enough for the list of all meters' names, which is the longest message */
	char words[32 + KWHY_METER_COUNT * (KWHY_METER_NAME_BYTES + 4)];
};

/*
 * Reads the fields of a row; the field of a missing column is empty. False: the row is invalid, *out is
 * unchanged, and *out_wrong says why.
 */
bool kwhy_power_row_read(const struct kwhy_span fields[KWHY_POWER_COLUMN_COUNT], struct kwhy_power_row *out,
	struct kwhy_power_wrong *out_wrong);

#endif

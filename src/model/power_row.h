/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_POWER_ROW_H
#define KWHY_MODEL_POWER_ROW_H

#include "base/decimal.h"
#include "base/span.h"
#include "model/meter.h"

#include <stdbool.h>
#include <stdint.h>

/* A row of power CSV (docs/formats/csv.md), whoever reads the file: all of it, or while it grows. */
enum kwhy_power_column {
	KWHY_POWER_COLUMN_TIME,
	KWHY_POWER_COLUMN_DEVICE,
	KWHY_POWER_COLUMN_SOURCE,
	KWHY_POWER_COLUMN_VALUE,
	KWHY_POWER_COLUMN_COUNT
};

const char *kwhy_power_column_name(enum kwhy_power_column column); /* "time_ns" */
bool kwhy_power_column_is_required(enum kwhy_power_column column);

enum { KWHY_POWER_DEVICES_MAX = 1024 }; /* numbers from 0 */

struct kwhy_power_row {
	enum kwhy_meter meter;
	uint32_t domain;
	int32_t device;	 /* -1: none, the host's */
	bool has_value;	 /* an empty value is no reading */
	int64_t time_ns; /* on the file's clock */
	int64_t value;	 /* in the unit of its meter */
};

/* Why a row is none: what stands in a column, and words to stand after that. */
struct kwhy_power_wrong {
	enum kwhy_power_column column;
	char words[32 + KWHY_METER_COUNT * (KWHY_METER_NAME_BYTES + 4)]; /* a list of all meters at most */
};

/* Reads the fields of a row, a missing column's being empty. False: *out is untouched. */
bool kwhy_power_row_read(const struct kwhy_span fields[KWHY_POWER_COLUMN_COUNT], struct kwhy_power_row *out,
	struct kwhy_power_wrong *out_wrong);

#endif

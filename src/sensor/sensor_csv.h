/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SENSOR_SENSOR_CSV_H
#define KWHY_SENSOR_SENSOR_CSV_H

#include "sensor/sensor.h"

/*
 * Writes readings of meters as power CSV (docs/formats/csv.md), which `kwhy report --power` and --power-file
 * read. Only one thread at a time may use it; the sampler runs concurrently. Times are Unix time by the
 * relation of the clocks at the opening, so setting the clock later moves no reading. Wraps of counters are
 * undone where their range is known. Gauges are left out, because the format has none.
 */
struct kwhy_sensor_csv;

/* Creates the file, replacing an existing one; fails if it cannot be written to. The sensors are borrowed. */
KWHY_MUST_USE enum kwhy_status kwhy_sensor_csv_open(const char *path, const struct kwhy_sensors *sensors,
	struct kwhy_sensor_csv **out, struct kwhy_error *error);

/*
 * Writes the readings since the last call. Call it about once a second, before the channels overwrite
 * readings. After a failed write nothing more is written, and closing reports the failure.
 */
void kwhy_sensor_csv_drain(struct kwhy_sensor_csv *csv);

/*
 * Number of readings that were overwritten before they were written; a comment in the file marks each place.
 */
uint64_t kwhy_sensor_csv_lost(const struct kwhy_sensor_csv *csv);

/* Drains, ends the file and frees. Fails if any part of the file could not be written. NULL is allowed. */
KWHY_MUST_USE enum kwhy_status kwhy_sensor_csv_close(struct kwhy_sensor_csv *csv, struct kwhy_error *error);

#endif

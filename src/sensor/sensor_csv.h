/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SENSOR_SENSOR_CSV_H
#define KWHY_SENSOR_SENSOR_CSV_H

#include "sensor/sensor.h"

/*
 * Keeps what meters show as power CSV (docs/formats/csv.md), as `kwhy report --power` and --power-file read
 * it. One thread at a time; the sampler runs beside it. Times are Unix time by the relation of the clocks at
 * the opening, so that a clock that is set meanwhile moves no reading; wraps of counters whose end is known
 * are undone. Gauges are not in the format and left out.
 */
struct kwhy_sensor_csv;

/* Begins the file, replacing one that is there; what cannot be written to is refused. The sensors are
 * borrowed.
 */
KWHY_MUST_USE enum kwhy_status kwhy_sensor_csv_open(const char *path, const struct kwhy_sensors *sensors,
	struct kwhy_sensor_csv **out, struct kwhy_error *error);

/*
 * Writes what has come since; to be called within the history of the channels, about once a second. Once a
 * write has failed nothing more is written; closing tells it.
 */
void kwhy_sensor_csv_drain(struct kwhy_sensor_csv *csv);

/* Readings that were overwritten before they were taken; a comment in the file says where. */
uint64_t kwhy_sensor_csv_lost(const struct kwhy_sensor_csv *csv);

/* Drains, ends the file and frees; fails when any of it could not be written. NULL is allowed. */
KWHY_MUST_USE enum kwhy_status kwhy_sensor_csv_close(struct kwhy_sensor_csv *csv, struct kwhy_error *error);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SENSOR_SENSOR_CSV_H
#define KWHY_SENSOR_SENSOR_CSV_H

#include "sensor/sensor.h"

/*
 * Writes readings of meters as power CSV (docs/formats/csv.md), which `kwhy report --power` and --power-file
 * read. Only one thread at a time may use it; the sampler may run at the same time. Times are converted to
 * Unix time by the relation of the clocks when the file was opened, so that they stay consistent if the clock
 * is set later. Wraps of counters whose range is known are undone, so their values rise past that range.
 * Gauges are left out, because the format has none.
 */
struct kwhy_sensor_csv;

/*
 * Creates the file or replaces an existing one. Fails if it cannot be written to. The sensors are borrowed.
 */
KWHY_MUST_USE enum kwhy_status kwhy_sensor_csv_open(const char *path, const struct kwhy_sensors *sensors,
	struct kwhy_sensor_csv **out, struct kwhy_error *error);

/*
 * Writes the readings that came since the last call. Call it about once a second, before the channels
 * overwrite readings. After a write has failed, it writes nothing more, and kwhy_sensor_csv_close() reports
 * the failure.
 */
void kwhy_sensor_csv_drain(struct kwhy_sensor_csv *csv);

/*
 * Gets the number of readings that were overwritten in their channels before they could be written. In the
 * file, a comment marks each place at which readings are missing.
 */
uint64_t kwhy_sensor_csv_lost(const struct kwhy_sensor_csv *csv);

/*
 * Writes the remaining readings, ends the file and frees `csv`. Fails if any part of the file could not be
 * written. `csv` may be NULL.
 */
KWHY_MUST_USE enum kwhy_status kwhy_sensor_csv_close(struct kwhy_sensor_csv *csv, struct kwhy_error *error);

#endif

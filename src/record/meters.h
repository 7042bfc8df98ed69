/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_RECORD_METERS_H
#define KWHY_RECORD_METERS_H

#include "model/recording.h"
#include "recording/wire.h"
#include "sensor/sensor.h"

/*
 * The file of a recording that kwhy itself writes: readings of the machine's meters and gauges while the
 * command runs, and records about the command. Only one thread at a time may use it; the thread that samples
 * the sensors may run concurrently. Times are of CLOCK_MONOTONIC.
 */
struct kwhy_record_meters;

struct kwhy_record_meters_request {
	const char *path;     /* path of the file, which must not exist */
	const char *command;  /* command line in a shell's syntax */
	const char *producer; /* program that records: "kwhy record 1.2" */
	uint64_t limit_bytes; /* largest size of the file; 0: no limit */
};

/* Creates the file and writes records of clock, process, devices and sources. The sensors are borrowed. */
KWHY_MUST_USE enum kwhy_status kwhy_record_meters_open(const struct kwhy_record_meters_request *request,
	const struct kwhy_sensors *sensors, struct kwhy_record_meters **out, struct kwhy_error *error);

/* From now on only readings whose times lie in this window are written. INT64_MIN, INT64_MAX: no bound. */
void kwhy_record_meters_window(struct kwhy_record_meters *meters, int64_t start_mono_ns, int64_t end_mono_ns);

/*
 * Writes the readings since the last call to the file, so that they are kept if this process is killed. Call
 * it about once a second: the sensors' ring buffers overwrite readings that were not written in time.
 */
KWHY_MUST_USE enum kwhy_status kwhy_record_meters_drain(
	struct kwhy_record_meters *meters, struct kwhy_error *error);

void kwhy_record_meters_add_work(
	struct kwhy_record_meters *meters, int64_t time_mono_ns, const char *unit, double count);
void kwhy_record_meters_add_note(
	struct kwhy_record_meters *meters, enum kwhy_note_kind kind, const char *id, const char *text);
/*
 * Adds a record of what the recording itself has cost so far: time in ns, and a count. Of several records of
 * a kind, the last one is valid.
 */
void kwhy_record_meters_add_cost(
	struct kwhy_record_meters *meters, enum kwhy_wire_cost_kind kind, int64_t spent_ns, uint64_t count);
/*
 * kwhy_record_meters_begin_run() adds a record that the command starts now, and writes readings as
 * kwhy_record_meters_drain() does. kwhy_record_meters_add_run() adds a record of the command's end; `exit` is
 * its exit status as a shell reports it (128 + signal if a signal killed it).
 */
KWHY_MUST_USE enum kwhy_status kwhy_record_meters_begin_run(
	struct kwhy_record_meters *meters, int64_t start_mono_ns, struct kwhy_error *error);
void kwhy_record_meters_add_run(
	struct kwhy_record_meters *meters, int64_t start_mono_ns, int64_t end_mono_ns, int exit);

/*
 * Writes the last readings and the number of lost records, ends the file and frees the memory, also after a
 * failure. Fails if the file is no longer at its path. NULL is allowed.
 */
KWHY_MUST_USE enum kwhy_status kwhy_record_meters_close(
	struct kwhy_record_meters *meters, struct kwhy_error *error);

#endif

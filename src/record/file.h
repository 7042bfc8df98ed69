/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_RECORD_FILE_H
#define KWHY_RECORD_FILE_H

#include "model/recording.h"
#include "recording/block_writer.h"
#include "sensor/sensor.h"

/*
 * A file of blocks in a recording's folder that is written by kwhy itself, not by the library in the recorded
 * program. Only one thread at a time may use it. A failed write is permanent and is reported by
 * kwhy_record_file_check().
 */
struct kwhy_record_file {
	char *path;
	int fd;
	unsigned char *memory; /* memory that `writer` uses */
	struct kwhy_block_writer writer;
	uint32_t names;
};

/*
 * Creates the file at `path`, which must not exist; limit_bytes 0: no limit of its size. End with
 * kwhy_record_file_release(), also after a failure.
 */
KWHY_MUST_USE enum kwhy_status kwhy_record_file_open(
	struct kwhy_record_file *file, const char *path, uint64_t limit_bytes, struct kwhy_error *error);
void kwhy_record_file_release(struct kwhy_record_file *file);

/* Returns the error of the first write that failed, with what to do about it; KWHY_OK: none did. */
KWHY_MUST_USE enum kwhy_status kwhy_record_file_check(
	const struct kwhy_record_file *file, struct kwhy_error *error);

/* Whether the file is still at its path. If its folder was deleted or moved, the file is no longer there. */
bool kwhy_record_file_is_in_place(const struct kwhy_record_file *file);

/*
 * Writes a NAME record for a text and returns its id; 0 for NULL. Each call writes a new record, even for an
 * equal text, since there are too few texts to search for duplicates.
 */
uint32_t kwhy_record_file_name(struct kwhy_record_file *file, const char *text);

void kwhy_record_file_add_clock(struct kwhy_record_file *file, const struct kwhy_clock_relation *relation);
/* The facts about the process that writes a file, for its PROCESS record. */
struct kwhy_record_process {
	uint32_t command;     /* id from kwhy_record_file_name() of its command line; 0: unknown */
	const char *producer; /* program that records: "kwhy record 1.2" */
	int64_t start_mono_ns;
	bool is_helper; /* the process is no program of the user, but helps its parent to record */
};

/* Adds a PROCESS record of the calling process. */
void kwhy_record_file_add_process(struct kwhy_record_file *file, const struct kwhy_record_process *process);
void kwhy_record_file_add_device(struct kwhy_record_file *file, const struct kwhy_sensor_device *device);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_RECORD_SECTION_READING_H
#define KWHY_RECORD_SECTION_READING_H

#include "base/arena.h"
#include "base/map.h"
#include "base/status.h"
#include "recording/wire.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The records of a growing recording that no section has yet, while the next section is cut. */

/* Where a record goes. */
enum { KWHY_SECTION_NOWHERE = 0, KWHY_SECTION_NOW = 1, KWHY_SECTION_LATER = 2 };

struct kwhy_section_item {
	const void *record; /* in the layout of this version of kwhy */
	int64_t start_ns, end_ns;
	uint32_t correlation;
	uint32_t device; /* number of the device in the reading's `devices`; activities only */
	uint8_t kind;	 /* enum kwhy_wire_kind */
	uint8_t where;
};

struct kwhy_section_name {
	uint32_t id, length;
	const char *bytes;
};

/* The records of one process. All lists lie in the reading's arena. */
struct kwhy_section_writer {
	uint64_t id;
	struct kwhy_section_item *items;
	struct kwhy_section_name *names;
	size_t item_count, name_count;
	bool has_old_clock;    /* an earlier section has a clock of this writer, so later ones are ignored */
	struct kwhy_map later; /* correlations of the activities that go to the rest */
	struct kwhy_map name_of; /* from the id of a name to its index in `names` */
	struct kwhy_map devices; /* from an index of a device in the process to its number in the reading */
};

/* A file of the growing recording, and the offset up to which it has been read. */
struct kwhy_section_file {
	const char *name;
	uint64_t offset;
};

struct kwhy_section_reading {
	struct kwhy_arena arena;
	struct kwhy_section_writer *writers;
	struct kwhy_section_file *files;
	size_t writer_count, file_count;
	struct kwhy_map writer_of;
	struct kwhy_map devices; /* numbers of devices by UUID */
	bool is_rest;		 /* the rest of the last section is being read */
	uint64_t read_bytes;
};

void kwhy_section_reading_done(struct kwhy_section_reading *reading);

/*
 * Reads the rest of the last section (NULL: there is none), and then what the files of the recording have got
 * since.
 */
KWHY_MUST_USE enum kwhy_status kwhy_section_read(struct kwhy_section_reading *reading, const char *recording,
	const char *rest, struct kwhy_error *error);

/* The text of a writer's name; NULL: the name is not known. */
const struct kwhy_section_name *kwhy_section_name(const struct kwhy_section_writer *writer, uint32_t id);

/* Adds a copy of a record to a writer. NULL: out of memory. */
struct kwhy_section_item *kwhy_section_add(struct kwhy_section_reading *reading,
	struct kwhy_section_writer *writer, unsigned kind, const void *record);

/* Writes the records that go to `where` as a recording in the folder, with a file for each process. */
KWHY_MUST_USE enum kwhy_status kwhy_section_write(const struct kwhy_section_reading *reading,
	const char *folder, unsigned where, struct kwhy_error *error);
/* Writes to the folder up to where the files of the recording have been read. */
KWHY_MUST_USE enum kwhy_status kwhy_section_write_offsets(
	const struct kwhy_section_reading *reading, const char *folder, struct kwhy_error *error);

#endif

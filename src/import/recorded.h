/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_RECORDED_H
#define KWHY_IMPORT_RECORDED_H

#include "import/collectives.h"
#include "import/import.h"
#include "import/tracks.h"
#include "recording/block_reader.h"

/*
 * A .kwhy recording while it is read (docs/formats/recording.md), in two walks over its files. The first
 * takes the facts: names, clocks, processes, devices, sources, whatever may stand behind its use. The second
 * takes the rows.
 */

/* A counter's tick: the launcher reads it just before the start of the run and just after its end. */
#define KWHY_RECORDED_TICK_NS 200000000

/* One process that wrote. */
struct kwhy_recorded_writer {
	uint64_t id;
	uint64_t next_sequence, missing_blocks;
	struct kwhy_wire_clock clock; /* its closest relation of the clocks; spread_ns -1: none */
	uint32_t host;		      /* name; 0: not stated */
	uint32_t rank;		      /* KWHY_NONE: unknown */
	uint32_t process;	      /* index in the recording */
	uint64_t overhead_ns;
	bool has_ended;
};

/* A block of facts, kept from the first walk. */
struct kwhy_recorded_fact {
	uint32_t writer; /* index into writers */
	struct kwhy_block block;
};

struct kwhy_recorded {
	struct kwhy_recording *recording;
	const struct kwhy_import_options *options;
	struct kwhy_collectives *collectives;
	struct kwhy_tracks tracks;
	struct kwhy_arena arena;
	struct kwhy_recorded_writer *writers;
	struct kwhy_recorded_fact *facts;
	size_t writer_count, writer_capacity, fact_count, fact_capacity;
	struct kwhy_track_map writer_of; /* id of a writer -> index */
	struct kwhy_track_map names;	 /* (writer, its number) -> name of the recording */
	struct kwhy_track_map devices;	 /* (writer, its number) -> device of the recording */
	struct kwhy_track_map sources;	 /* (writer, its number) -> index into meters */
	struct kwhy_recorded_meter *meters;
	size_t meter_count, meter_capacity;
	uint8_t *kinds; /* of names: 0 not asked yet, 1 kernel, 2 collective */
	size_t kind_count;
	int64_t first_unix_ns; /* earliest time that any writer related its clock at; INT64_MAX: none did */
	uint64_t damaged_bytes, damages, unknown_names, rows;
	int64_t run_start_ns, run_end_ns;	   /* what was to be recorded; start above end: not said */
	int64_t first_reading_ns, last_reading_ns; /* of meters; first above last: none */
	bool is_cut;
};

/* What a reading is of. */
struct kwhy_recorded_meter {
	enum kwhy_meter meter; /* KWHY_METER_COUNT: a gauge, or a meter that is not known here */
	enum kwhy_gauge gauge; /* KWHY_GAUGE_COUNT: a meter, or a gauge that is not known here */
	uint32_t device, domain;
};

/* Index of the writer of that id, added when it is new. */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_writer_of(
	struct kwhy_recorded *recorded, uint64_t id, uint32_t *out, struct kwhy_error *error);

/* A name of a writer as one of the recording; 0 (and counted) when the file never said it. */
uint32_t kwhy_recorded_name(struct kwhy_recorded *recorded, uint32_t writer, uint32_t number);

/*
 * Time of a writer's machine on the recording's clock; KWHY_UNKNOWN_TIME for one that no machine shows, which
 * a recording refuses.
 */
int64_t kwhy_recorded_time(const struct kwhy_recorded *recorded, uint32_t writer, int64_t mono_ns);

/* The device a writer means by a number, added when nothing else is known of it. */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_device(struct kwhy_recorded *recorded, uint32_t writer,
	int32_t index, uint32_t *out, struct kwhy_error *error);

/* First walk: keeps a block of facts. Then, once all are kept: makes them part of the recording. */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_fact_keep(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_block *block, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_recorded_facts_apply(
	struct kwhy_recorded *recorded, struct kwhy_error *error);

/* Second walk: the rows of a block. */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_rows_add(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_block *block, struct kwhy_error *error);

#endif

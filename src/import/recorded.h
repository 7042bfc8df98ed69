/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_RECORDED_H
#define KWHY_IMPORT_RECORDED_H

#include "import/collectives.h"
#include "import/import.h"
#include "import/recorded/symbols.h"
#include "import/tracks.h"
#include "recording/block_reader.h"

/*
 * A .kwhy recording while it is read (docs/formats/recording.md), in two walks over its files. The first
 * takes the facts: names, clocks, processes, devices, sources, whatever may stand behind its use. The second
 * takes the rows.
 */

/* A counter's update: the launcher reads it just before the start of the run and just after its end. */
#define KWHY_RECORDED_FLUSH_NS 200000000
/* What an interpreter takes to end after its use of the device. */
#define KWHY_RECORDED_JUST_BEFORE_NS 1000000000

/* What a writer was asked to leave out, as it said last. */
struct kwhy_recorded_selection {
	bool is_stated;
	uint32_t choice; /* enum kwhy_choice */
	int64_t start_ns, end_ns;
	const char *range;
	double share_ratio;
};

/* A stretch of time in which a writer's process is known, as far as it was launched since `since_ns`. */
struct kwhy_recorded_window {
	uint32_t writer, device; /* KWHY_NONE: all */
	int64_t start_ns, end_ns, since_ns;
};

/* Memory taken from a device, or given back to it. */
struct kwhy_recorded_memory {
	int64_t time_ns, change_bytes;
	uint32_t device, process;
};

/* A launch that kwhy probe repeated. */
struct kwhy_recorded_burst {
	struct kwhy_burst burst;
	uint32_t writer, correlation, tid, context, launch_ns, launched_ns;
	uint32_t stream;  /* of its first repeat, where the program's own launch is lost */
	int64_t first_ns; /* start of the program's own launch; INT64_MAX: it is not in the recording */
};

/* A frame of call stacks, after the one that called it. */
struct kwhy_recorded_frame {
	uint64_t offset;	   /* of native code, in its module; 0: of Python */
	uint32_t caller;	   /* index; KWHY_NONE: none is known */
	uint32_t file, name, line; /* names of the recording; 0: unknown */
	bool is_library;	   /* of an interpreter, framework or driver, not of the program itself */
	bool is_resolved;	   /* native: what it is called has been looked up */
};

/* One process that wrote. */
struct kwhy_recorded_writer {
	uint64_t id;
	uint64_t next_sequence, missing_blocks;
	struct kwhy_wire_clock clock; /* its closest relation of the clocks; width_ns -1: none */
	uint32_t host, boot;	      /* names: of the machine, of its start; 0: not stated */
	uint32_t machine;	      /* index in the recording */
	uint32_t rank;		      /* KWHY_NONE: unknown */
	uint32_t process;	      /* index in the recording */
	struct kwhy_recorded_selection selection;
	struct kwhy_wire_cost costs[KWHY_WIRE_COST_KIND_COUNT];
	int64_t ended_ns; /* where has_ended */
	bool has_ended, has_cost[KWHY_WIRE_COST_KIND_COUNT];
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
	struct kwhy_track_map frames;	 /* (writer, its number) -> index into call_frames */
	struct kwhy_track_map sources;	 /* (writer, its number) -> index into meters */
	struct kwhy_recorded_meter *meters;
	struct kwhy_recorded_window *windows; /* of all writers */
	struct kwhy_recorded_memory *memory;
	struct kwhy_recorded_burst *bursts; /* by process and start */
	struct kwhy_recorded_frame *call_frames;
	struct kwhy_symbols symbols;
	size_t burst_count, burst_capacity, call_frame_count, call_frame_capacity;
	size_t meter_count, meter_capacity, window_count, window_capacity, memory_count, memory_capacity;
	uint8_t *kinds; /* of names: 0 not asked yet, 1 kernel, 2 collective */
	size_t kind_count, earlier_processes, earlier_probed; /* of other traces */
	int64_t first_unix_ns; /* earliest time that any writer related its clock at; INT64_MAX: none did */
	uint64_t damaged_bytes, damages, unknown_names, rows;
	int64_t run_start_ns, run_end_ns; /* what was to be recorded; start above end: not said */
	int64_t begun_ns; /* where the run starts, of which no end may be said; INT64_MIN: not said */
	int64_t first_reading_ns, last_reading_ns; /* of meters; first above last: none */
	bool is_cut;
};

/* What a reading is of. */
struct kwhy_recorded_meter {
	enum kwhy_gauge gauge; /* KWHY_GAUGE_COUNT: a meter, or a gauge that is not known here */
	/* meter KWHY_METER_COUNT: a gauge, or a meter that is not known here */
	struct kwhy_power_source source;
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

/*
 * Once hosts and clocks of all writers are known: those of one machine share its best known relation of the
 * clocks, so that their times fit to the nanosecond, and become a machine of the recording, which may be
 * there already from another file. Writers of one host whose clocks cannot be the same are of machines that
 * have the same name, or of one before and after it started anew.
 */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_machines_apply(
	struct kwhy_recorded *recorded, struct kwhy_error *error);

/* Keeps a fact of which writer's process is known when; its times are those of the recording's clock. */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_window_keep(
	struct kwhy_recorded *recorded, const struct kwhy_recorded_window *window, struct kwhy_error *error);
void kwhy_recorded_selection_keep(
	struct kwhy_recorded *recorded, uint32_t writer, const struct kwhy_wire_selection *selection);

/*
 * After the rows: coverage of each device. Without a selection that of the writers as they state it; else a
 * moment is known that lies in a window of every process that uses the device and may run something then,
 * without the first moments of a window in which a stream still ran what had been launched before it.
 */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_windows_apply(
	struct kwhy_recorded *recorded, struct kwhy_error *error);

/* Keeps a row of memory; after the rows they become what each process held of each device. */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_memory_keep(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_wire_memory *memory, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_recorded_memory_apply(
	struct kwhy_recorded *recorded, struct kwhy_error *error);

/*
 * After the rows, where processes have different ranks: a device is that rank's which did most on it, and
 * nobody's where nothing ran; every process describes all devices that it sees.
 */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_ranks_apply(
	struct kwhy_recorded *recorded, struct kwhy_error *error);

/* What the recording took: the last figure of each kind holds; overheads are rows. */
void kwhy_recorded_cost_keep(
	struct kwhy_recorded *recorded, uint32_t writer, const struct kwhy_wire_cost *cost);
KWHY_MUST_USE enum kwhy_status kwhy_recorded_costs_apply(
	struct kwhy_recorded *recorded, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_recorded_overhead_add(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_wire_overhead *overhead, struct kwhy_error *error);

/* Bursts of kwhy probe, and what was not probed. */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_burst_keep(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_wire_burst *burst, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_recorded_unprobed_keep(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_wire_unprobed *unprobed, struct kwhy_error *error);
/* Once processes are known, before the rows. */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_bursts_sort(
	struct kwhy_recorded *recorded, struct kwhy_error *error);
/* Is a call one of the prober's own? */
bool kwhy_recorded_call_is_probers(
	const struct kwhy_recorded *recorded, uint32_t writer, const struct kwhy_wire_call *call);
/* After the rows: who launched each. */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_bursts_apply(
	struct kwhy_recorded *recorded, struct kwhy_error *error);

/*
 * Frames of call stacks, and the intervals in which threads were in them, which become host ranges: those of
 * the program itself, and the innermost. Once processes are known.
 */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_line_add(struct kwhy_recorded *recorded, uint32_t writer,
	unsigned kind, const void *record, struct kwhy_error *error);

/* The thread of a writer's process, added when it is new. */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_thread(struct kwhy_recorded *recorded, uint32_t writer,
	uint32_t tid, uint32_t *out, struct kwhy_error *error);

/* Second walk: the rows of a block. */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_rows_add(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_block *block, struct kwhy_error *error);

#endif

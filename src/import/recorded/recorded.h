/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_RECORDED_H
#define KWHY_IMPORT_RECORDED_H

#include "import/collectives.h"
#include "import/import.h"
#include "import/recorded/symbols.h"
#include "import/tracks.h"
#include "recording/block_reader.h"

/*
 * A .kwhy recording while it is read (docs/formats/recording.md), in two walks over its files. The first walk
 * reads the facts: names, clocks, processes, devices and sources, which may come after the rows that use
 * them. The second walk reads the rows.
 */

/*
 * Time allowed for an update of an energy counter. The launcher reads the counters just before the start of
 * the run and just after its end.
 */
#define KWHY_RECORDED_FLUSH_NS 200000000
/* Longest time that an interpreter takes to end after its last use of the device. */
#define KWHY_RECORDED_JUST_BEFORE_NS 1000000000

/* The part of a run that a writer was asked to record, as it stated last. */
struct kwhy_recorded_selection {
	bool is_stated;
	uint32_t choice; /* enum kwhy_choice */
	int64_t start_ns, end_ns;
	const char *range;
	double share_ratio;
};

/*
 * An interval in which the activities of a writer's process are known if they were launched since `since_ns`.
 */
struct kwhy_recorded_window {
	uint32_t writer, device; /* `device` KWHY_NONE: all devices */
	int64_t start_ns, end_ns, since_ns;
};

/* Memory allocated on a device (positive) or freed (negative). */
struct kwhy_recorded_memory {
	int64_t time_ns, change_bytes;
	uint32_t device, process;
};

/* A launch that kwhy probe repeated. */
struct kwhy_recorded_burst {
	struct kwhy_burst burst;
	uint32_t writer, correlation, tid, context, launch_ns, launched_ns;
	uint32_t stream;  /* stream of the first repeat, used where the program's own launch is lost */
	uint32_t copies;  /* name of the copies that restore the kernel's memory; KWHY_NONE: they are not
			     repeated alone in any burst of this kernel */
	int64_t first_ns; /* start of the program's own launch; INT64_MAX: the launch is not in the recording
			   */
};

/* A frame of call stacks. Its caller comes before it. */
struct kwhy_recorded_frame {
	uint64_t offset;	   /* offset of native code in its module, bytes; 0: a Python frame */
	uint32_t caller;	   /* index of the calling frame; KWHY_NONE: unknown */
	uint32_t file, name, line; /* file and name are names of the recording; 0: unknown */
	bool is_library;	   /* belongs to an interpreter, framework or driver, not to the program */
	bool is_resolved;	   /* native frame whose symbol has been looked up */
};

/* One process that wrote blocks of the recording. */
struct kwhy_recorded_writer {
	uint64_t id;
	uint64_t next_sequence, missing_blocks;
	struct kwhy_wire_clock clock; /* closest pair of readings of its two clocks; width_ns -1: unknown */
	uint32_t host, boot;	      /* names of the machine and of its boot; 0: not stated */
	uint32_t machine;	      /* index in the recording */
	uint32_t rank;		      /* KWHY_NONE: unknown */
	uint32_t process;	      /* index in the recording */
	struct kwhy_recorded_selection selection;
	struct kwhy_wire_cost costs[KWHY_WIRE_COST_KIND_COUNT];
	int64_t ended_ns; /* valid where has_ended */
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
	struct kwhy_recorded_window *windows; /* known intervals of all writers */
	struct kwhy_recorded_memory *memory;
	struct kwhy_recorded_burst *bursts; /* sorted by process and start */
	struct kwhy_recorded_frame *call_frames;
	struct kwhy_symbols symbols;
	size_t burst_count, burst_capacity, call_frame_count, call_frame_capacity;
	size_t meter_count, meter_capacity, window_count, window_capacity, memory_count, memory_capacity;
	uint8_t *kinds; /* per name: 0: not matched yet, 1: a kernel, 2: a collective */
	size_t kind_count, earlier_processes, earlier_probed; /* counts from traces read before this one */
	int64_t first_unix_ns; /* earliest Unix time at which a writer read both its clocks; INT64_MAX:
				  unknown */
	uint64_t damaged_bytes, damages, unknown_names, rows;
	int64_t run_start_ns, run_end_ns; /* interval that was to be recorded; start above end: unknown */
	int64_t begun_ns; /* start of the run, which may be known without its end; INT64_MIN: unknown */
	int64_t first_reading_ns,
		last_reading_ns; /* first and last reading of any meter; first above last: no readings */
	bool is_cut;
};

/* The meter or gauge that a reading is of. */
struct kwhy_recorded_meter {
	enum kwhy_gauge gauge; /* KWHY_GAUGE_COUNT: a meter, or a gauge unknown to this version */
	/* its meter is KWHY_METER_COUNT for a gauge, and for a meter unknown to this version */
	struct kwhy_power_source source;
};

/* Gives the index of the writer with that id, which is added when it is new. */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_writer_of(
	struct kwhy_recorded *recorded, uint64_t id, uint32_t *out, struct kwhy_error *error);

/*
 * Translates a writer's number of a name to a name of the recording. 0: the file does not define that number,
 * which is counted.
 */
uint32_t kwhy_recorded_name(struct kwhy_recorded *recorded, uint32_t writer, uint32_t number);

/*
 * Converts a time of a writer's machine to the recording's clock. KWHY_UNKNOWN_TIME: no machine has such a
 * time, and a recording refuses it.
 */
int64_t kwhy_recorded_time(const struct kwhy_recorded *recorded, uint32_t writer, int64_t mono_ns);

/* Gives the device that a writer calls by this index. A device of which nothing else is known is added. */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_device(struct kwhy_recorded *recorded, uint32_t writer,
	int32_t index, uint32_t *out, struct kwhy_error *error);

/*
 * First walk: keeps a block of facts. After it, kwhy_recorded_facts_apply() puts all of them into the
 * recording.
 */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_fact_keep(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_block *block, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_recorded_facts_apply(
	struct kwhy_recorded *recorded, struct kwhy_error *error);

/*
 * Called once hosts and clocks of all writers are known. Writers of one machine share its closest pair of
 * clock readings, so that their times agree to the nanosecond, and become one machine of the recording, which
 * another file may have added before. Writers of one host name whose clocks contradict each other are of two
 * machines with that name, or of one machine before and after a reboot.
 */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_machines_apply(
	struct kwhy_recorded *recorded, struct kwhy_error *error);

/* Keeps an interval in which a writer's process is known. Its times are of the recording's clock. */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_window_keep(
	struct kwhy_recorded *recorded, const struct kwhy_recorded_window *window, struct kwhy_error *error);
void kwhy_recorded_selection_keep(
	struct kwhy_recorded *recorded, uint32_t writer, const struct kwhy_wire_selection *selection);

/*
 * After the rows: sets the coverage of each device. Without a selection it is the coverage that the writers
 * state. With one, a moment is covered when it lies in a window of every process that uses the device and may
 * run something then. The first moments of a window are left out while a stream still ran work that was
 * launched before the window.
 */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_windows_apply(
	struct kwhy_recorded *recorded, struct kwhy_error *error);

/*
 * Keeps a row of memory. After all rows, kwhy_recorded_memory_apply() computes how much of each device each
 * process held.
 */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_memory_keep(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_wire_memory *memory, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_recorded_memory_apply(
	struct kwhy_recorded *recorded, struct kwhy_error *error);

/*
 * After the rows, where processes have different ranks: a device gets the rank that did most on it, and no
 * rank where nothing ran on it. Ranks cannot be read from the descriptions, because every process describes
 * all devices that it sees.
 */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_ranks_apply(
	struct kwhy_recorded *recorded, struct kwhy_error *error);

/* Costs of recording. The last figure of each kind counts; overheads are rows. */
void kwhy_recorded_cost_keep(
	struct kwhy_recorded *recorded, uint32_t writer, const struct kwhy_wire_cost *cost);
KWHY_MUST_USE enum kwhy_status kwhy_recorded_costs_apply(
	struct kwhy_recorded *recorded, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_recorded_overhead_add(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_wire_overhead *overhead, struct kwhy_error *error);

/* Keeps the bursts of kwhy probe, and the launches that it did not probe. */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_burst_keep(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_wire_burst *burst, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_recorded_unprobed_keep(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_wire_unprobed *unprobed, struct kwhy_error *error);
/* Called once processes are known, before the rows. */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_bursts_sort(
	struct kwhy_recorded *recorded, struct kwhy_error *error);
/* True when kwhy probe itself made the call. */
bool kwhy_recorded_call_is_probers(
	const struct kwhy_recorded *recorded, uint32_t writer, const struct kwhy_wire_call *call);
/* After the rows: finds the launch that each burst repeated. */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_bursts_apply(
	struct kwhy_recorded *recorded, struct kwhy_error *error);

/*
 * Adds frames of call stacks, and the intervals that threads spent in them. The intervals of the program's
 * own frames and of the innermost frames become host ranges. Called once processes are known.
 */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_line_add(struct kwhy_recorded *recorded, uint32_t writer,
	unsigned kind, const void *record, struct kwhy_error *error);

/* Gives the thread of a writer's process, which is added when it is new. */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_thread(struct kwhy_recorded *recorded, uint32_t writer,
	uint32_t tid, uint32_t *out, struct kwhy_error *error);

/* Second walk: adds the rows of a block. */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_rows_add(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_block *block, struct kwhy_error *error);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_RECORDED_RECORDED_H
#define KWHY_IMPORT_RECORDED_RECORDED_H

#include "import/collectives.h"
#include "import/import.h"
#include "import/recorded/symbols.h"
#include "import/tracks.h"
#include "recording/block_reader.h"

/*
 * This header declares what the files in recorded/ share while they read a .kwhy recording
 * (docs/formats/recording.md). Its files are read twice. The first pass keeps the facts: names, clocks,
 * processes, devices, sources of readings and so on, which may come after rows that use them. The second pass
 * reads the rows.
 */

/*
 * Longest time in ns from the end of the run to the next update of an energy counter. The launcher reads the
 * counters just before the start of the run and after its end.
 */
#define KWHY_RECORDED_FLUSH_NS 200000000
/*
 * A process that ends less than this many ns before the end of the run counts as having lasted until the end
 * of the run, because interpreters take long to shut down.
 */
#define KWHY_RECORDED_JUST_BEFORE_NS 1000000000

/*
 * The part of a run that a writer was asked to record, as its last record of the kind KWHY_WIRE_SELECTION
 * states.
 */
struct kwhy_recorded_selection {
	bool is_stated;
	uint32_t choice; /* enum kwhy_choice */
	int64_t start_ns, end_ns;
	const char *range;
	double share_ratio;
};

/*
 * An interval in which all activities of a writer's process on a device are recorded, except those launched
 * before `since_ns` (KWHY_UNKNOWN_TIME: no exception).
 */
struct kwhy_recorded_window {
	uint32_t writer, device; /* device KWHY_NONE: all devices */
	int64_t start_ns, end_ns, since_ns;
};

/*
 * A change of the memory that a process holds on a device, bytes: positive for an allocation, negative for a
 * free.
 */
struct kwhy_recorded_memory {
	int64_t time_ns, change_bytes;
	uint32_t device, process;
};

/* A burst: a launch of the program that kwhy probe repeated many times, to measure its power. */
struct kwhy_recorded_burst {
	struct kwhy_burst burst;
	uint32_t writer, correlation, tid, context;
	uint32_t launch_ns, launched_ns; /* start and end of the program's own launch, in ns from the start of
					    the burst; both 0: not stated */
	uint32_t stream; /* stream of the first repeat, used if the program's own launch is not in the
			    recording; KWHY_NONE: unknown */
	/*
	 * Name given to the copies that restore the kernel's memory between the repeats; KWHY_NONE: they keep
	 * their names, because the recording has no burst of these copies alone.
	 */
	uint32_t copies;
	int64_t first_ns; /* start of the program's own launch; INT64_MAX: the launch is not in the recording
			   */
};

/* A frame of a call stack. The frame of its caller comes earlier in the list. */
struct kwhy_recorded_frame {
	uint64_t offset;     /* native frame: offset in its module, bytes; 0: a Python frame */
	uint32_t caller;     /* index of the caller's frame; KWHY_NONE: unknown */
	uint32_t file, name; /* indices in the recording's table of names; 0: unknown */
	uint32_t line;	     /* line number in the file; 0: unknown */
	bool is_library; /* the frame belongs to an interpreter, framework or driver and not to the program */
	bool is_resolved; /* the symbol of this native frame has been looked up */
};

/* One process that wrote blocks of the recording. */
struct kwhy_recorded_writer {
	uint64_t id;
	uint64_t next_sequence, missing_blocks;
	struct kwhy_wire_clock clock; /* the pair of readings of monotonic and Unix time that was read within
					 the shortest time; width_ns -1: none */
	uint32_t host, boot; /* names of the writer's host and of its boot (boot id); 0: not stated */
	uint32_t machine;    /* index of the writer's machine in the recording */
	uint32_t rank;	     /* KWHY_NONE: unknown */
	uint32_t process;    /* index of the writer's process in the recording; KWHY_NONE: not known yet */
	int64_t helps_pid;   /* pid of the process that this writer helps to record; 0: it helps none */
	struct kwhy_recorded_selection selection;
	struct kwhy_wire_cost costs[KWHY_WIRE_COST_KIND_COUNT];
	int64_t ended_ns; /* time of the writer's END record; valid if has_ended */
	bool has_ended, has_cost[KWHY_WIRE_COST_KIND_COUNT];
};

/* A block of facts (devices, sources, ...), copied in the first pass for kwhy_recorded_facts_apply(). */
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
	struct kwhy_track_map writer_of; /* from a writer's id to its index in `writers` */
	struct kwhy_track_map
		names; /* from (writer, the writer's number of a name) to the name in the recording */
	struct kwhy_track_map
		devices; /* from (writer, the writer's index of a device) to the device in the recording */
	struct kwhy_track_map
		frames; /* from (writer, the writer's number of a frame) to the index in call_frames */
	struct kwhy_track_map
		sources; /* from (writer, the writer's id of a source) to the index in `meters` */
	struct kwhy_recorded_meter *meters;
	struct kwhy_recorded_window
		*windows; /* intervals in which all activities of writers' processes were recorded */
	struct kwhy_recorded_memory *memory;
	struct kwhy_recorded_burst *bursts; /* sorted by process, then by start */
	struct kwhy_recorded_frame *call_frames;
	struct kwhy_symbols symbols;
	size_t burst_count, burst_capacity, call_frame_count, call_frame_capacity;
	size_t meter_count, meter_capacity, window_count, window_capacity, memory_count, memory_capacity;
	/*
	 * [kind_count] for each name of the recording, whether kernels of that name are collectives; 0: not
	 * matched yet, 1: no, 2: yes.
	 */
	uint8_t *kinds;
	size_t kind_count, earlier_processes,
		earlier_probed; /* earlier_processes: number of processes in the traces that were read before
				   this one; earlier_probed: number of bursts and unprobed launches in those
				   traces */
	/* Earliest Unix time that a writer read; INT64_MAX: none. */
	int64_t first_unix_ns;
	uint64_t damaged_bytes, damages, unknown_names, rows;
	int64_t run_start_ns, run_end_ns; /* the run, from the first launcher's start to the last one's end;
					     start above end: unknown */
	int64_t begun_ns; /* start of the run, known even if its end is not; INT64_MIN: unknown */
	/* Times of the first and last reading of any meter; first above last: no readings. */
	int64_t first_reading_ns, last_reading_ns;
	bool is_cut;
};

/* The meter or gauge to which a source of readings belongs. */
struct kwhy_recorded_meter {
	enum kwhy_gauge gauge; /* KWHY_GAUGE_COUNT: the source is a meter, or a gauge that this version does
				  not know */
	/*
	 * source.meter is KWHY_METER_COUNT if the source is a gauge, or a meter that this version does not
	 * know.
	 */
	struct kwhy_power_source source;
};

/* Sets *out to the index of the writer with that id; adds the writer if it is new. */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_writer_of(
	struct kwhy_recorded *recorded, uint64_t id, uint32_t *out, struct kwhy_error *error);

/*
 * The recording's name for a writer's number of a name. 0, the empty name: the file does not define the
 * number; unknown_names counts these cases.
 */
uint32_t kwhy_recorded_name(struct kwhy_recorded *recorded, uint32_t writer, uint32_t number);

/*
 * Converts a time of a writer's monotonic clock to ns since the recording's origin. KWHY_UNKNOWN_TIME: the
 * time is negative or the result is out of range.
 */
int64_t kwhy_recorded_time(const struct kwhy_recorded *recorded, uint32_t writer, int64_t mono_ns);

/*
 * Sets *out to the device with this index in a writer's process. If the writer did not describe it, it is
 * added with its index and the writer's rank and machine alone.
 */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_device(struct kwhy_recorded *recorded, uint32_t writer,
	int32_t index, uint32_t *out, struct kwhy_error *error);

/*
 * First pass: keeps a block with facts. After the pass, kwhy_recorded_facts_apply() adds the facts of all
 * blocks to the recording.
 */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_fact_keep(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_block *block, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_recorded_facts_apply(
	struct kwhy_recorded *recorded, struct kwhy_error *error);

/*
 * Assigns writers to machines. Call it when hosts, boots and clocks of all writers are known. All writers of
 * a machine get the one pair of clock readings of them that was read within the shortest time, so that their
 * times agree exactly. A machine may be known from an earlier file. If the clocks of writers with equal names
 * contradict each other by more than 1 s, they are assigned to different machines, and a note says so:
 * several machines have the name, or one was rebooted, or its Unix time was set.
 */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_machines_apply(
	struct kwhy_recorded *recorded, struct kwhy_error *error);

/*
 * kwhy_recorded_window_keep() stores an interval, in times of the recording's clock, in which a writer's
 * activities were recorded. kwhy_recorded_selection_keep() stores which part of the run a writer was asked to
 * record.
 */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_window_keep(
	struct kwhy_recorded *recorded, const struct kwhy_recorded_window *window, struct kwhy_error *error);
void kwhy_recorded_selection_keep(
	struct kwhy_recorded *recorded, uint32_t writer, const struct kwhy_wire_selection *selection);

/*
 * Sets the coverage of each device, the intervals in which everything that ran on it was recorded. Call it
 * after all rows. Without a selection it is the coverage that the writers state. With selections, a moment is
 * covered if it lies in at least one window, and if it lies in a window of each process that uses the device
 * and whose selection contains the moment. A window counts only from the time on at which no stream runs work
 * that was launched before the window.
 */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_windows_apply(
	struct kwhy_recorded *recorded, struct kwhy_error *error);

/*
 * kwhy_recorded_memory_keep() keeps a change of the memory that a process holds on a device. After all rows,
 * kwhy_recorded_memory_apply() sums the changes to the memory held over time.
 */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_memory_keep(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_wire_memory *memory, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_recorded_memory_apply(
	struct kwhy_recorded *recorded, struct kwhy_error *error);

/*
 * Sets the ranks of devices if processes have different ranks; call it after all rows. A device gets the rank
 * of the process with the most activities on it; none if no process with a rank ran anything on it. The
 * devices that a process describes do not show its rank, because it describes all devices that it sees.
 */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_ranks_apply(
	struct kwhy_recorded *recorded, struct kwhy_error *error);

/*
 * kwhy_recorded_cost_keep() keeps what recording cost a writer in one respect, such as its sampling thread;
 * of several records of one kind by one writer the last one counts. kwhy_recorded_overhead_add() adds an
 * interval in which recording delayed the program.
 */
void kwhy_recorded_cost_keep(
	struct kwhy_recorded *recorded, uint32_t writer, const struct kwhy_wire_cost *cost);
KWHY_MUST_USE enum kwhy_status kwhy_recorded_costs_apply(
	struct kwhy_recorded *recorded, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_recorded_overhead_add(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_wire_overhead *overhead, struct kwhy_error *error);

/* Keep a burst of kwhy probe, and a kernel with launches that kwhy probe did not repeat. */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_burst_keep(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_wire_burst *burst, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_recorded_unprobed_keep(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_wire_unprobed *unprobed, struct kwhy_error *error);
/*
 * Sorts the bursts by process and start. Call it when the processes of all writers are known and before the
 * rows are read.
 */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_bursts_sort(
	struct kwhy_recorded *recorded, struct kwhy_error *error);
/*
 * Whether the program, and not kwhy probe, made a call of thread `tid`. If so, the time that kwhy probe spent
 * in bursts inside the call is removed from *start_ns and *end_ns.
 */
bool kwhy_recorded_call_of_program(const struct kwhy_recorded *recorded, uint32_t writer, uint32_t tid,
	int64_t *start_ns, int64_t *end_ns);
/*
 * Marks the activities that kwhy probe caused, and adds the bursts to the recording. Call it after all rows.
 */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_bursts_apply(
	struct kwhy_recorded *recorded, struct kwhy_error *error);

/*
 * Adds a record of the kind KWHY_WIRE_FRAME, a frame of a call stack, or KWHY_WIRE_SAMPLE, which states that
 * a thread spent an interval in a frame. A sample becomes host ranges: one for each frame of its stack that
 * is the program's own, and one for the innermost frame if that is Python. Call it when processes are known.
 */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_line_add(struct kwhy_recorded *recorded, uint32_t writer,
	unsigned kind, const void *record, struct kwhy_error *error);

/* Sets *out to the thread `tid` of a writer's process; adds the thread if it is new. */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_thread(struct kwhy_recorded *recorded, uint32_t writer,
	uint32_t tid, uint32_t *out, struct kwhy_error *error);

/* Second pass: adds the rows of a block to the recording. */
KWHY_MUST_USE enum kwhy_status kwhy_recorded_rows_add(struct kwhy_recorded *recorded, uint32_t writer,
	const struct kwhy_block *block, struct kwhy_error *error);

#endif

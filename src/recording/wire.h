/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_RECORDING_WIRE_H
#define KWHY_RECORDING_WIRE_H

#include <stdint.h>

/*
 * The bytes of a .kwhy recording (docs/formats/recording.md): a sequence of blocks, each with a header and
 * records of one kind. Everything is little-endian and aligned to 8 bytes. Times are nanoseconds of
 * CLOCK_MONOTONIC on the machine that recorded; CLOCK records relate them to Unix time. A record refers to a
 * name by an id, which a NAME record of the same writer defines, earlier or later in the file; 0: no name.
 */

#define KWHY_WIRE_MAGIC UINT32_C(0x5948574b) /* the bytes "KWHY" */
#define KWHY_WIRE_VERSION 1
/*
 * Largest payload of a block, stored or decompressed, in bytes. No writer makes larger blocks; a reader
 * treats them as damage.
 */
#define KWHY_WIRE_BLOCK_LIMIT_BYTES (UINT32_C(64) << 20)

enum kwhy_wire_codec { KWHY_WIRE_PLAIN, KWHY_WIRE_ZSTD, KWHY_WIRE_CODEC_COUNT };

struct kwhy_wire_header {
	uint32_t magic;
	uint16_t version;
	uint16_t kind; /* enum kwhy_wire_kind */
	uint32_t record_count;
	uint32_t record_bytes; /* length of each record in the file; 0: each record states its length */
	uint32_t stored_bytes; /* length of the payload in the file, without padding to 8 bytes */
	uint32_t raw_bytes;    /* length of the payload before compression */
	uint16_t codec;	       /* enum kwhy_wire_codec */
	uint16_t zero;
	uint32_t payload_crc32c; /* CRC-32C of the stored_bytes of payload */
	uint64_t writer;	 /* id of the writer, the process that wrote the block */
	uint64_t sequence; /* number of the block among the blocks of its writer, from 0; a gap means lost
			      blocks */
	uint32_t zeros[3];
	uint32_t header_crc32c; /* CRC-32C of the header's 60 bytes before this field */
};

/* Values of a field that mean "unknown", as in model/recording.h. */
#define KWHY_WIRE_UNKNOWN_U16 UINT16_MAX
#define KWHY_WIRE_UNKNOWN_U32 UINT32_MAX
#define KWHY_WIRE_UNKNOWN_U64 UINT64_MAX

struct kwhy_wire_kernel {
	int64_t start_mono_ns, end_mono_ns;
	uint64_t graph_node; /* id of the kernel's node in the graph that launched it; 0: not launched by a
				graph */
	uint32_t name, correlation;
	uint32_t context, stream;
	uint32_t blocks, shared_bytes; /* blocks: of the grid; shared_bytes: shared memory of a block, static
					  plus dynamic */
	uint32_t graph;		       /* id of the graph that launched the kernel; 0: none */
	uint32_t is_graph;	       /* 1: the record stands for the launch of a whole graph */
	uint16_t device, threads_per_block, registers, zero;
};

struct kwhy_wire_copy {
	int64_t start_mono_ns, end_mono_ns;
	uint64_t bytes, graph_node;
	uint32_t correlation, context, stream, zero;
	uint16_t device, src_device,
		dst_device; /* src_device, dst_device: UNKNOWN unless the copy is between devices */
	uint8_t copy_kind;  /* enum kwhy_copy_kind of model/recording.h */
	uint8_t src_memory, dst_memory; /* enum kwhy_memory_kind */
	uint8_t zeros[7];
};

struct kwhy_wire_memset {
	int64_t start_mono_ns, end_mono_ns;
	uint64_t bytes, graph_node;
	uint32_t correlation, context, stream;
	uint16_t device;
	uint8_t memory, zero;
};

/* A call of the CUDA runtime or driver. */
struct kwhy_wire_call {
	int64_t start_mono_ns, end_mono_ns;
	uint32_t name, correlation, thread,
		result; /* thread: the system's thread id; result: the status that the call returned */
};

struct kwhy_wire_range {
	int64_t start_mono_ns,
		end_mono_ns; /* end INT64_MAX: the range had begun and not ended when the recording ended */
	uint32_t name, thread, kind, zero; /* kind: enum kwhy_range_kind */
};

/* An allocation (is_free 0) or free (is_free 1) of device or pinned memory. */
struct kwhy_wire_memory {
	int64_t time_mono_ns;
	uint64_t bytes, address;
	uint32_t correlation;
	uint16_t device;
	uint8_t is_free, memory; /* enum kwhy_memory_kind */
};

/* An interval in which recording itself delayed the program. */
struct kwhy_wire_overhead {
	int64_t start_mono_ns, end_mono_ns;
	uint32_t name, thread;
};

struct kwhy_wire_process {
	int64_t pid, parent_pid, start_mono_ns;
	uint32_t host, command,
		producer;	    /* ids of names: host, command, and program that recorded (producer) */
	uint32_t rank, world_size;  /* UNKNOWN: the program is not distributed */
	uint32_t local_rank_from_1; /* rank among the processes of the run on this machine, plus 1; 0: unknown
				     */
	uint32_t boot;		    /* id of a name: the boot id of the machine; 0: unknown */
	/*
	 * 1: the writer is a helper process: it records for its parent process, and what it records counts as
	 * that of the parent
	 */
	uint32_t is_helper;
};

struct kwhy_wire_device {
	int32_t index; /* number of the device in the recorded process */
	uint32_t name, uuid, sm_count;
	uint32_t threads_per_sm, registers_per_sm, shared_bytes_per_sm, zero;
	uint64_t memory_bytes;
	double memory_rate_bytes_per_s;
	int64_t limit_mw; /* power limit; -1: unknown */
};

/* The source of READING records: one meter or gauge of one device. */
struct kwhy_wire_source {
	uint32_t id;
	/*
	 * id of the name of the meter, such as "nvml.energy_mj", or of the gauge, such as "sm_clock_hz"; one
	 * of them is 0
	 */
	uint32_t meter, gauge;
	uint32_t uuid;	/* id of the name that is the device's UUID; 0: a source of the host */
	int32_t device; /* number of the device in the meter's library (NVML); -1: a source of the host */
	uint32_t domain, label, zero;
	/*
	 * period_ns: time between updates of the meter; 0: unknown. wrap: value from which a counter restarts
	 * at 0; 0: never.
	 */
	int64_t period_ns, wrap;
};

struct kwhy_wire_reading {
	int64_t time_mono_ns, value;
	uint32_t source, zero;
};

struct kwhy_wire_clock {
	int64_t mono_ns, offset_ns, width_ns; /* one pair of clock readings: at mono_ns, Unix time = mono_ns +
						 offset_ns, to within width_ns / 2 */
};

/*
 * How the user limited the recording to parts of the run, so that some intervals are covered and others are
 * not.
 */
enum kwhy_wire_choice {
	KWHY_WIRE_CHOICE_ALL,	/* no limit */
	KWHY_WIRE_CHOICE_TIME,	/* --delay, --duration: between two times */
	KWHY_WIRE_CHOICE_RANGE, /* --range: inside ranges whose name matches a pattern */
	KWHY_WIRE_CHOICE_DUTY,	/* --duty: in windows at random times */
	KWHY_WIRE_CHOICE_COUNT
};

/*
 * From start to end the recording has everything that the writer's process ran on the device, except what was
 * launched before `since_mono_ns` (0: no exception).
 */
struct kwhy_wire_coverage {
	int64_t start_mono_ns, end_mono_ns;
	int32_t device;	 /* -1: all devices */
	uint32_t choice; /* enum kwhy_wire_choice */
	int64_t since_mono_ns;
};

struct kwhy_wire_work {
	int64_t time_mono_ns;
	double count;
	uint32_t unit, zero; /* unit: id of a name such as "tokens" */
};

enum kwhy_wire_loss { KWHY_WIRE_LOSS_DROPPED, KWHY_WIRE_LOSS_FULL, KWHY_WIRE_LOSS_COUNT };
struct kwhy_wire_lost {
	uint64_t records;
	uint32_t reason,
		zero; /* reason: enum kwhy_wire_loss; DROPPED by the profiler, or beyond --max-size (FULL) */
};

struct kwhy_wire_note {
	uint32_t kind, id, text, zero; /* kind: enum kwhy_note_kind; id, text: ids of names */
};

/* The last record of a writer. A killed writer leaves none. */
struct kwhy_wire_end {
	int64_t time_mono_ns;
	uint64_t records; /* number of records that this writer wrote before this one */
};

/*
 * The run of the command that is recorded. One record, with end INT64_MAX, is written before the command
 * starts, another one after it has ended.
 */
struct kwhy_wire_run {
	int64_t start_mono_ns, end_mono_ns; /* start and end of the part of the run that is recorded */
	uint32_t command;		    /* id of a name: the command line */
	uint32_t exit;			    /* exit status as a shell reports it; UNKNOWN before the end */
};

/*
 * The part of its process's run that a writer was asked to record. It is written when the first activity
 * begins, with end INT64_MAX, and again at the end; the last record is valid. The writer also writes a
 * COVERAGE record for each window in which it recorded.
 */
struct kwhy_wire_selection {
	int64_t start_mono_ns, end_mono_ns; /* windows can only be between these times */
	uint32_t choice;    /* enum kwhy_wire_choice; the highest value if the user set several limits */
	uint32_t range;	    /* id of a name: the pattern of --range; 0: none */
	double share_ratio; /* share of the time to record (--duty); NAN: not given */
	int64_t window_ns;  /* mean length of the windows of --duty; 0: not given */
	uint64_t seed;	    /* seed of the random times of the windows */
};

/* What recording itself costs. Of several records of one kind and writer the last is valid. */
enum kwhy_wire_cost_kind {
	KWHY_WIRE_COST_THREAD,	/* processor time of the injected library's own thread */
	KWHY_WIRE_COST_BUFFERS, /* processor time of converting CUPTI's buffers, on other threads */
	KWHY_WIRE_COST_START,	/* time that the program waited until CUPTI had started */
	/*
	 * Time that switching the recording of activities on and off took. With --range the program's threads
	 * waited for it.
	 */
	KWHY_WIRE_COST_SWITCH,
	KWHY_WIRE_COST_FINISH,	 /* time that the program waited at its end for the last records */
	KWHY_WIRE_COST_LAUNCHER, /* processor time of the launcher (kwhy record) during the run, with its
				    sampler thread and its helper processes */
	KWHY_WIRE_COST_SAMPLER,	 /* processor time of the launcher's sampler thread; part of LAUNCHER */
	/*
	 * Not a cost: processor time that all processes used on all CPUs of the machine during the run. Its
	 * `count` is the length of the run in nanoseconds.
	 */
	KWHY_WIRE_COST_MACHINE,
	KWHY_WIRE_COST_KIND_COUNT
};

struct kwhy_wire_cost {
	int64_t spent_ns;
	uint64_t count; /* THREAD: wake-ups; BUFFERS: buffers; SWITCH: switches; SAMPLER: readings; 0: not
			   counted */
	uint32_t kind, zero; /* kind: enum kwhy_wire_cost_kind */
};

/*
 * A burst: a launch of the program that kwhy probe repeated. The burst consists of the activities on the
 * launch's stream that started from the launch to the end of the burst. Of the kernels with the launch's
 * name, the first is the program's own and the others are repeats. Bursts of a process do not overlap.
 */
struct kwhy_wire_burst {
	int64_t start_mono_ns, end_mono_ns; /* start and end of the burst on the host */
	uint64_t saved_bytes;
	uint32_t name, correlation; /* id of the kernel's name, and correlation id of the repeated launch */
	uint32_t context;
	uint32_t thread; /* the system's id of the thread that made the launch and then the burst */
	uint32_t blocks, repeats;
	uint16_t threads_per_block;
	uint8_t form;  /* enum kwhy_burst_form of model/recording.h */
	uint8_t check; /* enum kwhy_burst_check */
	/*
	 * Time from the burst's start to the start and to the end of the program's own launch call; kwhy
	 * probe did nothing in between. If the burst was made after that call had returned, both are the time
	 * at which the program's work had finished.
	 */
	uint32_t launch_ns, launched_ns;
	uint32_t repeated_ns; /* device time of the repeats, without the copies between them */
};

/*
 * Launches of a kernel with one grid and block size that kwhy probe did not repeat, and why. Of several
 * records of one writer with the same kernel and sizes the last is valid.
 */
struct kwhy_wire_unprobed {
	uint64_t launches;
	uint32_t name, reason; /* ids of names: the kernel's, and a text with the reason */
	uint32_t blocks;
	uint16_t threads_per_block, zero;
};

/*
 * A frame of a call stack. Each frame refers to its caller, so the frames of all stacks form a tree. A Python
 * frame has file, function and line. A native frame has in `file` the path of its module and in `offset` its
 * return address, relative to the module's base.
 */
struct kwhy_wire_frame {
	uint64_t offset;     /* native frame: offset in the module, bytes; 0: a Python frame */
	uint32_t id, caller; /* numbers that the writer gives to this frame and to its caller, from 1; caller
				0: unknown, or this is the outermost frame */
	uint32_t file, function; /* ids of names: source file or module, and function */
	uint32_t line, zero;	 /* line 0: unknown */
};

/* The call stack of a thread at the start or end of a CUDA call. */
struct kwhy_wire_sample {
	/*
	 * time_mono_ns: time of the sample, the start or end of a CUDA call. since_mono_ns: start or end of
	 * the same thread's previous CUDA call; 0: there was none. Both are as in CALL records.
	 */
	int64_t time_mono_ns, since_mono_ns;
	uint32_t thread;      /* thread that called CUDA */
	uint32_t of_thread;   /* thread whose call stack `frame` begins: `thread` itself, or a thread that
				 waited for `thread` */
	uint32_t frame, zero; /* frame: the innermost frame */
};

/*
 * What the performance counters of a device counted in an interval. A writer's records of a device are in
 * order of time, and their intervals do not overlap.
 */
struct kwhy_wire_counters {
	int64_t start_mono_ns;
	uint32_t length_ns;
	int32_t device;	 /* number of the device in this writer's DEVICE records */
	float counts[8]; /* index: enum kwhy_perf_counter */
};

/* A time in which the performance counters of a device were enabled. The device draws more power then. */
struct kwhy_wire_counter_window {
	int64_t start_mono_ns, end_mono_ns;
	int32_t device; /* number of the device, as in this writer's DEVICE records */
	uint32_t reserved;
};

/*
 * Start of a NAME record. `length` bytes of the name follow, without NUL, then zeros up to a multiple of 8.
 */
struct kwhy_wire_name {
	uint32_t id, length;
};

/* Kinds of records. New kinds are added at the end; a reader skips kinds that it does not know. */
#define KWHY_WIRE_KINDS(X)      \
	X(KERNEL, kernel)       \
	X(COPY, copy)           \
	X(MEMSET, memset)       \
	X(CALL, call)           \
	X(RANGE, range)         \
	X(MEMORY, memory)       \
	X(OVERHEAD, overhead)   \
	X(PROCESS, process)     \
	X(DEVICE, device)       \
	X(SOURCE, source)       \
	X(READING, reading)     \
	X(CLOCK, clock)         \
	X(COVERAGE, coverage)   \
	X(WORK, work)           \
	X(LOST, lost)           \
	X(NOTE, note)           \
	X(END, end)             \
	X(RUN, run)             \
	X(SELECTION, selection) \
	X(COST, cost)           \
	X(BURST, burst)         \
	X(UNPROBED, unprobed)   \
	X(FRAME, frame)         \
	X(SAMPLE, sample)       \
	X(COUNTERS, counters)   \
	X(COUNTER_WINDOW, counter_window)

enum kwhy_wire_kind {
	KWHY_WIRE_NAME, /* the only kind whose records differ in length */
#define X(kind, record) KWHY_WIRE_##kind,
	KWHY_WIRE_KINDS(X)
#undef X
		KWHY_WIRE_KIND_COUNT
};

const char *kwhy_wire_kind_name(
	unsigned kind); /* such as "kernel"; "unknown kind": no kind has this number */
uint32_t kwhy_wire_record_bytes(
	unsigned kind); /* length in bytes of a record of this kind, in this version of kwhy; 0: the kind's
			   records differ in length, or the kind is unknown */

_Static_assert(sizeof(struct kwhy_wire_header) == 64, "the header is part of the format");
_Static_assert(sizeof(struct kwhy_wire_kernel) == 64 && sizeof(struct kwhy_wire_copy) == 64, "format");
_Static_assert(sizeof(struct kwhy_wire_memset) == 48 && sizeof(struct kwhy_wire_call) == 32, "format");
_Static_assert(sizeof(struct kwhy_wire_range) == 32 && sizeof(struct kwhy_wire_memory) == 32, "format");
_Static_assert(sizeof(struct kwhy_wire_overhead) == 24 && sizeof(struct kwhy_wire_process) == 56, "format");
_Static_assert(sizeof(struct kwhy_wire_device) == 56 && sizeof(struct kwhy_wire_source) == 48, "format");
_Static_assert(sizeof(struct kwhy_wire_reading) == 24 && sizeof(struct kwhy_wire_clock) == 24, "format");
_Static_assert(sizeof(struct kwhy_wire_coverage) == 32 && sizeof(struct kwhy_wire_work) == 24, "format");
_Static_assert(sizeof(struct kwhy_wire_lost) == 16 && sizeof(struct kwhy_wire_note) == 16, "format");
_Static_assert(sizeof(struct kwhy_wire_run) == 24, "format");
_Static_assert(sizeof(struct kwhy_wire_selection) == 48 && sizeof(struct kwhy_wire_cost) == 24, "format");
_Static_assert(sizeof(struct kwhy_wire_burst) == 64 && sizeof(struct kwhy_wire_unprobed) == 24, "format");
_Static_assert(sizeof(struct kwhy_wire_frame) == 32 && sizeof(struct kwhy_wire_sample) == 32, "format");
_Static_assert(
	sizeof(struct kwhy_wire_counters) == 48 && sizeof(struct kwhy_wire_counter_window) == 24, "format");
_Static_assert(sizeof(struct kwhy_wire_end) == 16 && sizeof(struct kwhy_wire_name) == 8, "format");

#endif

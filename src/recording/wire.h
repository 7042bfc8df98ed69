/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_RECORDING_WIRE_H
#define KWHY_RECORDING_WIRE_H

#include <stdint.h>

/*
 * The bytes of a .kwhy recording (docs/formats/recording.md): blocks, one after the other, each a header and
 * records of one kind. Everything is little-endian and aligned to 8 bytes. Times are nanoseconds of
 * CLOCK_MONOTONIC of the machine that recorded; records of kind CLOCK relate it to Unix time. A name is a
 * number that a NAME record of the same writer explains, before or after its use; 0 is no name.
 */

#define KWHY_WIRE_MAGIC UINT32_C(0x5948574b) /* "KWHY" */
#define KWHY_WIRE_VERSION 1
/* Larger blocks are damage: nobody writes them. */
#define KWHY_WIRE_BLOCK_LIMIT_BYTES (UINT32_C(64) << 20)

enum kwhy_wire_codec { KWHY_WIRE_PLAIN, KWHY_WIRE_ZSTD, KWHY_WIRE_CODEC_COUNT };

struct kwhy_wire_header {
	uint32_t magic;
	uint16_t version;
	uint16_t kind; /* enum kwhy_wire_kind */
	uint32_t record_count;
	uint32_t record_bytes; /* of one record, as its writer knew it; 0: records say their own length */
	uint32_t stored_bytes; /* of the payload in the file, without the zeros that align the next block */
	uint32_t raw_bytes;    /* of the payload once decompressed */
	uint16_t codec;	       /* enum kwhy_wire_codec */
	uint16_t zero;
	uint32_t payload_crc32c; /* of the stored payload */
	uint64_t writer;	 /* who wrote it: one process of a run */
	uint64_t sequence;	 /* 0, 1, 2, ... of that writer: a gap is a loss */
	uint32_t zeros[3];
	uint32_t header_crc32c; /* of the 60 bytes before */
};

/* Unknown values: as in model/recording.h. */
#define KWHY_WIRE_UNKNOWN_U16 UINT16_MAX
#define KWHY_WIRE_UNKNOWN_U32 UINT32_MAX
#define KWHY_WIRE_UNKNOWN_U64 UINT64_MAX

struct kwhy_wire_kernel {
	int64_t start_mono_ns, end_mono_ns;
	uint64_t graph_node; /* 0: not launched by a graph */
	uint32_t name, correlation;
	uint32_t context, stream;
	uint32_t blocks, shared_bytes; /* of the grid; static and dynamic, per block */
	uint32_t graph;		       /* 0: none */
	uint32_t is_graph;	       /* 1: one row for a whole graph launch */
	uint16_t device, threads_per_block, registers, zero;
};

struct kwhy_wire_copy {
	int64_t start_mono_ns, end_mono_ns;
	uint64_t bytes, graph_node;
	uint32_t correlation, context, stream, zero;
	uint16_t device, src_device, dst_device; /* src, dst: UNKNOWN unless a peer copy */
	uint8_t copy_kind;			 /* enum kwhy_copy_kind of model/recording.h */
	uint8_t src_memory, dst_memory;		 /* enum kwhy_memory_kind */
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
	uint32_t name, correlation, thread, result; /* thread: of the system; result: the call's own status */
};

struct kwhy_wire_range {
	int64_t start_mono_ns, end_mono_ns; /* end: INT64_MAX, still open when the recording ended */
	uint32_t name, thread, kind, zero;  /* enum kwhy_range_kind */
};

/* Device or pinned memory taken or given back. */
struct kwhy_wire_memory {
	int64_t time_mono_ns;
	uint64_t bytes, address;
	uint32_t correlation;
	uint16_t device;
	uint8_t is_free, memory; /* enum kwhy_memory_kind */
};

/* Time that the recording itself took from the program. */
struct kwhy_wire_overhead {
	int64_t start_mono_ns, end_mono_ns;
	uint32_t name, thread;
};

struct kwhy_wire_process {
	int64_t pid, parent_pid, start_mono_ns;
	uint32_t host, command, producer; /* names */
	uint32_t rank, world_size;	  /* UNKNOWN: not distributed */
	uint32_t local_rank_from_1;	  /* among those of its machine, plus 1; 0: not said */
	uint32_t boot, zero;		  /* name: which start of which machine; 0: not said */
};

struct kwhy_wire_device {
	int32_t index; /* as the process numbers it */
	uint32_t name, uuid, sm_count;
	uint32_t threads_per_sm, registers_per_sm, shared_bytes_per_sm, zero;
	uint64_t memory_bytes;
	double memory_rate_bytes_per_s;
	int64_t limit_mw; /* -1: unknown */
};

/* What a READING is of: one meter or gauge of one device. */
struct kwhy_wire_source {
	uint32_t id;
	uint32_t meter, gauge; /* names: "nvml.energy_mj", "sm_clock_hz"; the other is 0 */
	uint32_t uuid;	       /* name; 0: of the host */
	int32_t device;	       /* as the meter's library numbers it; -1: of the host */
	uint32_t domain, label, zero;
	int64_t period_ns, wrap; /* 0: unknown; never */
};

struct kwhy_wire_reading {
	int64_t time_mono_ns, value;
	uint32_t source, zero;
};

struct kwhy_wire_clock {
	int64_t mono_ns, offset_ns, width_ns; /* unix = mono + offset, known within +- spread / 2 */
};

/* Why a stretch of a run is known and another is not: what was asked for. */
enum kwhy_wire_choice {
	KWHY_WIRE_CHOICE_ALL,	/* nothing was left out on purpose */
	KWHY_WIRE_CHOICE_TIME,	/* --delay, --duration */
	KWHY_WIRE_CHOICE_RANGE, /* --range: inside ranges of a name */
	KWHY_WIRE_CHOICE_DUTY,	/* --duty: random windows */
	KWHY_WIRE_CHOICE_COUNT
};

/*
 * Everything that this writer's process ran on the device between these times is in the recording, if it was
 * launched at `since_mono_ns` or later (0: whenever).
 */
struct kwhy_wire_coverage {
	int64_t start_mono_ns, end_mono_ns;
	int32_t device;	 /* -1: all */
	uint32_t choice; /* enum kwhy_wire_choice */
	int64_t since_mono_ns;
};

struct kwhy_wire_work {
	int64_t time_mono_ns;
	double count;
	uint32_t unit, zero; /* name: "tokens" */
};

enum kwhy_wire_loss { KWHY_WIRE_LOSS_DROPPED, KWHY_WIRE_LOSS_FULL, KWHY_WIRE_LOSS_COUNT };
struct kwhy_wire_lost {
	uint64_t records;
	uint32_t reason, zero; /* enum kwhy_wire_loss: dropped by the profiler; no space under --max-size */
};

struct kwhy_wire_note {
	uint32_t kind, id, text, zero; /* enum kwhy_note_kind; names */
};

/* The last record of a writer that ended in order. */
struct kwhy_wire_end {
	int64_t time_mono_ns;
	uint64_t records; /* written by this writer, of all kinds */
};

/* The command that is recorded: one row before it starts, with INT64_MAX as its end, and one once it has
 * ended. */
struct kwhy_wire_run {
	int64_t start_mono_ns, end_mono_ns; /* of what was recorded of it */
	uint32_t command;		    /* name */
	uint32_t exit;			    /* as a shell tells it; UNKNOWN before its end */
};

/*
 * What a writer was asked to leave out of the activity of its process, of which COVERAGE then has a row for
 * each window. One row when activity begins, with INT64_MAX as its end, and one at the end: the last holds.
 */
struct kwhy_wire_selection {
	int64_t start_mono_ns, end_mono_ns; /* windows could lie anywhere between these */
	uint32_t choice;		    /* enum kwhy_wire_choice: the narrowest that was asked for */
	uint32_t range;			    /* name: the pattern of --range; 0: none */
	double share_ratio;		    /* of --duty; NAN: none */
	int64_t window_ns;		    /* mean length of --duty's windows; 0: none */
	uint64_t seed;			    /* of their places */
};

/* What the recording itself took. The last row of a kind and writer holds. */
enum kwhy_wire_cost_kind {
	KWHY_WIRE_COST_THREAD,	 /* processor time of the injected library's own thread */
	KWHY_WIRE_COST_BUFFERS,	 /* processor time of writing down CUPTI's buffers, on other threads */
	KWHY_WIRE_COST_START,	 /* time that the program waited for CUPTI to start */
	KWHY_WIRE_COST_SWITCH,	 /* time that windows took to begin and end; of the program's with --range */
	KWHY_WIRE_COST_FINISH,	 /* time that the program's end waited for the last records */
	KWHY_WIRE_COST_LAUNCHER, /* processor time of the launcher, its meters among it, during the run */
	KWHY_WIRE_COST_SAMPLER,	 /* that of its thread that reads meters, which is part of the launcher's */
	KWHY_WIRE_COST_MACHINE,	 /* no cost, but what others are a part of: processor time of all CPUs of the
				    machine, by anybody, during the run; count: nanoseconds that the run took
				  */
	KWHY_WIRE_COST_KIND_COUNT
};

struct kwhy_wire_cost {
	int64_t spent_ns;
	uint64_t count;	     /* how often: ticks, buffers, switches, readings; 0: not counted */
	uint32_t kind, zero; /* enum kwhy_wire_cost_kind */
};

/*
 * A launch that kwhy probe repeated. What ran on the launch's stream from it on, and started before the end,
 * is of the burst: kernels of its name are repeats, but for the first, which is the program's own. Bursts of
 * a process do not overlap.
 */
struct kwhy_wire_burst {
	int64_t start_mono_ns, end_mono_ns; /* on the host, around everything */
	uint64_t saved_bytes;
	uint32_t name, correlation; /* of the launch */
	uint32_t context;
	uint32_t thread; /* of the system: on which the launch was called, and everything of the burst */
	uint32_t blocks, repeats;
	uint16_t threads_per_block;
	uint8_t form;  /* enum kwhy_burst_form of model/recording.h */
	uint8_t check; /* enum kwhy_burst_check */
	/* From the start on: between these the program's own call ran, and nothing of the prober; of a burst
	 * after it both are when its work had become idle. */
	uint32_t launch_ns, launched_ns;
	uint32_t repeated_ns; /* what the repeats took, without the copies between them */
};

/* Launches that were not probed. The last row of a name, its sizes and a writer holds. */
struct kwhy_wire_unprobed {
	uint64_t launches;
	uint32_t name, reason; /* names */
	uint32_t blocks;
	uint16_t threads_per_block, zero;
};

/*
 * A frame of a call stack with the frame that called it: frames of all stacks are a tree. Of Python it has
 * file, function and line; of native code the path of its module and the place in that, from the module's
 * base, where it goes on.
 */
struct kwhy_wire_frame {
	uint64_t offset;	 /* 0: of Python */
	uint32_t id, caller;	 /* from 1; caller 0: the outermost that is known */
	uint32_t file, function; /* names */
	uint32_t line, zero;	 /* line 0: unknown */
};

/* Where a thread was when a call of CUDA began or ended, and since one did so before. */
struct kwhy_wire_sample {
	int64_t time_mono_ns, since_mono_ns; /* as the calls' records have them; since 0: there was none */
	uint32_t thread;		     /* that called */
	uint32_t of_thread;   /* whose stack it is, where that is not its own: a thread that waited for it */
	uint32_t frame, zero; /* the innermost */
};

/* A name: this, then its bytes without NUL, then zeros up to a multiple of 8. */
struct kwhy_wire_name {
	uint32_t id, length;
};

/* Kinds and their records. New kinds go at the end; a reader skips what it does not know. */
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
	X(SAMPLE, sample)

enum kwhy_wire_kind {
	KWHY_WIRE_NAME, /* the only kind of varying length */
#define X(kind, record) KWHY_WIRE_##kind,
	KWHY_WIRE_KINDS(X)
#undef X
		KWHY_WIRE_KIND_COUNT
};

const char *kwhy_wire_kind_name(unsigned kind); /* "kernel"; "unknown kind" */
uint32_t kwhy_wire_record_bytes(unsigned kind); /* as this program knows it; 0: varying or unknown */

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
_Static_assert(sizeof(struct kwhy_wire_end) == 16 && sizeof(struct kwhy_wire_name) == 8, "format");

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_RECORDING_H
#define KWHY_MODEL_RECORDING_H

#include "base/arena.h"
#include "base/names.h"
#include "base/status.h"
#include "model/host_range.h"
#include "model/meter.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What happened, on one clock. All times are int64 nanoseconds since `origin_unix_ns`; a recording whose
 * clock is not Unix time says so. Producers fill a recording with the _add_ calls and end with
 * kwhy_recording_finish(), which sorts, links and checks; from then on it is read-only and may be read
 * by several threads. "Unknown" has a value of its own everywhere and is never 0.
 */

#define KWHY_NONE UINT32_MAX /* no such index: unknown call, thread, stream, range, device */
#define KWHY_UNKNOWN_BYTES UINT64_MAX
#define KWHY_UNKNOWN_TIME INT64_MIN
#define KWHY_UNKNOWN_BLOCKS UINT32_MAX
#define KWHY_UNKNOWN_U16 UINT16_MAX /* threads per block, registers, peer device */

enum kwhy_activity_kind {
	KWHY_ACTIVITY_KERNEL,
	KWHY_ACTIVITY_COLLECTIVE, /* a kernel that is a collective or a send/receive */
	KWHY_ACTIVITY_GRAPH,	  /* one row for a whole graph launch; its kernels were not recorded */
	KWHY_ACTIVITY_COPY,
	KWHY_ACTIVITY_MEMSET,
	KWHY_ACTIVITY_KIND_COUNT
};

enum kwhy_copy_kind {
	KWHY_COPY_UNKNOWN,
	KWHY_COPY_H2D,
	KWHY_COPY_D2H,
	KWHY_COPY_D2D,
	KWHY_COPY_P2P,
	KWHY_COPY_H2H,
	KWHY_COPY_KIND_COUNT
};

enum kwhy_memory_kind {
	KWHY_MEMORY_UNKNOWN,
	KWHY_MEMORY_PAGEABLE,
	KWHY_MEMORY_PINNED,
	KWHY_MEMORY_DEVICE,
	KWHY_MEMORY_ARRAY,
	KWHY_MEMORY_MANAGED,
	KWHY_MEMORY_DEVICE_STATIC,
	KWHY_MEMORY_MANAGED_STATIC,
	KWHY_MEMORY_KIND_COUNT
};

/* Who launched an activity: the program, or kwhy probe between the program's own work. */
enum kwhy_activity_origin {
	KWHY_ORIGIN_PROGRAM,
	KWHY_ORIGIN_REPEAT, /* a kernel of the program that kwhy probe launched again */
	KWHY_ORIGIN_PROBER, /* a copy or hash of memory that kwhy probe made for that */
	KWHY_ORIGIN_COUNT
};

const char *kwhy_copy_kind_name(enum kwhy_copy_kind kind);     /* "h2d", ... "unknown" */
const char *kwhy_memory_kind_name(enum kwhy_memory_kind kind); /* "pageable", ... "unknown" */

/* What the host does inside an API call: decides what an idle device waits for. */
enum kwhy_call_class {
	KWHY_CALL_OTHER,
	KWHY_CALL_LAUNCH, /* kernel, graph, asynchronous copy or memset put in a stream */
	KWHY_CALL_COPY,	  /* a copy that may block: cudaMemcpy, cuMemcpyHtoD, ... */
	KWHY_CALL_SYNC,	  /* blocks until the device got somewhere */
	KWHY_CALL_ALLOC,  /* device, managed or pinned memory, pools included */
	KWHY_CALL_FREE,
	KWHY_CALL_CLASS_COUNT
};

/* By name without version suffix: cuda*, cu*, hip*. */
enum kwhy_call_class kwhy_call_class_of(const char *name);

enum kwhy_range_kind {
	KWHY_RANGE_NVTX,
	KWHY_RANGE_USER, /* user_annotation and the like */
	KWHY_RANGE_STEP, /* one step of a loop: ProfilerStep#N, or named as such by the user */
	KWHY_RANGE_KIND_COUNT
};

struct kwhy_device {
	int32_t index;	   /* as the trace numbers it */
	uint32_t rank;	   /* KWHY_NONE: unknown or not distributed */
	uint32_t machine;  /* index into machines; KWHY_NONE: unknown */
	const char *name;  /* NULL: unknown */
	const char *uuid;  /* NULL: unknown */
	const char *pci;   /* address on the bus, "0000:3b:00.0"; NULL: unknown */
	uint32_t sm_count; /* 0: unknown, for all below */
	uint32_t threads_per_sm, registers_per_sm, shared_bytes_per_sm;
	uint32_t compute_major, compute_minor; /* CUDA's compute capability; a major of 0 is unknown */
	uint64_t memory_bytes;
	double memory_rate_bytes_per_s;
	int64_t limit_mw;	 /* enforced power limit; -1: unknown */
	int64_t context_idle_mw; /* idle with a live context, as stated beside the data; -1: unknown */
	int64_t clean_idle_mw;	 /* idle without any context; -1: unknown */
};

/* A machine that wrote, from one of its starts to the next. */
struct kwhy_machine {
	const char *name;    /* of its host, numbered from the second of a name on; NULL: unknown */
	uint32_t host, boot; /* names as stated: of the host, of the start; 0: not stated */
	int64_t offset_ns;   /* Unix time less the machine's clock */
	int64_t width_ns;    /* how well that is known; -1: not at all */
};

struct kwhy_process {
	int64_t pid;	     /* -1: unknown */
	uint32_t rank;	     /* KWHY_NONE: unknown */
	bool rank_by_order;  /* no trace states the rank, the order of the files made it */
	uint32_t world_size; /* 0: unknown */
	const char *host;    /* NULL: unknown */
	uint32_t machine;    /* index into machines; KWHY_NONE: unknown */
	uint32_t source;     /* index into sources */
	uint64_t writer;     /* its number in a recording of kwhy, which no other process has; 0: none */
};

struct kwhy_thread {
	uint32_t process;
	int64_t tid;
};

struct kwhy_stream {
	uint32_t device; /* index into devices */
	uint32_t process;
	int64_t context; /* -1: unknown */
	int64_t id;	 /* as the trace numbers it */
};

/*
 * Device activities, one a row, in columns; 59 bytes a row. After finish: sorted by device, then start,
 * then end, then stream; rows of device d are [first[d], first[d + 1]).
 * Before finish `call` holds the correlation id (KWHY_NONE: none); afterwards the row in calls.
 */
#define KWHY_ACTIVITY_COLUMNS(X)                                                                          \
	X(int64_t, start_ns)                                                                              \
	X(int64_t, end_ns)                                                                                \
	X(uint64_t, bytes) /* copies, memsets; KWHY_UNKNOWN_BYTES */                                      \
	X(uint32_t, name)                                                                                 \
	X(uint32_t, stream) /* index into streams */                                                      \
	X(uint32_t, call)                                                                                 \
	X(uint32_t, blocks)	       /* of the grid; KWHY_UNKNOWN_BLOCKS */                             \
	X(uint32_t, shared_bytes)      /* static + dynamic, per block; KWHY_NONE */                       \
	X(uint32_t, graph_node)	       /* KWHY_NONE: not launched by a graph */                           \
	X(uint16_t, threads_per_block) /* KWHY_UNKNOWN_U16 */                                             \
	X(uint16_t, registers)	       /* per thread; KWHY_UNKNOWN_U16 */                                 \
	X(uint16_t, peer)	       /* other device of a peer copy, trace's index; KWHY_UNKNOWN_U16 */ \
	X(uint8_t, kind)	       /* enum kwhy_activity_kind */                                      \
	X(uint8_t, copy_kind)	       /* enum kwhy_copy_kind */                                          \
	X(uint8_t, src_memory)	       /* enum kwhy_memory_kind; for memsets the memory set is dst */     \
	X(uint8_t, dst_memory)                                                                            \
	X(uint8_t, origin) /* enum kwhy_activity_origin */

struct kwhy_activities {
	size_t count, capacity;
	size_t *first; /* [device_count + 1], after finish */
#define X(type, column) type *column;
	KWHY_ACTIVITY_COLUMNS(X)
#undef X
};

struct kwhy_activity {
#define X(type, column) type column;
	KWHY_ACTIVITY_COLUMNS(X)
#undef X
};

/* All columns unknown, kind kernel. Start every row from this. */
struct kwhy_activity kwhy_activity_unknown(void);

/*
 * API calls of the host (runtime and driver). After finish: sorted by thread, then start; rows of
 * thread t are [first[t], first[t + 1]); `correlation` is freed (NULL).
 */
#define KWHY_CALL_COLUMNS(X)                           \
	X(int64_t, start_ns)                           \
	X(int64_t, end_ns)                             \
	X(uint32_t, name) /* without version suffix */ \
	X(uint32_t, thread)                            \
	X(uint32_t, correlation) /* KWHY_NONE: none */ \
	X(uint8_t, class)	 /* enum kwhy_call_class */

struct kwhy_calls {
	size_t count, capacity;
	size_t *first; /* [thread_count + 1], after finish */
#define X(type, column) type *column;
	KWHY_CALL_COLUMNS(X)
#undef X
};

struct kwhy_range {
	int64_t start_ns, end_ns;
	uint32_t name;
	uint32_t thread; /* KWHY_NONE: not on a host thread */
	uint32_t kind;	 /* enum kwhy_range_kind */
};

/* What a trace says of a collective beyond its name; sparse. `activity` follows the sort. */
struct kwhy_collective {
	uint32_t activity;
	uint32_t operation;		    /* name; 0: unknown */
	uint32_t type;			    /* name of the element type; 0: unknown */
	uint32_t group_size;		    /* 0: unknown */
	uint64_t in_elements, out_elements; /* KWHY_UNKNOWN_BYTES: unknown */
	int64_t sequence;		    /* -1: unknown */
};

/* Memory of a device at a time, as an allocator or the profiler saw it. */
struct kwhy_memory_point {
	int64_t time_ns;
	uint32_t device; /* index into devices */
	uint32_t process;
	uint64_t allocated_bytes; /* KWHY_UNKNOWN_BYTES: unknown */
	uint64_t reserved_bytes;  /* taken from the driver, in use or not; KWHY_UNKNOWN_BYTES: unknown */
};

/* What a power reading is of. */
struct kwhy_power_source {
	uint32_t meter;	  /* enum kwhy_meter */
	uint32_t device;  /* index into devices; KWHY_NONE: the host's */
	uint32_t domain;  /* number of the package or sensor; 0 where there is one alone */
	uint32_t machine; /* of a host's meter: index into machines; KWHY_NONE: unknown, or of a device */
	int64_t wrap;	  /* a counter starts again after this value; 0: never, or not reported */
};

/* Readings of one meter; times strictly increasing after finish. Counters: wraps are not yet undone. */
struct kwhy_power_series {
	uint32_t meter, device, domain, machine; /* as of struct kwhy_power_source */
	int64_t wrap;
	size_t count, capacity, value_capacity;
	int64_t *time_ns;
	int64_t *value;
};

/* Readings of one gauge of a device, in the gauge's own unit; times strictly increasing after finish. */
struct kwhy_gauge_series {
	uint32_t gauge;	 /* enum kwhy_gauge */
	uint32_t device; /* index into devices; KWHY_NONE: the host's */
	size_t count, capacity, value_capacity;
	int64_t *time_ns;
	int64_t *value;
};

/* Time in which everything that ran is known. device KWHY_NONE: holds for all devices. */
struct kwhy_coverage {
	uint32_t device;
	int64_t start_ns, end_ns;
};

/* Why a stretch of a run is known and another is not: what was asked for. As recorded (recording/wire.h). */
enum kwhy_choice {
	KWHY_CHOICE_ALL,   /* nothing was left out on purpose */
	KWHY_CHOICE_TIME,  /* a delay, a duration */
	KWHY_CHOICE_RANGE, /* inside ranges of a name */
	KWHY_CHOICE_DUTY,  /* in random windows: what they hold stands for the whole */
	KWHY_CHOICE_COUNT
};

const char *kwhy_choice_name(enum kwhy_choice choice); /* "all", "time", "range", "duty" */

/*
 * Windows of coverage could lie anywhere between these times, where the meters went on: what lies between
 * the windows happened, but is not known. device KWHY_NONE: holds for all devices.
 */
struct kwhy_selection {
	uint32_t device;
	uint32_t choice; /* enum kwhy_choice */
	int64_t start_ns, end_ns;
	const char *range;  /* pattern of names; NULL: none */
	double share_ratio; /* asked for; NAN: none */
};

/* What the recording itself took. As recorded (recording/wire.h); spent_ns is of the whole run. */
enum kwhy_cost_kind {
	KWHY_COST_THREAD,   /* processor time of the injected library's own thread */
	KWHY_COST_BUFFERS,  /* processor time of writing down the profiler's buffers, on other threads */
	KWHY_COST_START,    /* time that the program waited for the profiler to start */
	KWHY_COST_SWITCH,   /* time that windows took to begin and end */
	KWHY_COST_FINISH,   /* time that the program's end waited for the last records */
	KWHY_COST_LAUNCHER, /* processor time of the launcher, its meters among it */
	KWHY_COST_SAMPLER,  /* that of its thread that reads meters, which is part of the launcher's */
	KWHY_COST_MACHINE,  /* no cost, but what others are a part of: that of all CPUs of the machine, by
			       anybody;  count: nanoseconds in which it was */
	KWHY_COST_KIND_COUNT
};

const char *kwhy_cost_kind_name(enum kwhy_cost_kind kind); /* "thread", "buffers", ... */

struct kwhy_cost {
	uint32_t process, kind; /* enum kwhy_cost_kind */
	int64_t spent_ns;
	uint64_t count; /* ticks, buffers, switches, readings; 0: not counted */
};

/* Time that the profiler says it took from a thread. */
struct kwhy_overhead {
	int64_t start_ns, end_ns;
	uint32_t name, thread; /* KWHY_NONE: on a thread of the profiler's own, or unknown */
};

/* Units of work done, for joules per token and the like. */
struct kwhy_work {
	const char *unit; /* "tokens", "steps", "samples", "flop" */
	double count;
};

enum kwhy_trace_format {
	KWHY_FORMAT_KINETO,
	KWHY_FORMAT_NSYS,
	KWHY_FORMAT_CSV,
	KWHY_FORMAT_KWHY,
	KWHY_FORMAT_COUNT
};

struct kwhy_source {
	const char *path;
	uint32_t format;      /* enum kwhy_trace_format */
	const char *version;  /* of the schema, as the file states it; NULL: not stated */
	const char *producer; /* tool and version; NULL: not stated */
	uint64_t events;      /* rows or events read, used or not */
	size_t activities;    /* of devices: before finish they stand in the order of the sources */
	uint64_t digest;      /* of these activities (import/identity.h); 0: not asked for */
};

/* A file of power readings. */
struct kwhy_power_file {
	const char *path;
	uint64_t readings; /* taken from it */
	uint64_t digest;   /* of all in it, taken or not (import/identity.h) */
};

enum kwhy_burst_form {
	KWHY_BURST_BACK_TO_BACK, /* one repeat behind the other: the kernel is idempotent */
	KWHY_BURST_PUT_BACK,	 /* the memory was put back before each repeat */
	KWHY_BURST_AFTER,	 /* back to back behind a graph or copy of the program's own */
	KWHY_BURST_FORM_COUNT
};

/* Whether all live device memory was the same before a burst and after it. */
enum kwhy_burst_check {
	KWHY_BURST_UNCHECKED,
	KWHY_BURST_SAME,
	KWHY_BURST_DIFFERENT, /* the program's results are not to be trusted from then on */
	KWHY_BURST_CHECK_COUNT
};

/*
 * One launch of the program that kwhy probe repeated. Bursts of a process do not overlap, and the activities
 * of origin repeat and prober lie in them.
 */
struct kwhy_burst {
	int64_t start_ns, end_ns; /* on the host, from before the first copy to after the last */
	uint64_t saved_bytes;	  /* that were copied aside and put back */
	int64_t repeated_ns;	  /* what the repeats took, without the copies between them */
	uint32_t name;		  /* of the kernel */
	uint32_t process;
	uint32_t stream; /* index into streams; KWHY_NONE: neither launch nor repeats are in the recording */
	uint32_t blocks, repeats;
	uint16_t threads_per_block;
	uint8_t form;  /* enum kwhy_burst_form */
	uint8_t check; /* enum kwhy_burst_check */
};

/* Launches of one kernel, grid and block that were not probed for one reason. */
struct kwhy_unprobed {
	uint64_t launches;
	uint32_t name, process;
	uint32_t blocks;
	uint16_t threads_per_block;
	const char *reason; /* to follow "not probed: " */
};

enum kwhy_note_kind {
	KWHY_NOTE_COMPLETENESS, /* what this trace cannot show */
	KWHY_NOTE_WARNING,	/* something is odd: clocks, duplicates, ... */
	KWHY_NOTE_KIND_COUNT
};

struct kwhy_note {
	uint32_t kind;
	const char *id;	  /* short and stable: "no-api-rows" */
	const char *text; /* one sentence */
};

/* Lost or skipped, counted. */
struct kwhy_lost {
	uint64_t dropped_records;     /* the profiler says it lost these */
	uint64_t skipped_events;      /* unusable, skipped under --partial */
	uint64_t unlinked_activities; /* no API call of that correlation */
	uint64_t unknown_bytes;	      /* copies and memsets that do not say their size */
	bool truncated;		      /* the file ends early */
	bool has_holes;		      /* blocks within are damaged or missing */
};

/* Rows are gone that may have been work, nobody knows when: what ran in them counts as idle. */
static inline bool kwhy_lost_work(const struct kwhy_lost *lost)
{
	return lost->dropped_records || lost->skipped_events || lost->has_holes;
}

struct kwhy_recording {
	struct kwhy_arena arena; /* strings of the tables below */
	struct kwhy_names names;

	int64_t origin_unix_ns;
	bool unix_clock;	/* origin_unix_ns is real Unix time */
	const char *clock_name; /* of a clock that is not Unix time, where the files name it; NULL */
	bool has_calls;		/* API calls were recorded */
	bool finished;
	int64_t start_ns, end_ns; /* of all activities and calls, after finish; both 0 when there are none */

	struct kwhy_source *sources;
	struct kwhy_device *devices;
	struct kwhy_machine *machines;
	struct kwhy_process *processes;
	struct kwhy_thread *threads;
	struct kwhy_stream *streams;
	struct kwhy_range *ranges;	     /* sorted by start after finish */
	struct kwhy_collective *collectives; /* sorted by activity after finish */
	struct kwhy_memory_point *memory;    /* sorted by time after finish */
	struct kwhy_power_series *power;
	struct kwhy_power_file *power_files; /* that traces do not hold themselves */
	struct kwhy_gauge_series *gauges;
	struct kwhy_coverage *coverage;
	struct kwhy_selection *selections;
	struct kwhy_cost *costs;
	struct kwhy_overhead *overheads; /* sorted by start after finish */
	struct kwhy_burst *bursts;	 /* sorted by start after finish */
	struct kwhy_unprobed *unprobed;
	struct kwhy_work *work;
	struct kwhy_note *notes;
	size_t source_count, device_count, machine_count, process_count, thread_count, stream_count,
		range_count, collective_count, memory_count, power_count, power_file_count, gauge_count,
		coverage_count, selection_count, cost_count, overhead_count, burst_count, unprobed_count,
		work_count, note_count;
	size_t source_capacity, device_capacity, machine_capacity, process_capacity, thread_capacity,
		stream_capacity, range_capacity, collective_capacity, memory_capacity, power_capacity,
		power_file_capacity, gauge_capacity, coverage_capacity, selection_capacity, cost_capacity,
		overhead_capacity, burst_capacity, unprobed_capacity, work_capacity, note_capacity;

	struct kwhy_activities activities;
	struct kwhy_calls calls;
	struct kwhy_host_ranges host_ranges;
	struct kwhy_lost lost;
};

KWHY_MUST_USE enum kwhy_status kwhy_recording_new(struct kwhy_recording **out, struct kwhy_error *error);
void kwhy_recording_free(struct kwhy_recording *recording);

/*
 * The _add calls append a copy and give its index where one is asked for (out_index may be NULL). Text
 * pointers inside must outlive the recording: take them from kwhy_recording_copy().
 * kwhy_recording_find_* give KWHY_NONE where there is none.
 */
const char *kwhy_recording_copy(struct kwhy_recording *recording, const char *bytes, size_t length);
KWHY_MUST_USE enum kwhy_status kwhy_recording_add_source(struct kwhy_recording *recording,
	const struct kwhy_source *source, uint32_t *out_index, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_recording_add_device(struct kwhy_recording *recording,
	const struct kwhy_device *device, uint32_t *out_index, struct kwhy_error *error);
/* Names the machine by its host. */
KWHY_MUST_USE enum kwhy_status kwhy_recording_add_machine(struct kwhy_recording *recording,
	const struct kwhy_machine *machine, uint32_t *out_index, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_recording_add_process(struct kwhy_recording *recording,
	const struct kwhy_process *process, uint32_t *out_index, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_recording_add_thread(struct kwhy_recording *recording,
	const struct kwhy_thread *thread, uint32_t *out_index, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_recording_add_stream(struct kwhy_recording *recording,
	const struct kwhy_stream *stream, uint32_t *out_index, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_recording_add_activity(
	struct kwhy_recording *recording, const struct kwhy_activity *activity, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_recording_add_call(struct kwhy_recording *recording, int64_t start_ns,
	int64_t end_ns, uint32_t name, uint32_t thread, uint32_t correlation, struct kwhy_error *error);
/* A call of a class that its name does not tell, as CSV states it; it issues no activity that can be linked.
 */
KWHY_MUST_USE enum kwhy_status kwhy_recording_add_call_of_class(struct kwhy_recording *recording,
	int64_t start_ns, int64_t end_ns, uint32_t name, uint32_t thread, enum kwhy_call_class class,
	struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_recording_add_range(
	struct kwhy_recording *recording, const struct kwhy_range *range, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_recording_add_collective(
	struct kwhy_recording *recording, const struct kwhy_collective *collective, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_recording_add_memory(
	struct kwhy_recording *recording, const struct kwhy_memory_point *point, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_recording_add_power_file(
	struct kwhy_recording *recording, const struct kwhy_power_file *file, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_recording_add_power(struct kwhy_recording *recording,
	const struct kwhy_power_source *source, int64_t time_ns, int64_t value, struct kwhy_error *error);
/* Takes back the last `count` readings of a device's meter; before finish. */
void kwhy_recording_drop_power(
	struct kwhy_recording *recording, enum kwhy_meter meter, uint32_t device, size_t count);
/* The same of a source of which no more is known. */
KWHY_MUST_USE enum kwhy_status kwhy_recording_add_reading(struct kwhy_recording *recording,
	enum kwhy_meter meter, uint32_t device, uint32_t domain, int64_t time_ns, int64_t value,
	struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_recording_add_gauge(struct kwhy_recording *recording,
	enum kwhy_gauge gauge, uint32_t device, int64_t time_ns, int64_t value, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_recording_add_coverage(
	struct kwhy_recording *recording, const struct kwhy_coverage *coverage, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_recording_add_selection(
	struct kwhy_recording *recording, const struct kwhy_selection *selection, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_recording_add_cost(
	struct kwhy_recording *recording, const struct kwhy_cost *cost, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_recording_add_overhead(
	struct kwhy_recording *recording, const struct kwhy_overhead *overhead, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_recording_add_burst(
	struct kwhy_recording *recording, const struct kwhy_burst *burst, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_recording_add_unprobed(
	struct kwhy_recording *recording, const struct kwhy_unprobed *unprobed, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_recording_add_work(
	struct kwhy_recording *recording, const char *unit, double count, struct kwhy_error *error);
/* The same, in place of what there is of that unit. */
KWHY_MUST_USE enum kwhy_status kwhy_recording_set_work(
	struct kwhy_recording *recording, const char *unit, double count, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_recording_add_note(struct kwhy_recording *recording,
	enum kwhy_note_kind kind, const char *id, struct kwhy_error *error, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* Until there is a time whoever adds the first chooses clock and origin. */
bool kwhy_recording_has_times(const struct kwhy_recording *recording);

/* The machine of a process; KWHY_NONE: unknown. */
uint32_t kwhy_recording_machine_of(const struct kwhy_recording *recording, uint32_t process);
/* The same of a device, and of what a meter reads: a device or a host. */
uint32_t kwhy_recording_machine_of_device(const struct kwhy_recording *recording, uint32_t device);
uint32_t kwhy_recording_machine_of_meter(
	const struct kwhy_recording *recording, const struct kwhy_power_series *series);
/* The name of such a machine; NULL: unknown. */
const char *kwhy_recording_machine_name(const struct kwhy_recording *recording, uint32_t machine);

/* Whether meters of hosts are of several machines, so that each needs its host's name beside it. */
bool kwhy_recording_has_hosts(const struct kwhy_recording *recording);
/* The host of a host's meter; NULL: unknown, or of a device. */
const char *kwhy_recording_host_of(
	const struct kwhy_recording *recording, const struct kwhy_power_series *series);

/* A device of that trace index and rank (KWHY_NONE: not distributed). */
uint32_t kwhy_recording_find_device(const struct kwhy_recording *recording, int32_t index, uint32_t rank);

/*
 * Sorts, links activities to the calls that issued them (same process and correlation id), classifies
 * calls, sets the window. Refuses activities, calls, ranges and coverage that end before they start, and
 * times and readings beyond a quarter of what an int64 holds, so that lengths never overflow. Once only.
 */
KWHY_MUST_USE enum kwhy_status kwhy_recording_finish(
	struct kwhy_recording *recording, struct kwhy_error *error);

/* Device of an activity row. */
static inline uint32_t kwhy_recording_device_of(const struct kwhy_recording *recording, size_t activity)
{
	return recording->streams[recording->activities.stream[activity]].device;
}

#endif

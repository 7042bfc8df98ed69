/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MODEL_RECORDING_H
#define KWHY_MODEL_RECORDING_H

#include "base/arena.h"
#include "base/names.h"
#include "base/status.h"
#include "model/host_range.h"
#include "model/kinds.h"
#include "model/meter.h"
#include "model/perf_counter.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The events of a run on one clock. All times are int64 nanoseconds since `origin_unix_ns`; `unix_clock` is
 * false where the clock is not Unix time. Producers fill a recording by the _add_ calls and end with
 * kwhy_recording_finish(), which sorts, links and checks. After that it is read-only, and several threads may
 * read it. "Unknown" is a value that the quantity cannot have: one of the constants below, -1, NULL or NAN,
 * or 0 where a known quantity is never 0.
 */

/* In place of an index or another unsigned 32-bit value: unknown, or there is none. */
#define KWHY_NONE UINT32_MAX
#define KWHY_UNKNOWN_BYTES UINT64_MAX
#define KWHY_UNKNOWN_TIME INT64_MIN
#define KWHY_UNKNOWN_BLOCKS UINT32_MAX
/* The number of threads per block or of registers, or the peer device, is unknown. */
#define KWHY_UNKNOWN_U16 UINT16_MAX

struct kwhy_device {
	int32_t index;	   /* number of the device in the trace */
	uint32_t rank;	   /* KWHY_NONE: unknown or not distributed */
	uint32_t machine;  /* index into machines; KWHY_NONE: unknown */
	const char *name;  /* NULL: unknown */
	const char *uuid;  /* NULL: unknown */
	const char *pci;   /* address on the bus, "0000:3b:00.0"; NULL: unknown */
	uint32_t sm_count; /* number of multiprocessors; 0: unknown. In the fields on the next line, too, 0
			      means unknown */
	uint32_t threads_per_sm, registers_per_sm, shared_bytes_per_sm;
	uint32_t compute_major, compute_minor; /* CUDA's compute capability; a major of 0 is unknown */
	uint64_t memory_bytes;
	double memory_rate_bytes_per_s;
	int64_t limit_mw;	 /* enforced power limit; -1: unknown */
	int64_t context_idle_mw; /* idle power with a live context, if the trace states it; -1: unknown */
	int64_t clean_idle_mw;	 /* idle power without any context, if the trace states it; -1: unknown */
};

/* A machine on which the recording was made, from one boot to the next. */
struct kwhy_machine {
	const char *name; /* name of its host, followed by a number if an earlier machine has the same name;
			     NULL: unknown */
	/* names of the host and of the boot, as the recording states them; 0: not stated */
	uint32_t host, boot;
	int64_t offset_ns; /* Unix time minus the time of the machine's clock */
	int64_t width_ns;  /* width of the interval in which the true offset lies; -1: offset_ns is unknown */
};

struct kwhy_process {
	int64_t pid;	     /* -1: unknown */
	uint32_t rank;	     /* KWHY_NONE: unknown */
	bool rank_by_order;  /* no trace states the rank, so it is the position of the file among the sources
			      */
	uint32_t world_size; /* 0: unknown */
	const char *host;    /* NULL: unknown */
	uint32_t machine;    /* index into machines; KWHY_NONE: unknown */
	uint32_t source;     /* index into sources */
	uint64_t writer; /* unique number of the process in recordings by kwhy; 0: another program recorded it
			  */
};

struct kwhy_thread {
	uint32_t process;
	int64_t tid;
};

struct kwhy_stream {
	uint32_t device; /* index into devices */
	uint32_t process;
	int64_t context; /* -1: unknown */
	int64_t id;	 /* number of the stream in the trace */
	bool unordered;	 /* its activities may overlap, because this stream represents several queues */
};

/*
 * Device activities in columns, 59 bytes per activity. After kwhy_recording_finish() they are sorted by
 * device, then start, end and stream; rows of device d are [first[d], first[d + 1]). Before
 * kwhy_recording_finish(), `call` holds the correlation id; afterwards it holds the row in calls.
 * KWHY_NONE: unknown.
 */
#define KWHY_ACTIVITY_COLUMNS(X)                                                                             \
	X(int64_t, start_ns)                                                                                 \
	X(int64_t, end_ns)                                                                                   \
	X(uint64_t, bytes) /* bytes of copies and memsets; KWHY_UNKNOWN_BYTES: unknown */                    \
	X(uint32_t, name)                                                                                    \
	X(uint32_t, stream) /* index into streams */                                                         \
	X(uint32_t, call)                                                                                    \
	X(uint32_t, blocks)	  /* blocks of the grid; KWHY_UNKNOWN_BLOCKS: unknown */                     \
	X(uint32_t, shared_bytes) /* static + dynamic, per block; KWHY_NONE: unknown */                      \
	X(uint32_t, graph_node)	  /* id of the graph's node that launched it; KWHY_NONE: not launched by a   \
				     graph */                                                                \
	X(uint16_t, threads_per_block) /* KWHY_UNKNOWN_U16: unknown */                                       \
	X(uint16_t, registers)	       /* registers per thread; KWHY_UNKNOWN_U16: unknown */                 \
	X(uint16_t, peer)     /* number, in the trace, of the other device of a peer copy; KWHY_UNKNOWN_U16: \
				 unknown or no peer copy */                                                  \
	X(uint8_t, kind)      /* enum kwhy_activity_kind */                                                  \
	X(uint8_t, copy_kind) /* enum kwhy_copy_kind */                                                      \
	X(uint8_t, src_memory) /* enum kwhy_memory_kind; a memset has dst only */                            \
	X(uint8_t, dst_memory)                                                                               \
	X(uint8_t, origin) /* enum kwhy_activity_origin */

struct kwhy_activities {
	size_t count, capacity;
	size_t *first; /* [device_count + 1], set by kwhy_recording_finish() */
#define X(type, column) type *column;
	KWHY_ACTIVITY_COLUMNS(X)
#undef X
};

struct kwhy_activity {
#define X(type, column) type column;
	KWHY_ACTIVITY_COLUMNS(X)
#undef X
};

/*
 * A kernel without name (0) on stream 0, launched by the program, whose other columns are unknown. Readers of
 * traces begin every row with it.
 */
struct kwhy_activity kwhy_activity_unknown(void);

/*
 * API calls of the host (runtime and driver). After kwhy_recording_finish() they are sorted by thread, then
 * start; rows of thread t are [first[t], first[t + 1]), and `correlation` is freed (NULL).
 */
#define KWHY_CALL_COLUMNS(X)                                \
	X(int64_t, start_ns)                                \
	X(int64_t, end_ns)                                  \
	X(uint32_t, name) /* name without version suffix */ \
	X(uint32_t, thread)                                 \
	X(uint32_t, correlation) /* KWHY_NONE: unknown */   \
	X(uint8_t, class)	 /* enum kwhy_call_class */

struct kwhy_calls {
	size_t count, capacity;
	size_t *first; /* [thread_count + 1], set by kwhy_recording_finish() */
#define X(type, column) type *column;
	KWHY_CALL_COLUMNS(X)
#undef X
};

struct kwhy_range {
	int64_t start_ns, end_ns;
	uint32_t name;
	uint32_t thread; /* KWHY_NONE: the range is not on a host thread */
	uint32_t kind;	 /* enum kwhy_range_kind */
};

/*
 * Details of a collective, if the trace has more than its name. `activity` is its row in the activities;
 * kwhy_recording_finish() updates it when it sorts them.
 */
struct kwhy_collective {
	uint32_t activity;
	uint32_t operation;		    /* name of the operation; 0: unknown */
	uint32_t type;			    /* name of the element type; 0: unknown */
	uint32_t group;			    /* name of the communicator; 0: unknown */
	uint32_t members;		    /* text that lists the communicator's ranks; 0: unknown */
	uint32_t group_size;		    /* 0: unknown */
	uint64_t in_elements, out_elements; /* KWHY_UNKNOWN_BYTES: unknown */
	int64_t sequence;		    /* -1: unknown */
};

/*
 * Memory of a device that a process holds at one time, as a framework's allocator or the profiler reports it.
 */
struct kwhy_memory_point {
	int64_t time_ns;
	uint32_t device; /* index into devices */
	uint32_t process;
	uint64_t allocated_bytes; /* KWHY_UNKNOWN_BYTES: unknown */
	uint64_t reserved_bytes; /* bytes that the allocator holds from the driver, whether or not the program
				    uses them; KWHY_UNKNOWN_BYTES: unknown */
};

/* Which meter a power reading comes from. */
struct kwhy_power_source {
	uint32_t meter;	  /* enum kwhy_meter */
	uint32_t device;  /* index into devices; KWHY_NONE: a meter of the host */
	uint32_t domain;  /* number of the CPU package or sensor; 0 if the machine has only one */
	uint32_t machine; /* for a host's meter: index into machines; KWHY_NONE: unknown, or a device's meter
			   */
	int64_t wrap;	  /* highest value of a counter before it wraps; 0: never wraps, or not reported */
};

/*
 * Readings of one meter, after kwhy_recording_finish() in rising order of time. Counters are as read, so they
 * fall at a wrap.
 */
struct kwhy_power_series {
	uint32_t meter, device, domain, machine; /* as in struct kwhy_power_source */
	int64_t wrap;
	size_t count, capacity, value_capacity;
	int64_t *time_ns;
	int64_t *value;
};

/* Readings of one gauge, in its own unit, after kwhy_recording_finish() in rising order of time. */
struct kwhy_gauge_series {
	uint32_t gauge;	 /* enum kwhy_gauge */
	uint32_t device; /* index into devices; KWHY_NONE: a gauge of the host */
	size_t count, capacity, value_capacity;
	int64_t *time_ns;
	int64_t *value;
};

/* An interval in which everything that ran on a device was recorded. device KWHY_NONE: on all devices. */
struct kwhy_coverage {
	uint32_t device;
	int64_t start_ns, end_ns;
};

/*
 * How the user chose which part of a run to record. The values are those of the file format
 * (recording/wire.h).
 */
enum kwhy_choice {
	KWHY_CHOICE_ALL,   /* the user left nothing out */
	KWHY_CHOICE_TIME,  /* only time after a delay, or for a duration */
	KWHY_CHOICE_RANGE, /* only time inside ranges of a certain name */
	KWHY_CHOICE_DUTY,  /* random windows, from which figures of the whole run are estimated */
	KWHY_CHOICE_COUNT
};

const char *kwhy_choice_name(enum kwhy_choice choice); /* "all", "time", "range", "duty" */

/*
 * The interval in which the user's choice decided what was recorded: only parts of it (the windows) have
 * activities. The meters were read during the whole interval. device KWHY_NONE: the choice holds for all
 * devices.
 */
struct kwhy_selection {
	uint32_t device;
	uint32_t choice; /* enum kwhy_choice */
	int64_t start_ns, end_ns;
	const char *range;  /* pattern of range names; NULL: the choice is not by range */
	double share_ratio; /* share of the time that random windows cover, as the user asked for it; NAN: the
			       choice is not by random windows */
};

/*
 * Kinds of what recording a run cost, summed over the whole run. The values are those of the file format
 * (recording/wire.h).
 */
enum kwhy_cost_kind {
	KWHY_COST_THREAD,   /* processor time of the injected library's own thread */
	KWHY_COST_BUFFERS,  /* processor time for writing the profiler's buffers, on threads other than the
			       injected library's own */
	KWHY_COST_START,    /* time that the program waited for the profiler to start */
	KWHY_COST_SWITCH,   /* time that starting and ending the recording of windows took */
	KWHY_COST_FINISH,   /* time for which the end of the program waited for the last records */
	KWHY_COST_LAUNCHER, /* processor time of the launcher (the kwhy process that started the program),
			       reading of meters included */
	KWHY_COST_SAMPLER,  /* processor time of the launcher's thread that reads meters, a part of
			       KWHY_COST_LAUNCHER */
	KWHY_COST_MACHINE,  /* not a cost but a reference for costs: busy time of the machine by all programs,
			       summed over its CPUs; `count` of struct kwhy_cost is then the elapsed time in
			       nanoseconds */
	KWHY_COST_KIND_COUNT
};

const char *kwhy_cost_kind_name(enum kwhy_cost_kind kind); /* "thread", "buffers", ... */

struct kwhy_cost {
	uint32_t process, kind; /* enum kwhy_cost_kind */
	int64_t spent_ns;
	uint64_t count; /* number of wake-ups of the thread, buffers, switches or readings of meters, by
			   `kind`; 0: not counted */
};

/* An interval in which the profiler delayed a thread, as the profiler reports it. */
struct kwhy_overhead {
	int64_t start_ns, end_ns;
	uint32_t name, thread; /* thread KWHY_NONE: a thread of the profiler itself, or unknown */
};

/* Work that the program did, counted in some unit, for figures such as joules per token. */
struct kwhy_work {
	const char *unit; /* "tokens", "steps", "samples", "flop" */
	double count;
};

enum kwhy_trace_format {
#define X(format, reader, text, words) KWHY_FORMAT_##format,
#include "model/trace_formats.def"
#undef X
	KWHY_FORMAT_COUNT
};

struct kwhy_source {
	const char *path;
	uint32_t format;      /* enum kwhy_trace_format */
	const char *version;  /* version of the file's schema, as the file states it; NULL: not stated */
	const char *producer; /* tool that wrote the file, with its version; NULL: not stated */
	uint64_t events;      /* number of rows or events in the file, whether used or not */
	size_t activities;    /* number of device activities from this source; until kwhy_recording_finish(),
				 activities are in the order of the sources */
	uint64_t digest; /* digest of the activities from this source (import/identity.h); 0: not computed */
};

/* A file of power readings. */
struct kwhy_power_file {
	const char *path;
	uint64_t readings; /* number of readings used */
	uint64_t digest;   /* digest of all readings in the file, used or not (import/identity.h) */
};

enum kwhy_burst_form {
	KWHY_BURST_BACK_TO_BACK, /* repeats of the kernel in direct succession, without restoring memory;
				    repeating the kernel does not change its result */
	KWHY_BURST_PUT_BACK,	 /* repeats of the kernel; the memory that it changes was restored before each
				    repeat */
	KWHY_BURST_AFTER,  /* repeats in direct succession of a kernel of a graph, a copy or a memset, right
			      after the program launched the graph, copy or memset */
	KWHY_BURST_COPIES, /* the copies that would restore the kernel's memory, without repeats of the kernel
			    */
	KWHY_BURST_FORM_COUNT
};

/* Whether all allocated device memory had the same contents before and after a burst. */
enum kwhy_burst_check {
	KWHY_BURST_UNCHECKED,
	KWHY_BURST_SAME,
	KWHY_BURST_DIFFERENT, /* memory differed; the program's results after the burst may be wrong */
	KWHY_BURST_CHECK_COUNT
};

/*
 * A burst: the time in which kwhy probe repeated one launch of the program, or tried to. Bursts of a process
 * do not overlap. The activities of origin KWHY_ORIGIN_REPEAT and KWHY_ORIGIN_PROBER lie in this time.
 */
struct kwhy_burst {
	int64_t start_ns, end_ns; /* from before the burst's first copy of memory until after its last one, as
				     seen by the host */
	uint64_t saved_bytes;	  /* bytes of memory saved and restored */
	int64_t repeated_ns;	  /* time of the repeats, without the copies between them */
	uint32_t name;		  /* name of the kernel */
	uint32_t process;
	uint32_t stream; /* index into streams; KWHY_NONE: the recording has neither the launch nor the
			    repeats */
	uint32_t blocks;
	uint32_t repeats; /* number of repeats; 0: the launch was delayed for the time of the burst and then
			     not repeated */
	uint16_t threads_per_block;
	uint8_t form;  /* enum kwhy_burst_form */
	uint8_t check; /* enum kwhy_burst_check */
};

/* Launches of one kernel with one grid and block size that were not probed, with the reason. */
struct kwhy_unprobed {
	uint64_t launches;
	uint32_t name, process;
	uint32_t blocks;
	uint16_t threads_per_block;
	const char *reason; /* text after "not probed: " */
};

enum kwhy_note_kind {
	KWHY_NOTE_COMPLETENESS, /* something that this trace cannot show */
	KWHY_NOTE_WARNING, /* the trace contradicts itself, for example in its clocks, or contains duplicates
			    */
	KWHY_NOTE_KIND_COUNT
};

struct kwhy_note {
	uint32_t kind;
	const char *id;	  /* short, and the same in all versions: "no-api-rows" */
	const char *text; /* one sentence */
};

/* Numbers of lost and skipped records. */
struct kwhy_lost {
	uint64_t dropped_records;    /* number of records that the profiler reports as lost */
	uint64_t skipped_events;     /* unusable events that were skipped, with --partial */
	uint64_t untimed_records;    /* activities and calls without times, which are left out */
	uint64_t unmatched_launches; /* launches without a recorded activity; 0 if they are at most 1 % of all
					launches */
	uint64_t unlinked_activities; /* activities of the program with whose correlation id no API call was
					 recorded */
	uint64_t unknown_bytes;	      /* copies and memsets of unknown size */
	bool truncated;		      /* a file ends early */
	bool has_holes;		      /* blocks within the file are damaged or missing */
};

/*
 * Whether records of device work may have been lost. The times of that work are unknown, so the ledger counts
 * them as idle time. `truncated` alone does not count.
 */
static inline bool kwhy_lost_work(const struct kwhy_lost *lost)
{
	return lost->dropped_records || lost->skipped_events || lost->untimed_records ||
		lost->unmatched_launches || lost->has_holes;
}

struct kwhy_recording {
	struct kwhy_arena arena; /* memory of the strings in the tables below */
	struct kwhy_names names;

	int64_t origin_unix_ns;
	bool unix_clock;	/* origin_unix_ns is real Unix time */
	const char *clock_name; /* name of the clock where it is not Unix time; NULL: it is Unix time, or the
				   files do not name it */
	bool has_calls;		/* API calls were recorded */
	bool finished;
	int64_t start_ns, end_ns; /* first start and last end of activities and calls, after
				     kwhy_recording_finish(); both 0 if there are none */

	struct kwhy_source *sources;
	struct kwhy_device *devices;
	struct kwhy_machine *machines;
	struct kwhy_process *processes;
	struct kwhy_thread *threads;
	struct kwhy_stream *streams;
	struct kwhy_range *ranges;	     /* sorted by start after kwhy_recording_finish() */
	struct kwhy_collective *collectives; /* sorted by activity after kwhy_recording_finish() */
	struct kwhy_memory_point *memory;    /* sorted by time after kwhy_recording_finish() */
	struct kwhy_power_series *power;
	struct kwhy_power_file *power_files; /* files that have only power readings, such as power CSV */
	struct kwhy_gauge_series *gauges;
	struct kwhy_perf_sample *perf_samples;	     /* in the order of the recording's file */
	struct kwhy_counter_window *counter_windows; /* in the order of the recording's file */
	struct kwhy_coverage *coverage;
	struct kwhy_selection *selections;
	struct kwhy_cost *costs;
	struct kwhy_overhead *overheads; /* sorted by start after kwhy_recording_finish() */
	struct kwhy_burst *bursts;	 /* sorted by start after kwhy_recording_finish() */
	struct kwhy_unprobed *unprobed;
	struct kwhy_work *work;
	struct kwhy_note *notes;
	size_t source_count, device_count, machine_count, process_count, thread_count, stream_count,
		range_count, collective_count, memory_count, power_count, power_file_count, gauge_count,
		perf_sample_count, counter_window_count, coverage_count, selection_count, cost_count,
		overhead_count, burst_count, unprobed_count, work_count, note_count;
	size_t source_capacity, device_capacity, machine_capacity, process_capacity, thread_capacity,
		stream_capacity, range_capacity, collective_capacity, memory_capacity, power_capacity,
		power_file_capacity, gauge_capacity, perf_sample_capacity, counter_window_capacity,
		coverage_capacity, selection_capacity, cost_capacity, overhead_capacity, burst_capacity,
		unprobed_capacity, work_capacity, note_capacity;

	struct kwhy_activities activities;
	struct kwhy_calls calls;
	struct kwhy_host_ranges host_ranges;
	struct kwhy_lost lost;
};

KWHY_MUST_USE enum kwhy_status kwhy_recording_new(struct kwhy_recording **out, struct kwhy_error *error);
void kwhy_recording_free(struct kwhy_recording *recording);

/*
 * The _add calls append a copy of an item and return its index in *out_index (out_index may be NULL). Texts
 * that the item points to must live as long as the recording: make them with kwhy_recording_copy(). The
 * kwhy_recording_find_ calls return KWHY_NONE if nothing matches.
 */
const char *kwhy_recording_copy(struct kwhy_recording *recording, const char *bytes, size_t length);
KWHY_MUST_USE enum kwhy_status kwhy_recording_add_source(struct kwhy_recording *recording,
	const struct kwhy_source *source, uint32_t *out_index, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_recording_add_device(struct kwhy_recording *recording,
	const struct kwhy_device *device, uint32_t *out_index, struct kwhy_error *error);
/* Adds a machine; its name becomes that of its host, with a number if an earlier machine has the same. */
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
/*
 * Adds a call whose class the trace states, as CSV does. If that is KWHY_CALL_OTHER, kwhy_recording_finish()
 * replaces it by the class of calls of this name. The call has no correlation id, so no activity can be
 * linked to it.
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
/*
 * Removes the last `count` readings of a device's meter, which must have that many. To be called before
 * kwhy_recording_finish().
 */
void kwhy_recording_drop_power(
	struct kwhy_recording *recording, enum kwhy_meter meter, uint32_t device, size_t count);
/* kwhy_recording_add_power() for a source whose machine and wrap are unknown. */
KWHY_MUST_USE enum kwhy_status kwhy_recording_add_reading(struct kwhy_recording *recording,
	enum kwhy_meter meter, uint32_t device, uint32_t domain, int64_t time_ns, int64_t value,
	struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_recording_add_gauge(struct kwhy_recording *recording,
	enum kwhy_gauge gauge, uint32_t device, int64_t time_ns, int64_t value, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_recording_add_perf_sample(
	struct kwhy_recording *recording, const struct kwhy_perf_sample *sample, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_recording_add_counter_window(
	struct kwhy_recording *recording, const struct kwhy_counter_window *window, struct kwhy_error *error);
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
/* Sets the count of the work in this unit, and adds the work if there is none in this unit. */
KWHY_MUST_USE enum kwhy_status kwhy_recording_set_work(
	struct kwhy_recording *recording, const char *unit, double count, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_recording_add_note(struct kwhy_recording *recording,
	enum kwhy_note_kind kind, const char *id, struct kwhy_error *error, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/*
 * Whether anything with a time has been added. The reader of the first source that adds a time chooses
 * unix_clock and origin_unix_ns for all sources.
 */
bool kwhy_recording_has_times(const struct kwhy_recording *recording);

/* The machine of a process; KWHY_NONE: unknown. */
uint32_t kwhy_recording_machine_of(const struct kwhy_recording *recording, uint32_t process);
/* The machine of a device, and the machine of the device or host that a meter reads; KWHY_NONE: unknown. */
uint32_t kwhy_recording_machine_of_device(const struct kwhy_recording *recording, uint32_t device);
uint32_t kwhy_recording_machine_of_meter(
	const struct kwhy_recording *recording, const struct kwhy_power_series *series);
/* The name of a machine; NULL: unknown. */
const char *kwhy_recording_machine_name(const struct kwhy_recording *recording, uint32_t machine);

/* Whether the recording has host meters of several machines, so that reports must name each meter's host. */
bool kwhy_recording_has_hosts(const struct kwhy_recording *recording);
/*
 * The name of the host that a meter of the host belongs to; NULL: unknown, or the series is of a device's
 * meter.
 */
const char *kwhy_recording_host_of(
	const struct kwhy_recording *recording, const struct kwhy_power_series *series);

/* The device with this number in the trace and this rank (KWHY_NONE: not distributed). */
uint32_t kwhy_recording_find_device(const struct kwhy_recording *recording, int32_t index, uint32_t rank);
/*
 * Whether several ranks must share a device: every device has a rank, and at least one process has a rank
 * that no device has.
 */
bool kwhy_recording_shares_devices(const struct kwhy_recording *recording);

/*
 * Sorts the tables, links activities to the calls that issued them (same process and correlation id),
 * classifies calls and sets start_ns and end_ns. Fails with KWHY_E_INPUT if an activity, call, range,
 * coverage, selection or burst ends before it starts, or if a time of those or of a power reading is beyond a
 * quarter of what an int64 holds; lengths thus never overflow. To be called once.
 */
KWHY_MUST_USE enum kwhy_status kwhy_recording_finish(
	struct kwhy_recording *recording, struct kwhy_error *error);

/* Index of the device of an activity row. */
static inline uint32_t kwhy_recording_device_of(const struct kwhy_recording *recording, size_t activity)
{
	return recording->streams[recording->activities.stream[activity]].device;
}

#endif

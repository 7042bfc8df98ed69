/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_EXPORT_PERFETTO_WRITER_H
#define KWHY_REPORT_EXPORT_PERFETTO_WRITER_H

#include "report/export/export.h"
#include "report/export/export_names.h"
#include "report/export/proto.h"
#include "report/export/sink.h"

/*
 * A Perfetto trace while it is being written. perfetto.c writes what the host did, as track events;
 * perfetto_stages.c writes the work of devices, as render stages, and the devices' powers, as GPU counters.
 */

/* Field numbers of protos/perfetto/trace/ in Perfetto's source that both files need. They never change. */
enum {
	KWHY_PFTRACE_PACKET = 1,
	KWHY_PFTRACE_TIMESTAMP = 8,
	KWHY_PFTRACE_INTERNED_DATA = 12,
	KWHY_PFTRACE_SEQUENCE_FLAGS = 13,
	KWHY_PFTRACE_NEEDS_STATE = 2, /* a value of the field sequence_flags */
	KWHY_PFTRACE_LANES = 8 /* number of lanes of a track: slices of one lane must nest, so a slice that
				  overlaps another goes to a further lane */
};

/*
 * Names of the arguments of slices, and of the instant events that describe the recording's devices,
 * processes, threads and streams. From these arguments kwhy reads an exported recording back
 * (import/perfetto/).
 */
#define KWHY_PFTRACE_NOTES(X)                   \
	X(ENERGY, "energy_j")                   \
	X(KIND, "kind")                         \
	X(BYTES, "bytes")                       \
	X(BLOCKS, "blocks")                     \
	X(THREADS, "threads_per_block")         \
	X(REGISTERS, "registers")               \
	X(SHARED, "shared_bytes")               \
	X(GRAPH_NODE, "graph_node")             \
	X(CORRELATION, "correlation")           \
	X(COPY_KIND, "copy_kind")               \
	X(SOURCE, "src_memory")                 \
	X(TARGET, "dst_memory")                 \
	X(PEER, "peer")                         \
	X(DEVICE_ROW, "device_row")             \
	X(PROCESS_ROW, "process_row")           \
	X(THREAD_ROW, "thread_row")             \
	X(STREAM_ROW, "stream_row")             \
	X(DEVICE, "device")                     \
	X(NAME, "name")                         \
	X(RANK, "rank")                         \
	X(WORLD_SIZE, "world_size")             \
	X(PID, "pid")                           \
	X(TID, "tid")                           \
	X(STREAM, "stream")                     \
	X(CONTEXT, "context")                   \
	X(SMS, "sms")                           \
	X(THREADS_PER_SM, "threads_per_sm")     \
	X(REGISTERS_PER_SM, "registers_per_sm") \
	X(SHARED_PER_SM, "shared_bytes_per_sm") \
	X(FILE, "file")                         \
	X(LINE, "line")                         \
	X(INPUTS, "inputs")                     \
	X(UUID, "uuid")                         \
	X(PCI, "pci")                           \
	X(HOST, "host")                         \
	X(COMPUTE, "compute_capability") /* 100 times the major plus the minor number: 900 for 9.0 */

enum kwhy_pftrace_note {
	KWHY_PFTRACE_NONE,
#define X(name, text) KWHY_PFTRACE_##name,
	KWHY_PFTRACE_NOTES(X)
#undef X
		KWHY_PFTRACE_NOTE_COUNT
};

/* Name of the argument, such as "energy_j". */
const char *kwhy_pftrace_note_name(enum kwhy_pftrace_note note);

struct kwhy_pftrace {
	const struct kwhy_report *report;
	const struct kwhy_recording *recording;
	struct kwhy_export_names names;
	struct kwhy_sink sink;
	/* name for the track that is being described; made unique, since viewers merge tracks of one name */
	struct kwhy_text label;
	/*
	 * [track][lane] end of the last slice; INT64_MIN: no slice yet. Tracks are those of streams, then of
	 * calls, then of ranges
	 */
	int64_t (*lane_end_ns)[KWHY_PFTRACE_LANES];
};

/*
 * Time stamp of the trace, ns: Unix time or, for a recording without Unix time, its own clock. A negative
 * time becomes 0, as Perfetto's time stamps are unsigned.
 */
uint64_t kwhy_pftrace_stamp(const struct kwhy_pftrace *writer, int64_t time_ns);
size_t kwhy_pftrace_begin(struct kwhy_pftrace *writer);
void kwhy_pftrace_end(struct kwhy_pftrace *writer, size_t begun);
/* The text of `label`; "": out of memory. */
const char *kwhy_pftrace_label(struct kwhy_pftrace *writer);
/*
 * Returns the first lane of the track in which the last slice has ended at start_ns, and records end_ns as
 * the end of its new last slice. If no lane is free at start_ns, it returns the last lane, in which slices
 * then overlap. *out_new: whether the lane has had no slice before.
 */
size_t kwhy_pftrace_lane(
	struct kwhy_pftrace *writer, size_t track, int64_t start_ns, int64_t end_ns, bool *out_new);
/* Appends the name of a meter to the label, with its host if there are several hosts. */
void kwhy_pftrace_add_meter(struct kwhy_pftrace *writer, const struct kwhy_power_series *series);

/* Write, in perfetto_stages.c, the specifications of names and the activities of devices. */
void kwhy_pftrace_describe_stages(struct kwhy_pftrace *writer);
void kwhy_pftrace_write_stages(struct kwhy_pftrace *writer);
/* Writes the power readings of devices. */
void kwhy_pftrace_write_gpu_powers(struct kwhy_pftrace *writer);

#endif

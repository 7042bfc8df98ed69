/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_KINETO_EVENT_H
#define KWHY_IMPORT_KINETO_EVENT_H

#include "import/kineto/walk.h"

/*
 * Kind of an event. Kineto's traces of 2021 name most categories otherwise than later ones ("Kernel", later
 * "kernel"); both names give the same kind.
 */
enum kwhy_kineto_kind {
	KWHY_KINETO_UNDECIDED,
	KWHY_KINETO_OTHER, /* flows, counters and other events that are not needed */
	KWHY_KINETO_KERNEL,
	KWHY_KINETO_COPY,
	KWHY_KINETO_MEMSET,
	KWHY_KINETO_CALL,
	KWHY_KINETO_RANGE,
	KWHY_KINETO_OPERATOR,
	KWHY_KINETO_OPERATOR_2021, /* an operator or a profiler step in a trace of 2021, where both have the
				      category "Operator" */
	KWHY_KINETO_PYTHON,
	KWHY_KINETO_SYSTEM, /* a system call in an export of kwhy */
	KWHY_KINETO_FRAME,  /* a frame of a call stack in an export of kwhy */
	KWHY_KINETO_MEMORY,
	KWHY_KINETO_OVERHEAD, /* time that the profiler itself took */
	KWHY_KINETO_GPU_OP,   /* a kernel or copy in a trace of Intel's unitrace */
	KWHY_KINETO_METADATA, /* the name of a process or thread */
	KWHY_KINETO_BY_TRACK, /* the category is missing or unknown, so the names of process and thread
				 determine the kind */
	KWHY_KINETO_KIND_COUNT
};

/*
 * Keys of an event that are read. Keys listed before "args" are members of the event itself, keys listed
 * after "args" are members of the object "args".
 */
#define KWHY_KINETO_FIELDS(X)                                                                                \
	X(PH, "ph")                                                                                          \
	X(CAT, "cat")                                                                                        \
	X(NAME, "name")                                                                                      \
	X(PID, "pid")                                                                                        \
	X(TID, "tid")                                                                                        \
	X(TS, "ts")                                                                                          \
	X(DUR, "dur")                                                                                        \
	X(ARGS, "args")                                                                                      \
	X(DEVICE, "device")                                                                                  \
	X(CONTEXT, "context")                                                                                \
	X(STREAM, "stream")                                                                                  \
	X(CORRELATION, "correlation")                                                                        \
	X(BYTES, "bytes")                                                                                    \
	X(GRID, "grid")                                                                                      \
	X(BLOCK, "block")                                                                                    \
	X(REGISTERS, "registers per thread")                                                                 \
	X(SHARED, "shared memory")                                                                           \
	X(GRAPH_NODE, "graph node id")                                                                       \
	X(PROCESS, "process")                                                                                \
	X(COPY_KIND, "kind") /* of a copy, in traces of ROCm: its direction, "DtoD"; of a range: "nvtx" */   \
	X(FROM_DEVICE, "fromDevice")                                                                         \
	X(TO_DEVICE, "toDevice")                                                                             \
	X(DEVICE_ID, "Device Id")                                                                            \
	X(DEVICE_TYPE, "Device Type")                                                                        \
	X(TOTAL_ALLOCATED, "Total Allocated")                                                                \
	X(TOTAL_RESERVED, "Total Reserved")                                                                  \
	X(COLLECTIVE, "Collective name")                                                                     \
	X(COLLECTIVE_TYPE, "dtype")                                                                          \
	X(GROUP_NAME, "Process Group Name")                                                                  \
	X(GROUP_MEMBERS, "Process Group Ranks")                                                              \
	X(GROUP_SIZE, "Group size")                                                                          \
	X(IN_ELEMENTS, "In msg nelems")                                                                      \
	X(OUT_ELEMENTS, "Out msg nelems")                                                                    \
	X(SEQUENCE, "Seq")                                                                                   \
	X(INPUT_DIMS, "Input Dims")                                                                          \
	X(INPUT_DIMS_2020, "Input dims")                                                                     \
	X(INPUT_TYPES, "Input type")                                                                         \
	X(CONCRETE_INPUTS, "Concrete Inputs")                                                                \
	X(CALL_STACK, "Call stack") /* "train.py(54): step;main.py(9): main", innermost frame first */       \
	X(RANK, "rank") /* rank of the process that the event is of, in files that TraceFuse merged from the \
			   traces of several ranks */                                                        \
	X(PID_RAW, "pid_raw") /* number of the process on its node, in files of TraceFuse */                 \
	X(GRID_X, "grid_x")   /* this key and the next five are written by ONNX Runtime */                   \
	X(GRID_Y, "grid_y")                                                                                  \
	X(GRID_Z, "grid_z")                                                                                  \
	X(BLOCK_X, "block_x")                                                                                \
	X(BLOCK_Y, "block_y")                                                                                \
	X(BLOCK_Z, "block_z")                                                                                \
	X(CORRELATION_ID, "correlation_id") /* this key and the next four are written by XLA's profiler */   \
	X(KERNEL_DETAILS, "kernel_details")                                                                  \
	X(COPY_DETAILS, "memcpy_details")                                                                    \
	X(SET_DETAILS, "memset_details")                                                                     \
	X(STEP, "step_num")                                                                                  \
	X(LABEL, "label of a track") /* the value of "name" in the "args" of a metadata event */

enum kwhy_kineto_field {
#define X(name, text) KWHY_KINETO_FIELD_##name,
	KWHY_KINETO_FIELDS(X)
#undef X
		KWHY_KINETO_FIELD_COUNT
};

/*
 * Words are compared eight bytes at a time, so a text that is looked up in struct kwhy_kineto_words must be
 * followed by this many readable bytes.
 */
enum { KWHY_KINETO_WORD_PAD = 8 };

struct kwhy_kineto_word {
	char text[24];
	uint8_t length; /* 0: the slot is free */
	uint8_t value;	/* enum kwhy_kineto_field or enum kwhy_kineto_kind */
};

enum { KWHY_KINETO_WORD_SLOTS = 256 };

/*
 * Hash tables of the known keys and categories. kwhy_kineto_words_init() fills them once for each file; then
 * they do not change.
 */
struct kwhy_kineto_words {
	struct kwhy_kineto_word fields[KWHY_KINETO_WORD_SLOTS];
	struct kwhy_kineto_word categories[KWHY_KINETO_WORD_SLOTS];
};

void kwhy_kineto_words_init(struct kwhy_kineto_words *words);

/* An event as the positions of its fields in `text`. field[F] is valid if bit F of `seen` is set. */
struct kwhy_kineto_event {
	const char *text;
	uint64_t text_offset; /* offset of `text` in the whole file, bytes */
	uint32_t at;	      /* offset of the event's '{' in `text`, bytes */
	char phase;	 /* field "ph": 'X' a whole slice, 'B' and 'E' its begin and end, ...; NUL: missing */
	bool streamless; /* the trace does not state the streams on which work of devices ran */
	enum kwhy_kineto_kind kind;
	uint64_t seen;
	struct kwhy_kineto_span field[KWHY_KINETO_FIELD_COUNT];
};

/*
 * Reads the event at the walk's next token and moves the walk past it. Of an event of kind KWHY_KINETO_OTHER
 * only some fields are set. False: the text is not valid JSON or ends inside the event; the walk then stays
 * at the offending token.
 */
bool kwhy_kineto_event_read(struct kwhy_kineto_event *event, struct kwhy_kineto_walk *walk,
	const struct kwhy_kineto_words *words);

static inline bool kwhy_kineto_event_has(const struct kwhy_kineto_event *event, enum kwhy_kineto_field field)
{
	return event->seen >> field & 1;
}

/* The JSON key of a field, for messages. */
const char *kwhy_kineto_field_text(enum kwhy_kineto_field field);

/* Text of a field without its quotes, with escapes not decoded. Empty if the event has no such field. */
struct kwhy_kineto_span kwhy_kineto_event_text(
	const struct kwhy_kineto_event *event, enum kwhy_kineto_field field);

/*
 * Reads a field that is a number, or a number in quotes, rounded to an integer. False: the event has no such
 * field, or its value is not a number in the range of int64_t.
 */
bool kwhy_kineto_event_integer(
	const struct kwhy_kineto_event *event, enum kwhy_kineto_field field, int64_t *out);

#endif

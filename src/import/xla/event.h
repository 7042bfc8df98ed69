/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_XLA_EVENT_H
#define KWHY_IMPORT_XLA_EVENT_H

#include "base/span.h"
#include "model/recording.h"

/*
 * This header interprets the events of XLA's profiler, which JAX and TensorFlow use. The profiler writes the
 * same names and texts in two formats: Chrome JSON (trace.json.gz), with processes and threads, and protocol
 * buffers (.xplane.pb), where these are called planes and lines.
 */

/*
 * The device number in the name of a process or plane, such as 3 in "/device:GPU:3"; -1: the name is not a
 * GPU's.
 */
int32_t kwhy_xla_gpu(const char *process);
/* Whether a process or plane of that name contains threads of the host. */
bool kwhy_xla_is_host(const char *process);
/*
 * The stream number in the name of a thread or line, such as 13 in "Stream #13(Compute,MemcpyD2D)"; -1: the
 * name is not a stream's. Other lines of a device, such as "XLA Ops", show the work of its streams a second
 * time.
 */
int64_t kwhy_xla_stream(const char *line);

/*
 * Sets the kind of an activity, and the direction of a copy, by the name of an event of a stream; an unknown
 * name leaves them unchanged (a kernel). False: the event is an allocation or a note of the profiler and not
 * an activity.
 */
bool kwhy_xla_activity_read(const char *name, struct kwhy_activity *activity);

/* The texts that describe an event of a stream; `bytes` NULL: the event lacks the text. */
struct kwhy_xla_details {
	struct kwhy_span kernel; /* "regs:32 static_shared:0 dynamic_shared:0 grid:108,1,1 block:128,1,1" */
	struct kwhy_span copy;	 /* "kind_src:pageable kind_dst:device size:4096" */
	struct kwhy_span set;	 /* "kind:device size:64" */
};

/*
 * Reads registers, shared memory, grid and block of a kernel, or size and memory kinds of a copy or memset.
 * An activity that counts as a kernel but has only the text of a copy or memset becomes a copy or memset.
 */
void kwhy_xla_details_read(const struct kwhy_xla_details *details, struct kwhy_activity *activity);

enum kwhy_xla_host_kind {
	KWHY_XLA_CALL,	   /* a call of CUDA or HIP */
	KWHY_XLA_PYTHON,   /* a Python frame: "$train.py:54 step" */
	KWHY_XLA_OPERATOR, /* anything else that the host did */
};

enum kwhy_xla_host_kind kwhy_xla_host_kind(const char *name, size_t length);

/*
 * The parts of the name of a Python frame, "$train.py:54 step". line 0 and file_length 0: the name has no
 * file and line.
 */
struct kwhy_xla_frame {
	const char *file, *function;
	size_t file_length, function_length;
	uint32_t line;
};

struct kwhy_xla_frame kwhy_xla_frame_read(const char *name, size_t length);

#endif

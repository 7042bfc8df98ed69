/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_XLA_EVENT_H
#define KWHY_IMPORT_XLA_EVENT_H

#include "base/span.h"
#include "model/recording.h"

/*
 * Interprets the events of XLA's profiler, which JAX and TensorFlow use. The profiler writes two formats,
 * Chrome JSON (trace.json.gz) and protocol buffers (.xplane.pb), with the same names and texts. Processes and
 * threads in JSON are called planes and lines in protocol buffers.
 */

/*
 * The device number in the name of a process or plane, such as 3 in "/device:GPU:3"; -1: the name is not a
 * GPU's.
 */
int32_t kwhy_xla_gpu(const char *process);
/* Whether a process or plane holds the threads of the host. */
bool kwhy_xla_is_host(const char *process);
/*
 * The stream number in the name of a thread or line, such as 13 in "Stream #13(Compute,MemcpyD2D)"; -1: the
 * name is not a stream's. Other lines of a device, such as "XLA Ops", show the work of its streams a second
 * time.
 */
int64_t kwhy_xla_stream(const char *line);

/*
 * Sets the kind of a stream's event, and the direction of a copy, by the event's name. False: the event is an
 * allocation or a note of the profiler, not work of the device.
 */
bool kwhy_xla_activity_read(const char *name, struct kwhy_activity *activity);

/* The texts that describe an event of a stream; `bytes` NULL: the event has none of that kind. */
struct kwhy_xla_details {
	struct kwhy_span kernel; /* "regs:32 static_shared:0 dynamic_shared:0 grid:108,1,1 block:128,1,1" */
	struct kwhy_span copy;	 /* "kind_src:pageable kind_dst:device size:4096" */
	struct kwhy_span set;	 /* "kind:device size:64" */
};

/*
 * Reads the launch of a kernel, or the size and memories of a copy or memset. If kwhy_xla_activity_read()
 * took the event for a kernel but these texts describe only a copy or memset, its kind is corrected.
 */
void kwhy_xla_details_read(const struct kwhy_xla_details *details, struct kwhy_activity *activity);

enum kwhy_xla_host_kind {
	KWHY_XLA_CALL,	   /* a call of CUDA or HIP */
	KWHY_XLA_PYTHON,   /* a Python frame: "$train.py:54 step" */
	KWHY_XLA_OPERATOR, /* anything else that the host did */
};

enum kwhy_xla_host_kind kwhy_xla_host_kind(const char *name, size_t length);

/* The parts of a Python frame's name; line 0: unknown. */
struct kwhy_xla_frame {
	const char *file, *function;
	size_t file_length, function_length;
	uint32_t line;
};

struct kwhy_xla_frame kwhy_xla_frame_read(const char *name, size_t length);

#endif

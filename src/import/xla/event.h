/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_XLA_EVENT_H
#define KWHY_IMPORT_XLA_EVENT_H

#include "base/span.h"
#include "model/recording.h"

/*
 * Meaning of the events of XLA's profiler, which JAX and TensorFlow use. It writes two formats, Chrome JSON
 * (trace.json.gz) and protocol buffers (.xplane.pb), with the same names and texts. What is a process and a
 * thread in JSON is a plane and a line in protocol buffers.
 */

/* The device number of a process or plane, 3 for "/device:GPU:3"; -1: it is no GPU's. */
int32_t kwhy_xla_gpu(const char *process);
/* Whether a process or plane holds the threads of the host. */
bool kwhy_xla_is_host(const char *process);
/*
 * The stream of a thread or line, 13 for "Stream #13(Compute,MemcpyD2D)"; -1: it is no stream's. Other lines
 * of a device, such as "XLA Ops", show the work of its streams a second time.
 */
int64_t kwhy_xla_stream(const char *line);

/*
 * Sets the kind of a stream's event, and the direction of a copy, by the event's name. False: the event is an
 * allocation or a note of the profiler and no work of the device.
 */
bool kwhy_xla_activity_read(const char *name, struct kwhy_activity *activity);

/* The texts that describe an event of a stream; `bytes` NULL: the event has none of that kind. */
struct kwhy_xla_details {
	struct kwhy_span kernel; /* "regs:32 static_shared:0 dynamic_shared:0 grid:108,1,1 block:128,1,1" */
	struct kwhy_span copy;	 /* "kind_src:pageable kind_dst:device size:4096" */
	struct kwhy_span set;	 /* "kind:device size:64" */
};

/*
 * Reads the launch of a kernel, or the size and memories of a copy or memset. An event that
 * kwhy_xla_activity_read() took for a kernel, and that is described as a copy or memset alone, becomes one.
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

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_XLA_EVENT_H
#define KWHY_IMPORT_XLA_EVENT_H

#include "model/recording.h"

/*
 * What the events of XLA's profiler mean, which JAX and TensorFlow use. It writes them in two forms, Chrome
 * JSON (trace.json.gz) and protocol buffers (.xplane.pb), with the same names and texts.
 */

/* The device number of a process or plane, "/device:GPU:3"; -1: no GPU. */
int32_t kwhy_xla_gpu(const char *process);
/* Whether a process or plane holds the threads of the host. */
bool kwhy_xla_is_host(const char *process);
/*
 * The stream of a thread or line, "Stream #13(Compute,MemcpyD2D)"; -1: none. Other lines of a device, "XLA
 * Ops" and the like, show the same work again.
 */
int64_t kwhy_xla_stream(const char *line);

/*
 * Sets the kind of an event on a stream, and a copy's direction, by the event's name. False: no work of the
 * device but an allocation or a note of the profiler.
 */
bool kwhy_xla_activity_read(const char *name, struct kwhy_activity *activity);
/* "regs:32 static_shared:0 dynamic_shared:0 grid:108,1,1 block:128,1,1 occ_pct:100" */
void kwhy_xla_kernel_details(const char *text, size_t length, struct kwhy_activity *activity);
/* Of copies "kind_src:pageable kind_dst:device size:4096", of memsets "kind:device size:64". */
void kwhy_xla_transfer_details(const char *text, size_t length, struct kwhy_activity *activity);

enum kwhy_xla_host_kind {
	KWHY_XLA_CALL,	   /* of CUDA or HIP */
	KWHY_XLA_PYTHON,   /* "$train.py:54 step" */
	KWHY_XLA_OPERATOR, /* anything else that the host did */
};

enum kwhy_xla_host_kind kwhy_xla_host_kind(const char *name, size_t length);

/* The parts of a Python frame's name; `line` 0: unknown. */
struct kwhy_xla_frame {
	const char *file, *function;
	size_t file_length, function_length;
	uint32_t line;
};

struct kwhy_xla_frame kwhy_xla_frame_read(const char *name, size_t length);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_PROBE_H
#define KWHY_INJECT_PROBE_PROBE_H

#include "inject/probe/burst.h"
#include "inject/probe/graphs.h"
#include "inject/probe/handlers.h"
#include "inject/probe/options.h"
#include "vendor/cupti.h"

/*
 * The prober of a process. It subscribes to CUPTI's callbacks and repeats some of the program's kernels right
 * after the program's own launches, to measure their power. Only one thread at a time holds a burst. Other
 * threads that launch, copy or free wait for its end, because their effects would be undone when memory is
 * restored. After a failure, the kernel or all kernels are probed no more; no error reaches the program.
 */
enum {
	KWHY_PROBE_CALLS = 2048,
	KWHY_PROBE_CONTEXTS = 16,
	KWHY_PROBE_ROWS = 1024,
	KWHY_PROBE_NOTE_BYTES = 600
};

/*
 * Values of `form` of a burst, as in a recording (model/recording.h): 0: repeats without pause after the
 * program's launch; 1: the same with memory restored before each repeat; 2 (AFTER): repeats after a graph or
 * a copy of the program; 3 (COPIES): only the copies that restore memory were repeated.
 */
enum { KWHY_PROBE_ROW_AFTER = 2, KWHY_PROBE_ROW_COPIES };

/* A burst, or an attempt without repeats, that has ended and is not yet written to the recording. */
struct kwhy_probe_row {
	const struct kwhy_probe_account *account;
	int64_t start_mono_ns, launch_mono_ns, launched_mono_ns, end_mono_ns;
	int64_t repeated_ns;
	uint64_t saved_bytes;
	uint32_t correlation, context, thread, repeats;
	uint8_t form, check;
};

struct kwhy_probe {
	struct kwhy_cuda_probe driver;
	kwhy_cupti_subscriber subscriber;
	struct kwhy_probe_options options;
	struct kwhy_probe_accounts accounts;
	struct kwhy_probe_memory memory;
	struct kwhy_probe_pace pace;
	struct kwhy_probe_context probe_contexts[KWHY_PROBE_CONTEXTS];
	struct kwhy_probe_burst burst; /* the current burst; used only by the thread that holds it */
	struct kwhy_probe_graphs graphs;
	struct kwhy_probe_writes writes[KWHY_PROBE_WRITERS];
	atomic_flag held;
	atomic_bool is_on, is_held;
	atomic_uint_least64_t graph_launches, cooperative_launches;
	atomic_uint bursts;
	struct {
		uint8_t handler;
		bool is_of_thread; /* the call takes stream NULL as the calling thread's own default stream */
	} calls[KWHY_PROBE_CALLS];
	struct kwhy_probe_row rows[KWHY_PROBE_ROWS];
	atomic_uint row_head, row_tail;
	atomic_uint_least64_t lost_rows;
	char note[KWHY_PROBE_NOTE_BYTES]; /* why probing ended early; valid if has_note */
	atomic_bool has_note, has_noted_note;
	int log; /* descriptor of the log; -1: no log */
};

/* The prober of the process; NULL: it is off. */
struct kwhy_probe *kwhy_probe_get(void);

/*
 * Starts the prober if the environment asks for it. Called while the driver initialises, after the collection
 * of activity has started. Returns the reason why the prober cannot start; NULL: it started, or the
 * environment does not ask for it.
 */
const char *kwhy_probe_start(const struct kwhy_cupti *cupti, char *(*get)(const char *name));

/* Ends probing: no further burst starts. Waits at most two seconds for the end of a running one. */
void kwhy_probe_stop(void);

/* Call it in a child of fork: the prober that the child has inherited is off from then on. */
void kwhy_probe_forget(void);

/* The callback through which CUPTI reports calls; exported for tests. */
void kwhy_probe_on_call(void *context, int domain, uint32_t id, const void *data);

#endif

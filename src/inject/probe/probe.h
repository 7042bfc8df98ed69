/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_PROBE_H
#define KWHY_INJECT_PROBE_PROBE_H

#include "inject/probe/burst.h"
#include "inject/probe/graphs.h"
#include "inject/probe/handlers.h"
#include "inject/probe/options.h"
#include "vendor/cupti.h"

/*
 * The prober of a process: subscribes to CUPTI's callbacks, and launches some of the program's kernels again
 * where they stand. One thread at a time has a burst; others that launch, copy or free
 * meanwhile wait for its end, since what they do would be undone when memory is put back. Whatever goes wrong
 * ends in less being probed; nothing here fails towards the program.
 */
enum {
	KWHY_PROBE_CALLS = 2048,
	KWHY_PROBE_CONTEXTS = 16,
	KWHY_PROBE_ROWS = 1024,
	KWHY_PROBE_NOTE_BYTES = 600
};

/* As a recording numbers forms (model/recording.h): 0 back to back, 1 put back before each repeat. */
enum { KWHY_PROBE_ROW_AFTER = 2 };

/* A burst that has ended, until it is written down. */
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
	struct kwhy_probe_burst burst; /* of whoever holds it */
	struct kwhy_probe_graphs graphs;
	struct kwhy_probe_writes writes[KWHY_PROBE_WRITERS];
	atomic_flag held;
	atomic_bool is_on, is_held;
	atomic_uint_least64_t graph_launches, cooperative_launches;
	atomic_uint bursts;
	struct {
		uint8_t handler;
		bool is_of_thread; /* a form of the call whose stream NULL is the thread's */
	} calls[KWHY_PROBE_CALLS];
	struct kwhy_probe_row rows[KWHY_PROBE_ROWS];
	atomic_uint row_head, row_tail;
	atomic_uint_least64_t lost_rows;
	char note[KWHY_PROBE_NOTE_BYTES]; /* why the probing has ended early; where has_note */
	atomic_bool has_note, has_noted_note;
	int log; /* -1: none */
};

/* The prober of the process, where it is on; else NULL. */
struct kwhy_probe *kwhy_probe_get(void);

/*
 * While the driver initialises, behind the start of CUPTI's activity: begins where the environment asks for
 * it. NULL: all is well, or nothing is asked for; else why it cannot be.
 */
const char *kwhy_probe_start(const struct kwhy_cupti *cupti, char *(*get)(const char *name));

/* No more bursts; waits for one that runs, two seconds at most. */
void kwhy_probe_stop(void);

/* In a child of fork: nothing of the parent's goes on. */
void kwhy_probe_forget(void);

/* What CUPTI calls; for tests. */
void kwhy_probe_on_call(void *context, int domain, uint32_t id, const void *data);

#endif

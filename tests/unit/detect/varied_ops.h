/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_DETECT_VARIED_OPS_H
#define KWHY_TESTS_DETECT_VARIED_OPS_H

#include "model/recording.h"

#include <stdbool.h>
#include <stdint.h>

/* The simulated program: host threads that issue operations, and streams that run them. */
enum { VARIED_DEVICES = 4, VARIED_THREADS = 8, VARIED_STREAMS = 10 };

struct varied_program {
	struct kwhy_recording *recording;
	uint64_t random; /* state of varied_below() */
	uint32_t device_count, thread_count, stream_count;
	uint32_t thread_process[VARIED_THREADS];
	uint32_t stream_device[VARIED_STREAMS], stream_process[VARIED_STREAMS];
	int64_t host_ns[VARIED_THREADS];   /* end of the last call or pause of each thread */
	int64_t stream_ns[VARIED_STREAMS]; /* end of the last work of each stream */
	int64_t gap_ns;			   /* time between two calls of a thread */
	uint32_t correlation;
	bool uneven; /* lengths differ from round to round */
	uint32_t round;
	bool mixed; /* more threads and streams, and rounds that differ */
};

/* An operation and its parameters. `choice` and `name` select variants of it, such as its kernel's name. */
struct varied_op {
	void (*run)(struct varied_program *program, const struct varied_op *op);
	uint32_t thread, stream, other; /* other: a second stream of the same process */
	uint32_t repeats, name, choice;
	int64_t length_ns;
	uint64_t bytes;
};

enum { VARIED_OPS = 34, VARIED_MIXED_OPS = 12 };

/* All operations, by number, and those that only mixed programs have. */
extern void (*const varied_ops[VARIED_OPS])(struct varied_program *program, const struct varied_op *op);
extern void (*const varied_mixed_ops[VARIED_MIXED_OPS])(
	struct varied_program *program, const struct varied_op *op);

/* Adds a call of the thread, after its last call or pause. Returns the call's start. */
int64_t varied_call(
	struct varied_program *program, uint32_t thread, const char *name, int64_t length_ns, uint32_t id);
/*
 * Makes an activity in the operation's stream whose call is to get a new correlation id. It is not added to
 * the recording.
 */
struct kwhy_activity varied_activity(
	struct varied_program *program, const struct varied_op *op, const char *name);
/*
 * Adds an activity of `length_ns`: it starts when the last one of its stream has ended, but not before
 * `delay_ns` after call_ns, the start of its call. Returns its end.
 */
int64_t varied_run(struct varied_program *program, struct kwhy_activity *row, int64_t call_ns,
	int64_t delay_ns, int64_t length_ns);

void varied_launch(struct varied_program *program, const struct varied_op *op);
/* Operators of a framework (varied_operators.c): equal ones in a row, unfused attention, a growing cache,
 * modules. */
void varied_operate(struct varied_program *program, const struct varied_op *op);
void varied_attend(struct varied_program *program, const struct varied_op *op);
void varied_append(struct varied_program *program, const struct varied_op *op);
void varied_step_model(struct varied_program *program, const struct varied_op *op);

/* Adds a host range of the thread. */
void varied_range(struct varied_program *program, uint32_t thread, struct kwhy_host_range row);
uint32_t varied_name(struct kwhy_recording *recording, const char *name);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_DETECT_VARIED_OPS_H
#define KWHY_TESTS_DETECT_VARIED_OPS_H

#include "model/recording.h"

#include <stdbool.h>
#include <stdint.h>

/* The program that varied.c simulates: threads that issue operations, and streams that run them. */
enum { VARIED_DEVICES = 4, VARIED_THREADS = 8, VARIED_STREAMS = 10 };

struct varied_program {
	struct kwhy_recording *recording;
	uint64_t random; /* state of varied_below() */
	uint32_t device_count, thread_count, stream_count;
	uint32_t thread_process[VARIED_THREADS];
	uint32_t stream_device[VARIED_STREAMS], stream_process[VARIED_STREAMS];
	int64_t host_ns[VARIED_THREADS];   /* end of the last call or pause of each thread */
	int64_t stream_ns[VARIED_STREAMS]; /* end of the last work of each stream */
	int64_t gap_ns;			   /* between one call and the next */
	uint32_t correlation;
	bool uneven; /* lengths differ from round to round */
	uint32_t round;
	bool mixed; /* more threads and streams, and rounds that differ */
};

/* The parameters of an operation, which are the same in each round. */
struct varied_op {
	void (*run)(struct varied_program *program, const struct varied_op *op);
	uint32_t thread, stream, other; /* other: a second stream of the same process */
	uint32_t repeats, name, choice;
	int64_t length_ns;
	uint64_t bytes;
};

enum { VARIED_OPS = 34, VARIED_MIXED_OPS = 12 };

/* All operations, in the order of the numbers that varied.c draws, and those of mixed programs alone. */
extern void (*const varied_ops[VARIED_OPS])(struct varied_program *program, const struct varied_op *op);
extern void (*const varied_mixed_ops[VARIED_MIXED_OPS])(
	struct varied_program *program, const struct varied_op *op);

/* Adds a call at the thread's present time and moves that on. Returns the call's start. */
int64_t varied_call(
	struct varied_program *program, uint32_t thread, const char *name, int64_t length_ns, uint32_t id);
/* An activity of the operation's stream, with a new correlation id as its call. */
struct kwhy_activity varied_activity(
	struct varied_program *program, const struct varied_op *op, const char *name);
/* Runs work at the end of its stream, and no sooner than `delay_ns` after its call began. Returns its end. */
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

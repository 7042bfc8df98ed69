/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_LINES_STACKS_H
#define KWHY_INJECT_LINES_STACKS_H

#include "inject/lines/python.h"

/*
 * Call stacks of the program at some of its calls of CUDA, on their way to the thread that writes them. A
 * thread takes its own, when CUPTI asks for the time at the beginning or the end of a call: behind each pause
 * that is worth it, and at one call in a few hundred. It takes no lock and calls nothing of the program, and
 * stops where it has spent KWHY_STACKS_SHARE of its time on stacks, or no place is free.
 */
enum {
	KWHY_STACKS_QUEUED = 64,
	KWHY_STACKS_PYTHON_THREADS = 16, /* remembered, each where its number puts it */
	KWHY_STACKS_SHARE = 200,	 /* one part of this many of a thread's time, at most */
	KWHY_STACKS_SAVED_NS = 200000,	 /* time that a thread may save up for more stacks at once */
	KWHY_STACKS_PAUSE_NS =
		20000,		 /* a stretch without a call that is a pause; a launch takes 2 to 10 us */
	KWHY_STACKS_EVERY = 1024 /* one in half so many beginnings and ends of calls, on average */
};

/* Zeroed memory is an empty one. */
struct kwhy_stacks {
	struct kwhy_python python;
	atomic_uint_least64_t put;
	uint64_t got;
	/* Threads that had frames of Python: others work while one of them waits, as PyTorch's backward does.
	 */
	struct {
		_Atomic(const void *) thread;
		atomic_uint id;
		atomic_int_least64_t seen_mono_ns; /* 0: none */
	} python_threads[KWHY_STACKS_PYTHON_THREADS];
	struct {
		atomic_uint_least64_t turn; /* place + 1 once it is filled */
		struct kwhy_stack stack;
	} queue[KWHY_STACKS_QUEUED];
};

/* Stacks are taken from now on, into that memory; NULL: none are any more. */
void kwhy_stacks_begin(struct kwhy_stacks *stacks);

/* Now a call of this thread begins or ends. Takes its stack where that is due. */
void kwhy_stacks_see(int64_t now_mono_ns);

/* For a thread of ours: its calls are none of the program's. */
void kwhy_stacks_leave_thread_out(void);

/* Takes the stack of this thread, which called last at `since_mono_ns`. False: there is no place for it. */
bool kwhy_stacks_take(struct kwhy_stacks *stacks, int64_t since_mono_ns, int64_t now_mono_ns);

/* The next one that was taken, and lets it go again. NULL: none. One thread at a time. */
const struct kwhy_stack *kwhy_stacks_next(struct kwhy_stacks *stacks);
void kwhy_stacks_let_go(struct kwhy_stacks *stacks);

#endif

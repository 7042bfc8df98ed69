/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_LINES_STACK_H
#define KWHY_INJECT_LINES_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A call stack as a thread of the program takes it, innermost frame first. Everything in it is a copy,
 * because its sources may be gone by the time it is written. Frames that do not fit are left out, the
 * outermost first.
 */
enum { KWHY_STACK_FRAMES = 128, KWHY_STACK_TEXT_BYTES = 15 << 10 };

struct kwhy_stack_frame {
	uint64_t address;	 /* return address of a native frame; 0: a Python frame */
	uint32_t line;		 /* line of a Python frame; 0: unknown */
	uint16_t file, function; /* offsets of zero-terminated names in `text` */
};

struct kwhy_stack {
	int64_t time_mono_ns;
	int64_t since_mono_ns; /* when the thread's previous call began or ended; 0: it made no call before */
	uint32_t thread;       /* the system's id of the thread that called CUDA */
	uint32_t of_thread;    /* thread whose stack this is: another one if the calling thread has no Python
				  stack */
	uint32_t count, text_bytes;
	struct kwhy_stack_frame frames[KWHY_STACK_FRAMES];
	char text[KWHY_STACK_TEXT_BYTES];
};

#endif

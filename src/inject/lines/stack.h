/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_LINES_STACK_H
#define KWHY_INJECT_LINES_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A call stack, innermost frame first, taken on a thread of the program. All of it is a copy, because the
 * memory that it was read from may be gone when the stack is written. If not all frames or names fit, the
 * outermost frames are left out.
 */
enum { KWHY_STACK_FRAMES = 128, KWHY_STACK_TEXT_BYTES = 15 << 10 };

struct kwhy_stack_frame {
	uint64_t address;	 /* return address of a native frame; 0: a Python frame */
	uint32_t line;		 /* line of a Python frame; 0: unknown */
	uint16_t file, function; /* offsets in `text` of the zero-terminated names of file and function */
};

struct kwhy_stack {
	int64_t time_mono_ns;
	int64_t since_mono_ns; /* time at which the previous CUDA call of the thread began or ended; 0: the
				  thread made no call before */
	uint32_t thread;       /* the system's id of the thread that called CUDA */
	uint32_t of_thread; /* id of the thread whose stack this is: `thread` or, if that has no Python frame,
			       a Python thread that probably waits for it */
	uint32_t count, text_bytes;
	struct kwhy_stack_frame frames[KWHY_STACK_FRAMES];
	char text[KWHY_STACK_TEXT_BYTES];
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_LINES_STACK_H
#define KWHY_INJECT_LINES_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A call stack as a thread of the program takes it, innermost frame first: everything in it is a copy, since
 * what it was read from may be gone when it is written. Frames that do not fit are left out, the outermost
 * first.
 */
enum { KWHY_STACK_FRAMES = 128, KWHY_STACK_TEXT_BYTES = 15 << 10 };

struct kwhy_stack_frame {
	uint64_t address;	 /* where a native frame goes on; 0: a frame of Python */
	uint32_t line;		 /* of Python; 0: unknown */
	uint16_t file, function; /* in `text`, each ends in 0 */
};

struct kwhy_stack {
	int64_t time_mono_ns;
	int64_t since_mono_ns; /* when the thread's last call before that began or ended; 0: there was none */
	uint32_t thread;       /* of the system: which called CUDA */
	uint32_t of_thread;    /* whose stack it is, where the calling thread has none of Python's */
	uint32_t count, text_bytes;
	struct kwhy_stack_frame frames[KWHY_STACK_FRAMES];
	char text[KWHY_STACK_TEXT_BYTES];
};

#endif

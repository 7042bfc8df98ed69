/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_LINES_PYTHON_LAYOUT_H
#define KWHY_INJECT_LINES_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a code object says which line an instruction is of. */
enum kwhy_python_lines {
	KWHY_PYTHON_LNOTAB,    /* 3.9 */
	KWHY_PYTHON_LINETABLE, /* 3.10: PEP 626 */
	KWHY_PYTHON_LOCATIONS  /* 3.11 on: PEP 657 */
};

/* Where things lie in the objects of one version of CPython: bytes from an object's start. */
struct kwhy_python_layout {
	uint16_t thread_frame; /* thread state: its innermost frame, or what points there */
	uint16_t
		cframe_frame; /* in what it points to, the innermost frame; KWHY_PYTHON_NOWHERE: it is that */
	uint16_t frame_back, frame_code;
	uint16_t frame_instruction; /* a pointer into the code, or, where code_bytes is nowhere, an index */
	uint16_t frame_owner;	    /* KWHY_PYTHON_NOWHERE: none */
	uint16_t code_file, code_function, code_first_line, code_lines;
	uint16_t code_bytes;	   /* the instructions themselves */
	uint8_t instruction_bytes; /* of an index's unit */
	uint8_t text_bits;	   /* in a string's state, below its kind */
	uint8_t text_ascii_bytes;  /* head of a string of ASCII; a wide one's is that and two words */
	uint8_t lines;		   /* enum kwhy_python_lines */
};

#define KWHY_PYTHON_NOWHERE UINT16_MAX

/*
 * The layout of a version, as Py_GetVersion() words it: "3.11.7 (main, ...". `runtime` is _PyRuntime, from
 * which 3.13 on is read; it may be NULL before. False: not a version that is known, or one without a lock.
 */
bool kwhy_python_layout_of(const char *version, const void *runtime, struct kwhy_python_layout *out);

/* The line of the instruction at that byte; 0: none, or the table is not whole. */
uint32_t kwhy_python_line_of(enum kwhy_python_lines lines, uint32_t first_line, const unsigned char *table,
	size_t table_bytes, size_t at_byte);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_LINES_PYTHON_LAYOUT_H
#define KWHY_INJECT_LINES_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Format of the table with which a code object maps instructions to lines. */
enum kwhy_python_lines {
	KWHY_PYTHON_LNOTAB,    /* CPython 3.9 */
	KWHY_PYTHON_LINETABLE, /* CPython 3.10: PEP 626 */
	KWHY_PYTHON_LOCATIONS  /* CPython 3.11 and later: PEP 657 */
};

/* Offsets of fields in the objects of one version of CPython, in bytes from an object's start. */
struct kwhy_python_layout {
	uint16_t thread_frame; /* in a thread state: its innermost frame or, where _PyCFrame exists, a pointer
				  to the _PyCFrame that holds the innermost frame */
	uint16_t cframe_frame; /* in a _PyCFrame: the innermost frame; KWHY_PYTHON_NOWHERE: this version has
				  no _PyCFrame */
	uint16_t frame_back, frame_code;
	uint16_t frame_instruction; /* in a frame: a pointer to the current instruction or, if code_bytes is
				       KWHY_PYTHON_NOWHERE, the index of that instruction */
	uint16_t frame_owner;	    /* in a frame: its owner, which is 3 or above for frames of the C stack;
				       KWHY_PYTHON_NOWHERE: no such field */
	uint16_t code_file, code_function, code_first_line, code_lines;
	uint16_t code_bytes; /* in a code object: its first instruction; KWHY_PYTHON_NOWHERE: not needed,
				since frame_instruction is an index */
	uint8_t instruction_bytes; /* if frame_instruction is an index: bytes of code per unit of it */
	uint8_t text_bits;	   /* number of bits below the character width in the state of a string */
	uint8_t text_ascii_bytes;  /* bytes of the header of an ASCII string; the header of other strings is
				      three words longer, or two from CPython 3.12 on */
	uint8_t lines;		   /* enum kwhy_python_lines */
};

#define KWHY_PYTHON_NOWHERE UINT16_MAX

/*
 * Finds the layout of a version, given by the text of Py_GetVersion(), as "3.11.7 (main, ...". `runtime` is
 * _PyRuntime, from which the layout of 3.13 and later is read; it may be NULL for earlier versions. False:
 * the version is unknown, or the interpreter was built without its lock.
 */
bool kwhy_python_layout_of(const char *version, const void *runtime, struct kwhy_python_layout *out);

/*
 * Line of the instruction at the offset `at_byte` in bytes from the first one, from a code object's line
 * table. 0: the instruction has no line, or the table ends before it.
 */
uint32_t kwhy_python_line_of(enum kwhy_python_lines lines, uint32_t first_line, const unsigned char *table,
	size_t table_bytes, size_t at_byte);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_LINES_PYTHON_LAYOUT_H
#define KWHY_INJECT_LINES_PYTHON_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Format of the table with which a code object maps instructions to lines. */
enum kwhy_python_lines {
	KWHY_PYTHON_LNOTAB,    /* 3.9 */
	KWHY_PYTHON_LINETABLE, /* 3.10: PEP 626 */
	KWHY_PYTHON_LOCATIONS  /* 3.11 on: PEP 657 */
};

/* Offsets of fields in the objects of one version of CPython, in bytes from an object's start. */
struct kwhy_python_layout {
	uint16_t thread_frame; /* in a thread state: its innermost frame, or a pointer to the structure that
				  holds it */
	uint16_t cframe_frame; /* in that structure: the innermost frame; KWHY_PYTHON_NOWHERE: there is no
				  such structure */
	uint16_t frame_back, frame_code;
	uint16_t frame_instruction; /* a pointer into the code; an index of an instruction if code_bytes is
				       KWHY_PYTHON_NOWHERE */
	uint16_t frame_owner;	    /* KWHY_PYTHON_NOWHERE: no such field */
	uint16_t code_file, code_function, code_first_line, code_lines;
	uint16_t code_bytes;	   /* offset of the instructions */
	uint8_t instruction_bytes; /* bytes for each step of an index */
	uint8_t text_bits;	   /* number of bits below the kind in a string's state */
	uint8_t text_ascii_bytes;  /* bytes of the header of an ASCII string; the header of a wide one has two
				      words more */
	uint8_t lines;		   /* enum kwhy_python_lines */
};

#define KWHY_PYTHON_NOWHERE UINT16_MAX

/*
 * Finds the layout of a version, given as Py_GetVersion() words it: "3.11.7 (main, ...". `runtime` is
 * _PyRuntime, from which the layout of 3.13 and later is read; it may be NULL for earlier versions. False:
 * the version is unknown, or it is a build without the interpreter's lock.
 */
bool kwhy_python_layout_of(const char *version, const void *runtime, struct kwhy_python_layout *out);

/* Line of the instruction at byte `at_byte`; 0: no line, or the table is incomplete. */
uint32_t kwhy_python_line_of(enum kwhy_python_lines lines, uint32_t first_line, const unsigned char *table,
	size_t table_bytes, size_t at_byte);

#endif

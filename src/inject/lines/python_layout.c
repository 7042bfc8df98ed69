/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/lines/python_layout.h"

#include <stdlib.h>
#include <string.h>

enum { NOWHERE = KWHY_PYTHON_NOWHERE };

/*
 * Layouts by minor version of CPython 3, with the members in the order of struct kwhy_python_layout; from the
 * headers of CPython 3.9.18, 3.10.13, 3.11.7 and 3.12.1. Offsets do not change within a minor version.
 */
static const struct {
	unsigned minor;
	struct kwhy_python_layout layout;
} layouts[] = {
	{9, {24, NOWHERE, 24, 32, 104, NOWHERE, 104, 112, 40, 120, NOWHERE, 1, 2, 48, KWHY_PYTHON_LNOTAB}},
	{10, {24, NOWHERE, 24, 32, 96, NOWHERE, 104, 112, 40, 120, NOWHERE, 2, 2, 48, KWHY_PYTHON_LINETABLE}},
	{11, {56, 8, 48, 32, 56, 69, 112, 128, 72, 136, 184, 1, 2, 48, KWHY_PYTHON_LOCATIONS}},
	{12, {56, 0, 8, 0, 56, 70, 112, 128, 68, 136, 192, 1, 2, 40, KWHY_PYTHON_LOCATIONS}},
};

/*
 * From CPython 3.13 on, _PyRuntime begins with three words, "xdebugpy", the version and a flag for builds
 * without the interpreter's lock, and then lists the offsets of fields.
 */
enum { COOKIE_WORDS = 3 };

/*
 * For each field, the index of the 8-byte word of _PyRuntime that holds its offset
 * (Include/internal/pycore_runtime.h, pycore_debug_offsets.h); text_bits is as in struct kwhy_python_layout.
 */
static const struct {
	unsigned minor;
	uint8_t current_frame, previous, executable, instruction, owner;
	uint8_t file, qualified_name, line_table, first_line, code;
	uint8_t text_bits;
} stated[] = {
	{13, 23, 29, 30, 31, 33, 35, 37, 38, 39, 43, 2},
	{14, 26, 32, 33, 34, 36, 40, 42, 43, 44, 48, 16},
};

static bool read_stated(unsigned minor, const uint64_t *words, struct kwhy_python_layout *out)
{
	for (size_t i = 0; i < sizeof(stated) / sizeof(stated[0]); i++) {
		if (stated[i].minor != minor)
			continue;
		*out = (struct kwhy_python_layout){.thread_frame = (uint16_t)words[stated[i].current_frame],
			.cframe_frame = NOWHERE,
			.frame_back = (uint16_t)words[stated[i].previous],
			.frame_code = (uint16_t)words[stated[i].executable],
			.frame_instruction = (uint16_t)words[stated[i].instruction],
			.frame_owner = (uint16_t)words[stated[i].owner],
			.code_file = (uint16_t)words[stated[i].file],
			.code_function = (uint16_t)words[stated[i].qualified_name],
			.code_lines = (uint16_t)words[stated[i].line_table],
			.code_first_line = (uint16_t)words[stated[i].first_line],
			.code_bytes = (uint16_t)words[stated[i].code],
			.instruction_bytes = 1,
			.text_bits = stated[i].text_bits,
			.text_ascii_bytes = 40,
			.lines = KWHY_PYTHON_LOCATIONS};
		return true;
	}
	return false;
}

bool kwhy_python_layout_of(const char *version, const void *runtime, struct kwhy_python_layout *out)
{
	const uint64_t *words = runtime;
	char *end;
	unsigned long minor;

	if (strncmp(version, "3.", 2) != 0)
		return false;
	minor = strtoul(version + 2, &end, 10);
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (layouts[i].minor == minor) {
			*out = layouts[i].layout;
			return true;
		}
	if (!words || memcmp(words, "xdebugpy", 8) != 0 || words[1] >> 16 != (0x300 | minor) ||
		words[COOKIE_WORDS - 1] != 0)
		return false;
	return read_stated((unsigned)minor, words, out);
}

static uint32_t line_of_lnotab(uint32_t line, const unsigned char *table, size_t bytes, size_t at_byte)
{
	size_t address = 0;

	for (size_t i = 0; i + 1 < bytes; i += 2) {
		address += table[i];
		if (address > at_byte)
			break;
		line += (uint32_t)(int8_t)table[i + 1];
	}
	return line;
}

static uint32_t line_of_linetable(uint32_t line, const unsigned char *table, size_t bytes, size_t at_byte)
{
	size_t end = 0;
	bool has_line = false;

	for (size_t i = 0; i + 1 < bytes && end <= at_byte; i += 2) {
		end += table[i];
		has_line = (int8_t)table[i + 1] != -128;
		line += has_line ? (uint32_t)(int8_t)table[i + 1] : 0;
	}
	return has_line ? line : 0;
}

/*
 * Decodes a signed varint of PEP 657: six bits per byte, lowest first, and bit 6 (value 64) of a byte says
 * that another byte follows. The lowest bit of the result is the sign.
 */
static uint32_t signed_of(const unsigned char *at, const unsigned char *end)
{
	uint32_t value = 0;

	for (unsigned shift = 0; at < end && shift < 30; at++, shift += 6) {
		value |= (uint32_t)(*at & 63) << shift;
		if (!(*at & 64))
			break;
	}
	return value & 1 ? -(value >> 1) : value >> 1;
}

/*
 * Line of the instruction at the offset at_byte, from a location table of PEP 657; 0: none. An entry of the
 * table begins with a byte whose highest bit is set, and ends before the next such byte.
 */
static uint32_t line_of_locations(uint32_t line, const unsigned char *table, size_t bytes, size_t at_byte)
{
	enum { NO_LINE = 15, LONG = 14, NO_COLUMNS = 13, ONE_LINE_0 = 10, ONE_LINE_2 = 12 };
	const unsigned char *at = table, *end = table + bytes;
	size_t covered = 0;

	while (at < end) {
		const unsigned code = *at >> 3 & 15;

		covered += ((*at & 7) + 1) * (size_t)2;
		at++;
		if (code == LONG || code == NO_COLUMNS)
			line += signed_of(at, end);
		else if (code >= ONE_LINE_0 && code <= ONE_LINE_2)
			line += code - ONE_LINE_0;
		if (at_byte < covered)
			return code == NO_LINE ? 0 : line;
		while (at < end && !(*at & 128))
			at++;
	}
	return 0;
}

uint32_t kwhy_python_line_of(enum kwhy_python_lines lines, uint32_t first_line, const unsigned char *table,
	size_t table_bytes, size_t at_byte)
{
	switch (lines) {
	case KWHY_PYTHON_LNOTAB:
		return line_of_lnotab(first_line, table, table_bytes, at_byte);
	case KWHY_PYTHON_LINETABLE:
		return line_of_linetable(first_line, table, table_bytes, at_byte);
	default:
		return line_of_locations(first_line, table, table_bytes, at_byte);
	}
}

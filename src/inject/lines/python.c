/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/lines/python.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/*
 * Offsets of fields in objects of CPython from 3.9 on, in builds with 8-byte pointers and the global
 * interpreter lock: type of an object, length and state of a str, bytes of a bytes object.
 */
enum { TYPE_AT = 8, LENGTH_AT = 16, STATE_AT = 32, BYTES_AT = 32 };
/*
 * Bit masks in the state of a str object, after it was shifted right by layout.text_bits: bytes per
 * character, whether it is compact, whether it is ASCII.
 */
enum { TEXT_WIDTH = 7, TEXT_COMPACT = 8, TEXT_ASCII = 16 };
/*
 * Names are cut to CHARACTERS. Where memory is read by a system call, only the first TABLE_BYTES of a code
 * object's line table are read; lines that later bytes encode are unknown.
 */
enum { CHARACTERS = 256, TABLE_BYTES = 4 << 10, FRAME_BYTES = 128, CODE_BYTES = 256, PAGE_BYTES = 4096 };
/*
 * Values of a frame's owner (frame_owner) from this on mean the C stack: the frame is no call of a Python
 * function.
 */
enum { OWNED_BY_C = 3 };

struct walk {
	const struct kwhy_python_layout *layout;
	const void *code_type;
	struct kwhy_stack *out;
	bool by_kernel; /* read memory by process_vm_readv(), which fails if it is not mapped */
};

/*
 * Reads as many of the bytes as are mapped, and returns their number. It goes page by page, because the
 * kernel copies each page whole or not at all.
 */
static size_t read_by_kernel(uintptr_t from, void *to, size_t bytes)
{
	const size_t on_page = PAGE_BYTES - from % PAGE_BYTES;
	const size_t first = bytes < on_page ? bytes : on_page;
	const struct iovec local = {to, bytes},
			   remote[] = {{(void *)from, first}, {(void *)(from + first), bytes - first}};
	const int errno_before = errno;
	const ssize_t got = process_vm_readv(getpid(), &local, 1, remote, bytes > first ? 2 : 1, 0);

	errno = errno_before;
	return got > 0 ? (size_t)got : 0;
}

/*
 * The bytes at an address: if walk->by_kernel, a copy in `copy` of at most *bytes of them, otherwise the
 * memory itself. *bytes receives how many can be read (directly: SIZE_MAX). NULL: fewer than `least`.
 */
static const unsigned char *look(
	const struct walk *walk, uintptr_t from, unsigned char *copy, size_t least, size_t *bytes)
{
	if (from < PAGE_BYTES)
		return NULL;
	if (!walk->by_kernel) {
		*bytes = SIZE_MAX;
		return (const unsigned char *)from;
	}
	*bytes = read_by_kernel(from, copy, *bytes);
	return *bytes >= least ? copy : NULL;
}

static bool read_word(const struct walk *walk, uintptr_t from, uintptr_t *out)
{
	unsigned char copy[sizeof(*out)];
	size_t bytes = sizeof(copy);
	const unsigned char *at = look(walk, from, copy, sizeof(copy), &bytes);

	if (at)
		memcpy(out, at, sizeof(*out));
	return at;
}

static uintptr_t word_at(const unsigned char *object, unsigned offset)
{
	uintptr_t word;

	memcpy(&word, object + offset, sizeof(word));
	return word;
}

/* Encodes a Unicode character as UTF-8 and returns the number of bytes. */
static unsigned encode(uint32_t character, char out[4])
{
	if (character < 0x80) {
		out[0] = (char)character;
		return 1;
	}
	if (character < 0x800) {
		out[0] = (char)(0xc0 | character >> 6);
		out[1] = (char)(0x80 | (character & 63));
		return 2;
	}
	if (character < 0x10000) {
		out[0] = (char)(0xe0 | character >> 12);
		out[1] = (char)(0x80 | (character >> 6 & 63));
		out[2] = (char)(0x80 | (character & 63));
		return 3;
	}
	out[0] = (char)(0xf0 | (character >> 18 & 7));
	out[1] = (char)(0x80 | (character >> 12 & 63));
	out[2] = (char)(0x80 | (character >> 6 & 63));
	out[3] = (char)(0x80 | (character & 63));
	return 4;
}

/* Appends a string, given as characters of 1, 2 or 4 bytes, to out->text as UTF-8. False: they do not fit. */
static bool add_characters(struct kwhy_stack *out, const unsigned char *from, size_t count, unsigned width)
{
	uint32_t bytes = out->text_bytes;

	for (size_t i = 0; i < count; i++) {
		uint32_t character = 0;

		if (bytes + 5 > KWHY_STACK_TEXT_BYTES)
			return false;
		memcpy(&character, from + i * width, width);
		bytes += encode(character, out->text + bytes);
	}
	out->text[bytes++] = '\0';
	out->text_bytes = bytes;
	return true;
}

static bool add_ascii(struct kwhy_stack *out, const unsigned char *from, size_t count)
{
	if (out->text_bytes + count + 1 > KWHY_STACK_TEXT_BYTES)
		return false;
	memcpy(out->text + out->text_bytes, from, count);
	out->text[out->text_bytes + count] = '\0';
	out->text_bytes += (uint32_t)count + 1;
	return true;
}

/*
 * Offset of the characters in a str object. All strings of code objects are compact: the characters follow
 * the header directly.
 */
static size_t head_bytes(const struct kwhy_python_layout *layout, bool is_ascii)
{
	const size_t bytes = layout->text_ascii_bytes;

	return is_ascii ? bytes : bytes + (bytes == 48 ? 24 : 16);
}

/*
 * Appends a str object to the stack's text; *out_at receives its offset there. Of more than CHARACTERS
 * characters, the last are kept.
 */
static bool add_text(const struct walk *walk, uintptr_t string, uint16_t *out_at)
{
	unsigned char copy[STATE_AT + 40 + CHARACTERS];
	size_t bytes = sizeof(copy), at;
	const unsigned char *object = look(walk, string, copy, STATE_AT + 8, &bytes);
	unsigned state, width;
	uint64_t count, shown;

	if (!object)
		return false;
	state = (unsigned)(word_at(object, STATE_AT) >> walk->layout->text_bits);
	count = word_at(object, LENGTH_AT);
	width = state & TEXT_WIDTH;
	if (!(state & TEXT_COMPACT) || (width != 1 && width != 2 && width != 4) || count > UINT32_MAX)
		return false;
	shown = count < CHARACTERS ? count : CHARACTERS;
	at = head_bytes(walk->layout, state & TEXT_ASCII) + (count - shown) * width;
	if (at + shown * width > bytes) {
		bytes = shown * width < sizeof(copy) ? shown * width : sizeof(copy);
		shown = bytes / width;
		object = look(walk, string + at, copy, bytes, &bytes);
		at = 0;
	}
	*out_at = (uint16_t)walk->out->text_bytes;
	if (!object)
		return false;
	return state & TEXT_ASCII ? add_ascii(walk->out, object + at, shown)
				  : add_characters(walk->out, object + at, shown, width);
}

static uint32_t line_at(const struct walk *walk, const unsigned char *code, size_t at_byte)
{
	unsigned char copy[BYTES_AT + TABLE_BYTES];
	size_t bytes = sizeof(copy), length;
	const unsigned char *table = look(
		walk, word_at(code, walk->layout->code_lines), copy, BYTES_AT, &bytes);
	uint32_t first_line;

	if (!table)
		return 0;
	memcpy(&first_line, code + walk->layout->code_first_line, sizeof(first_line));
	length = word_at(table, LENGTH_AT);
	if (length > bytes - BYTES_AT)
		length = bytes - BYTES_AT;
	return kwhy_python_line_of(
		(enum kwhy_python_lines)walk->layout->lines, first_line, table + BYTES_AT, length, at_byte);
}

/*
 * Offset in bytes of the frame's current instruction from the first instruction of its code object, which is
 * at the address `code`.
 */
static size_t position_of(const struct walk *walk, const unsigned char *frame, uintptr_t code)
{
	int32_t index;

	if (walk->layout->code_bytes != KWHY_PYTHON_NOWHERE)
		return word_at(frame, walk->layout->frame_instruction) - code - walk->layout->code_bytes;
	memcpy(&index, frame + walk->layout->frame_instruction, sizeof(index));
	return index < 0 ? 0 : (size_t)index * walk->layout->instruction_bytes;
}

/*
 * Adds a frame to the stack unless it is no call of a Python function. False: the stack is full, or the frame
 * cannot be read.
 */
static bool add_frame(const struct walk *walk, const unsigned char *frame)
{
	const struct kwhy_python_layout *layout = walk->layout;
	const uint32_t text_bytes = walk->out->text_bytes;
	const uintptr_t code = word_at(frame, layout->frame_code) & ~(uintptr_t)7;
	struct kwhy_stack_frame *row = &walk->out->frames[walk->out->count];
	unsigned char copy[CODE_BYTES];
	size_t bytes = layout->code_lines + 8U;
	const unsigned char *object;

	if (layout->frame_owner != KWHY_PYTHON_NOWHERE && frame[layout->frame_owner] >= OWNED_BY_C)
		return true;
	object = look(walk, code, copy, TYPE_AT + 8, &bytes);
	if (object && word_at(object, TYPE_AT) != (uintptr_t)walk->code_type)
		return true;
	if (!object || bytes < layout->code_lines + 8U || walk->out->count == KWHY_STACK_FRAMES ||
		!add_text(walk, word_at(object, layout->code_file), &row->file) ||
		!add_text(walk, word_at(object, layout->code_function), &row->function)) {
		walk->out->text_bytes = text_bytes;
		return false;
	}
	row->address = 0;
	row->line = line_at(walk, object, position_of(walk, frame, code));
	walk->out->count++;
	return true;
}

static uintptr_t innermost(const struct walk *walk, const void *thread)
{
	uintptr_t frame = 0;

	if (!read_word(walk, (uintptr_t)thread + walk->layout->thread_frame, &frame))
		return 0;
	if (walk->layout->cframe_frame != KWHY_PYTHON_NOWHERE &&
		!read_word(walk, frame + walk->layout->cframe_frame, &frame))
		return 0;
	return frame;
}

/* Number of bytes of a frame to read: up to the last field that is needed. */
static size_t frame_bytes(const struct kwhy_python_layout *layout)
{
	size_t bytes = layout->frame_instruction + 8U;

	if (layout->frame_owner != KWHY_PYTHON_NOWHERE && layout->frame_owner + 1U > bytes)
		bytes = layout->frame_owner + 1U;
	return bytes < FRAME_BYTES ? bytes : FRAME_BYTES;
}

static void add_frames(const struct walk *walk, const void *thread)
{
	const size_t least = frame_bytes(walk->layout);
	uintptr_t at = innermost(walk, thread);
	unsigned char copy[FRAME_BYTES];

	walk->out->count = walk->out->text_bytes = 0;
	/*
	 * In corrupt memory the frames may form a cycle, so the walk ends after this many steps. It is twice
	 * the number of frames that are kept, because add_frame() also skips some frames of a valid stack.
	 */
	for (unsigned i = 0; i < 2 * KWHY_STACK_FRAMES; i++) {
		size_t bytes = least;
		const unsigned char *frame = look(walk, at, copy, least, &bytes);

		if (!frame || !add_frame(walk, frame))
			return;
		at = word_at(frame, walk->layout->frame_back);
	}
}

bool kwhy_python_open(struct kwhy_python *python)
{
	const char *(*version)(void);
	const char own = 1;
	char copy;

	*(void **)&version = dlsym(RTLD_DEFAULT, "Py_GetVersion");
	*(void **)&python->this_thread = dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
	*(void **)&python->is_initialized = dlsym(RTLD_DEFAULT, "Py_IsInitialized");
	python->code_type = dlsym(RTLD_DEFAULT, "PyCode_Type");
	/*
	 * Until a stack was read successfully, stacks are read by process_vm_readv(): if the layout is wrong,
	 * that fails, while reading memory directly could crash the program. Where the system does not permit
	 * that call, no Python stacks are read.
	 */
	atomic_store(&python->is_proved, false);
	python->is_there = read_by_kernel((uintptr_t)&own, &copy, sizeof(own)) == sizeof(own) && version &&
		python->this_thread && python->is_initialized && python->code_type &&
		kwhy_python_layout_of(version(), dlsym(RTLD_DEFAULT, "_PyRuntime"), &python->layout);
	return python->is_there;
}

bool kwhy_python_stack_own(struct kwhy_python *python, struct kwhy_stack *out, const void **out_thread)
{
	struct walk walk = {.layout = &python->layout, .code_type = python->code_type, .out = out};

	*out_thread = NULL;
	if (!python->is_there || !python->is_initialized())
		return false;
	*out_thread = python->this_thread();
	if (!*out_thread)
		return false;
	walk.by_kernel = !atomic_load_explicit(&python->is_proved, memory_order_relaxed);
	add_frames(&walk, *out_thread);
	if (walk.by_kernel && out->count && out->frames[0].line)
		atomic_store(&python->is_proved, true);
	return out->count > 0;
}

bool kwhy_python_stack_other(const struct kwhy_python *python, const void *thread, struct kwhy_stack *out)
{
	const struct walk walk = {
		.layout = &python->layout, .code_type = python->code_type, .out = out, .by_kernel = true};
	const size_t bytes = frame_bytes(&python->layout);
	unsigned char before[FRAME_BYTES], after[FRAME_BYTES];
	uintptr_t frame;

	if (!python->is_there || !python->is_initialized())
		return false;
	frame = innermost(&walk, thread);
	if (frame < PAGE_BYTES || read_by_kernel(frame, before, bytes) != bytes)
		return false;
	add_frames(&walk, thread);
	return out->count > 0 && innermost(&walk, thread) == frame &&
		read_by_kernel(frame, after, bytes) == bytes && !memcmp(before, after, bytes);
}

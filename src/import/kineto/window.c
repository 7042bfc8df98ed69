/* SPDX-License-Identifier: Apache-2.0 */
#include "import/kineto/window.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/*
 * WINDOW_BYTES, the size of a window, is small enough that the text and its tokens fit a second-level cache.
 * SMALL_BYTES is the size of the first window after a syntax error: windows are small then, because each
 * further error needs a new one. PAD_BYTES are allocated after the text, for a NUL and for vector
 * instructions that read beyond the text.
 */
enum { WINDOW_BYTES = 1 << 18, SMALL_BYTES = 16 << 10, PAD_BYTES = 64 };

static bool is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/*
 * Offset of the quote that ends the string whose opening quote is at `at`; `size` if the string does not end
 * within the text.
 */
static size_t string_end(const char *text, size_t size, size_t at)
{
	for (at++; at < size && text[at] != '"'; at++)
		at += text[at] == '\\';
	return at < size ? at : size;
}

/*
 * The last offset that is certainly not inside a string, number or word. This function reads all bytes, so it
 * is called only if probable_cut() finds neither a line end nor `}, {"`, or if the offset that it found
 * turned out to be inside a string.
 */
static size_t exact_cut(const char *text, size_t size)
{
	size_t cut = 0;

	for (size_t at = 0; at < size; at++) {
		if (text[at] == '"') {
			cut = at;
			at = string_end(text, size, at);
		} else if (is_space(text[at]) || strchr("{}[]:,", text[at])) {
			cut = at + 1;
		}
		at += at < size && text[at] == '\\'; /* a '\' outside of strings is invalid; it hides the next
							byte, as in simdjson */
	}
	return cut;
}

/*
 * Offset of the first byte of `wanted` after the '}' at `at`. White space may lie before and between the
 * bytes of `wanted`. 0: other bytes follow the '}'.
 */
static size_t boundary_at(const char *text, size_t size, size_t at, const char *wanted)
{
	size_t found = 0;

	for (at++; at < size && *wanted; at++) {
		if (text[at] == *wanted) {
			found = found ? found : at;
			wanted++;
		} else if (!is_space(text[at])) {
			return 0;
		}
	}
	return *wanted ? 0 : found;
}

/*
 * Offset after the last '}' that is followed by `, {"` and thus probably ends an event; 0: none of the last
 * 256 '}' of the text is followed by that.
 */
static size_t boundary_cut(const char *text, size_t size)
{
	size_t end = size;

	for (int tries = 0; tries < 256; tries++) {
		const char *brace = memrchr(text, '}', end);

		if (!brace)
			return 0;
		end = (size_t)(brace - text);
		if (boundary_at(text, size, end, ",{\""))
			return end + 1;
	}
	return 0;
}

/*
 * An offset at which to cut the text that is probably not inside a string: after the last line end of the
 * text's second half, since no string contains one, or after the '}' of the last `}, {"`, which few strings
 * contain. If it is inside a string after all, index_window() moves the cut.
 */
static size_t probable_cut(const char *text, size_t size)
{
	const char *line_end = memrchr(text + size / 2, '\n', size - size / 2);
	size_t cut = line_end ? (size_t)(line_end - text) + 1 : boundary_cut(text, size);

	return cut ? cut : exact_cut(text, size);
}

enum kwhy_status kwhy_kineto_window_open(struct kwhy_kineto_window *window, struct kwhy_input *input,
	const char *path, bool partial, struct kwhy_error *error)
{
	enum kwhy_status status;

	*window = (struct kwhy_kineto_window){.path = path,
		.partial = partial,
		.capacity = WINDOW_BYTES,
		.reach = WINDOW_BYTES,
		.mended_first = UINT64_MAX};
	window->buffer = malloc(WINDOW_BYTES + PAD_BYTES);
	window->index = kwhy_json_index_new();
	status = kwhy_ahead_open(input, &window->input, error);
	if (!status && (!window->buffer || !window->index))
		status = kwhy_fail_memory(error, "reading a trace");
	if (status) {
		kwhy_kineto_window_close(window);
		return status;
	}
	window->saved = window->buffer[0] = '\0';
	return KWHY_OK;
}

void kwhy_kineto_window_close(struct kwhy_kineto_window *window)
{
	kwhy_ahead_close(window->input);
	kwhy_json_index_free(window->index);
	free(window->buffer);
	*window = (struct kwhy_kineto_window){0};
}

static size_t unpassed(const struct kwhy_kineto_window *window)
{
	return window->end - window->begin;
}

bool kwhy_kineto_window_whole(const struct kwhy_kineto_window *window)
{
	return window->ended && (window->cut == unpassed(window) || window->reach >= unpassed(window));
}

/* Doubles window->reach, and enlarges the buffer if the window does not fit. */
static enum kwhy_status enlarge(struct kwhy_kineto_window *window, struct kwhy_error *error)
{
	char *buffer;

	if (window->reach >= KWHY_KINETO_VALUE_MAX_BYTES)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s: the value at byte %llu is larger than %u MiB; this is not a trace of the "
			"PyTorch profiler, or it is damaged: export it again",
			window->path, (unsigned long long)window->offset, KWHY_KINETO_VALUE_MAX_BYTES >> 20);
	window->reach *= 2;
	if (window->reach <= window->capacity)
		return KWHY_OK;
	buffer = realloc(window->buffer, window->reach + PAD_BYTES);
	if (!buffer)
		return kwhy_fail_memory(error, "a large value of a trace");
	window->buffer = buffer;
	window->capacity = window->reach;
	return KWHY_OK;
}

static void pass(struct kwhy_kineto_window *window, size_t used)
{
	window->buffer[window->begin + window->cut] = window->saved;
	window->begin += used;
	window->offset += used;
	window->cut = 0;
	if (used > 0)
		window->reach = window->reach * 2 < WINDOW_BYTES ? window->reach * 2 : WINDOW_BYTES;
}

/*
 * Reads once from the file into the rest of the buffer. With `partial`, a file that cannot be read further is
 * treated as if it ended there.
 */
static enum kwhy_status read_more(struct kwhy_kineto_window *window, struct kwhy_error *error)
{
	size_t got = 0;
	enum kwhy_status status = kwhy_ahead_read(
		window->input, window->buffer + window->end, window->capacity - window->end, &got, error);

	if (status) {
		window->failure = *error;
		window->failed = true;
	}
	window->ended = got == 0;
	window->end += got;
	return window->partial ? KWHY_OK : status;
}

static enum kwhy_status fill(struct kwhy_kineto_window *window, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	if (window->ended || unpassed(window) >= window->reach)
		return KWHY_OK;
	memmove(window->buffer, window->buffer + window->begin, unpassed(window));
	window->end -= window->begin;
	window->begin = 0;
	while (!status && !window->ended && window->end < window->capacity)
		status = read_more(window, error);
	return status;
}

/*
 * Length in bytes of the character of two to four bytes at `at`; 0: it is not valid UTF-8, or
 * kwhy_text_is_clean() refuses it.
 */
static size_t sequence_length(const char *text, size_t size, size_t at)
{
	unsigned char lead = (unsigned char)text[at];
	size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;

	return at + length <= size && kwhy_text_is_clean(text + at, length) ? length : 0;
}

static void mend_byte(struct kwhy_kineto_window *window, char *text, size_t at, char with)
{
	if (window->offset + at < window->mended_first)
		window->mended_first = window->offset + at;
	window->mended++;
	text[at] = with;
}

static void mend(struct kwhy_kineto_window *window, char *text, size_t size)
{
	bool in_string = false, escaped = false;

	for (size_t at = 0; at < size; at++) {
		unsigned char c = (unsigned char)text[at];
		size_t length = c >= 0x80 ? sequence_length(text, size, at) : 1;

		if (length == 0)
			mend_byte(window, text, at, '?');
		else if (in_string && c < 0x20)
			mend_byte(window, text, at, ' ');
		at += length > 1 ? length - 1 : 0;
		if (c == '"' && !escaped)
			in_string = !in_string;
		escaped = c == '\\' && !escaped;
	}
}

static enum kwhy_json_index_result index_text(struct kwhy_kineto_window *window)
{
	char *text = window->buffer + window->begin;

	window->saved = text[window->cut];
	text[window->cut] = '\0';
	return kwhy_json_index_make(window->index, text, window->cut, &window->tokens, &window->token_count);
}

/*
 * Finds the tokens of the text before window->cut. A cut inside a string is first moved to the start of the
 * string. Bytes that JSON does not allow are replaced.
 */
static enum kwhy_status index_window(struct kwhy_kineto_window *window, struct kwhy_error *error)
{
	char *text = window->buffer + window->begin;
	enum kwhy_json_index_result result = index_text(window);

	if (result == KWHY_JSON_OPEN_STRING) {
		text[window->cut] = window->saved;
		window->cut = exact_cut(text, window->cut);
		result = index_text(window);
	}
	if (result == KWHY_JSON_CONTROL || result == KWHY_JSON_UTF8) {
		mend(window, text, window->cut);
		text[window->cut] = window->saved;
		result = index_text(window);
	}
	if (result == KWHY_JSON_NO_MEMORY)
		return kwhy_fail_memory(error, "reading a trace");
	if (result)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s: the text at byte %llu is not JSON; export the trace again", window->path,
			(unsigned long long)window->offset);
	return KWHY_OK;
}

enum kwhy_status kwhy_kineto_window_next(
	struct kwhy_kineto_window *window, size_t used, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	size_t size;

	if (used == 0 && window->end > 0)
		status = enlarge(window, error);
	pass(window, used);
	if (!status)
		status = fill(window, error);
	if (status)
		return status;
	size = unpassed(window) < window->reach ? unpassed(window) : window->reach;
	window->cut = size;
	if (!window->ended || size < unpassed(window))
		window->cut = probable_cut(window->buffer + window->begin, size);
	return index_window(window, error);
}

/*
 * Offset at which reading continues after the '}' at `brace`: the next event, if `, {"` follows, or the ']'
 * that ends the list of events, if `], "` or `]}` follows. 0: something else follows.
 */
static size_t resume_at(const char *text, size_t size, size_t brace)
{
	static const char *const wanted[] = {",{\"", "],\"", "]}"};
	size_t found = 0;

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]) && !found; i++)
		found = boundary_at(text, size, brace, wanted[i]);
	return found && text[found] == ',' ? found + 1 : found;
}

bool kwhy_kineto_window_resume(struct kwhy_kineto_window *window, size_t from, size_t *out_at)
{
	const char *text = kwhy_kineto_window_text(window);
	size_t last = window->cut;

	window->reach = SMALL_BYTES;
	for (size_t at = from; at < window->cut; at++) {
		const char *brace = memchr(text + at, '}', window->cut - at);
		size_t found;

		if (!brace)
			break;
		at = last = (size_t)(brace - text);
		found = resume_at(text, window->cut, at);
		if (found) {
			*out_at = found;
			return true;
		}
	}
	*out_at = last;
	return false;
}

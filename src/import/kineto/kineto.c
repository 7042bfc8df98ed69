/* SPDX-License-Identifier: Apache-2.0 */
#include "base/plural.h"
#include "import/kineto/file.h"
#include "import/kineto/window.h"
#include "import/reader.h"
#include "import/trace_end.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Where the next token stands in the document. */
enum position {
	AT_START,
	AT_FIRST_MEMBER, /* after the '{' of the top object */
	AT_MEMBER,	 /* after a ',' in the top object */
	AT_MEMBER_END,	 /* after a member's value */
	AT_FIRST_EVENT,	 /* after the '[' of the list of events */
	AT_EVENT,	 /* after a ',' in the list of events */
	AT_EVENT_END,	 /* after an event */
	AT_END		 /* after the top value, an object or a list */
};

/*
 * Number of syntax errors that are skipped with `partial`. At the next one the file is treated as if it ended
 * there.
 */
enum { BREAKS_MAX = 10000 };

struct document {
	struct kwhy_kineto_file *file;
	struct kwhy_kineto_window window;
	struct kwhy_kineto_walk walk;
	struct kwhy_kineto_event event;
	enum position position;
	bool in_object; /* the top value is an object, not a list of events */
	bool has_events;
	bool has_phase; /* at least one object in the list of events has a member "ph", as events have */
	bool seeking;	/* after a syntax error: the next event has not been found yet */
	bool resumed;	/* after a syntax error: the next window begins with an event, or with the end of the
			   list of events */
	bool stopped;	/* reading is finished, or cannot continue */
	bool is_cut;	/* the file ends early, or is not valid JSON at the place where reading stopped */
	struct kwhy_error *error;
	enum kwhy_status status; /* failure that is not a syntax error */
};

static uint64_t position_of(const struct document *document, size_t at)
{
	return document->window.offset + at;
}

static bool fail(struct document *document, enum kwhy_status status)
{
	document->status = status;
	return false;
}

/*
 * Handles the status of a member or an event that was read. With `partial`, KWHY_E_INPUT (an unusable item)
 * is counted, and the item is skipped. Without it, and for all other failures, the status is stored in
 * document->status. Returns whether reading goes on.
 */
static bool pass_over(struct document *document, enum kwhy_status status)
{
	if (status == KWHY_E_INPUT && document->file->partial)
		document->file->counts.skipped++;
	else if (status)
		return fail(document, status);
	return true;
}

static bool read_start(struct document *document)
{
	const uint32_t begin = *document->walk.token;
	char first = kwhy_kineto_walk_peek(&document->walk);

	/*
	 * Skips the byte order mark of UTF-8 at the start of a file. On Arm, simdjson makes several tokens of
	 * its three bytes.
	 */
	if (!strncmp(document->walk.text + begin, "\xEF\xBB\xBF", 3)) {
		while (*document->walk.token < begin + 3)
			document->walk.token++;
		first = kwhy_kineto_walk_peek(&document->walk);
	}
	if (first != '{' && first != '[')
		return kwhy_kineto_walk_fail(&document->walk, "'{' or '['");
	document->in_object = first == '{';
	document->has_events = first == '[';
	document->position = document->in_object ? AT_FIRST_MEMBER : AT_FIRST_EVENT;
	document->walk.token++;
	return true;
}

static bool read_meta(struct document *document, struct kwhy_kineto_span key)
{
	struct kwhy_kineto_file *file = document->file;
	struct kwhy_kineto_walk before = document->walk;
	struct kwhy_error why;
	enum kwhy_status status;

	if (!kwhy_kineto_walk_skip(&document->walk))
		return false;
	status = kwhy_kineto_meta_read(file, key, before, &why);
	if (status == KWHY_E_INPUT)
		kwhy_error_set(document->error, status,
			"%s: \"%.*s\" %s at byte %" PRIu64
			"; correct it, or read the trace without it with --partial",
			file->path, key.length < 60 ? (int)key.length : 60, document->walk.text + key.at,
			why.text, position_of(document, *before.token));
	else if (status)
		*document->error = why;
	document->position = AT_MEMBER_END;
	return pass_over(document, status);
}

static bool is_events(const struct document *document, struct kwhy_kineto_span key)
{
	static const char name[] = "traceEvents";

	return key.length == sizeof(name) - 1 && !memcmp(document->walk.text + key.at, name, key.length) &&
		kwhy_kineto_walk_peek(&document->walk) == '[';
}

static bool read_member(struct document *document)
{
	struct kwhy_kineto_span key;

	if (document->position == AT_FIRST_MEMBER && kwhy_kineto_walk_peek(&document->walk) == '}') {
		document->position = AT_MEMBER_END;
		return true;
	}
	if (!kwhy_kineto_walk_key(&document->walk, &key))
		return false;
	if (!is_events(document, key))
		return read_meta(document, key);
	document->walk.token++;
	document->has_events = true;
	document->position = AT_FIRST_EVENT;
	return true;
}

static bool is_half(const struct kwhy_kineto_event *event)
{
	return event->phase == 'B' || event->phase == 'E';
}

static enum kwhy_status add_event(struct document *document)
{
	if (is_half(&document->event))
		return kwhy_kineto_half_add(document->file, &document->event, document->error);
	return kwhy_kineto_row_add(document->file, &document->event, document->error);
}

static bool read_event(struct document *document)
{
	if (document->position == AT_FIRST_EVENT && kwhy_kineto_walk_peek(&document->walk) == ']') {
		document->position = AT_EVENT_END;
		return true;
	}
	if (!kwhy_kineto_event_read(&document->event, &document->walk, &document->file->words))
		return false;
	document->file->counts.events++;
	document->has_phase |= document->event.phase != '\0';
	document->position = AT_EVENT_END;
	if (document->event.kind == KWHY_KINETO_OTHER && !is_half(&document->event))
		return true;
	document->event.text_offset = document->window.offset;
	return pass_over(document, add_event(document));
}

static bool read_member_end(struct document *document)
{
	document->position = AT_MEMBER;
	if (kwhy_kineto_walk_peek(&document->walk) == '}')
		document->position = AT_END;
	else if (kwhy_kineto_walk_peek(&document->walk) != ',')
		return kwhy_kineto_walk_fail(&document->walk, "',' or '}' after a value");
	document->walk.token++;
	return true;
}

static bool read_event_end(struct document *document)
{
	document->position = AT_EVENT;
	if (kwhy_kineto_walk_peek(&document->walk) == ']')
		document->position = document->in_object ? AT_MEMBER_END : AT_END;
	else if (kwhy_kineto_walk_peek(&document->walk) != ',')
		return kwhy_kineto_walk_fail(&document->walk, "',' or ']' after an event");
	document->walk.token++;
	return true;
}

/*
 * Reads what follows the top value: nothing, except that Proton writes several top objects one after the
 * other, one for each stream. A file is taken to be Proton's if events in it state no device number
 * (unnumbered_devices).
 */
static bool read_end(struct document *document)
{
	if (kwhy_kineto_walk_peek(&document->walk) == '{' && document->file->counts.unnumbered_devices > 0) {
		document->position = AT_START;
		return true;
	}
	return kwhy_kineto_walk_fail(&document->walk, "nothing more after the end");
}

/*
 * Reads one unit: a key with its value, an event, or the brackets or the comma that may stand before and
 * after these. False: the window ends inside the unit, or an error occurred.
 */
static bool read_unit(struct document *document)
{
	static bool (*const read[])(struct document *) = {
		[AT_START] = read_start,
		[AT_FIRST_MEMBER] = read_member,
		[AT_MEMBER] = read_member,
		[AT_MEMBER_END] = read_member_end,
		[AT_FIRST_EVENT] = read_event,
		[AT_EVENT] = read_event,
		[AT_EVENT_END] = read_event_end,
		[AT_END] = read_end,
	};

	return read[document->position](document);
}

static enum kwhy_status note_truncated(struct document *document, uint64_t at, const char *why)
{
	document->stopped = true;
	document->is_cut = true;
	return kwhy_trace_end_note_at(
		document->file->recording, document->file->path, why, at, document->error);
}

/*
 * Handles a file that ends before its top value is complete, or that cannot be read further. Without
 * `partial` it is refused.
 */
static enum kwhy_status end_early(struct document *document, uint64_t at)
{
	if (document->file->partial)
		return note_truncated(document, at,
			document->window.failed ? "the file cannot be read further" : "the file ends early");
	return kwhy_fail(document->error, KWHY_E_INPUT,
		"%s ends early, at byte %" PRIu64 " of its text: the copy or the export was cut; copy it "
		"again, or read what is whole with --partial",
		document->file->path, at);
}

static enum kwhy_status fail_grammar(struct document *document, size_t at, const char *fault)
{
	char found = document->walk.text[at];
	uint64_t position = position_of(document, at);

	if (document->position == AT_START)
		return kwhy_fail(document->error, KWHY_E_INPUT,
			"%s is not a trace: its text does not begin with '{' or '[' at byte %" PRIu64
			"; name the file that export_chrome_trace() wrote",
			document->file->path, position);
	if (!document->in_object && document->position == AT_FIRST_EVENT && !strncmp(fault, "an event", 8))
		return kwhy_fail(document->error, KWHY_E_INPUT,
			"%s is JSON, but not a trace: its list has no events, which begin with '{', but '%c' "
			"at byte %" PRIu64 "; of PyTorch, name the file that export_chrome_trace() wrote",
			document->file->path, found >= ' ' && found < 0x7F ? found : '?', position);
	if (position >= document->window.mended_first)
		return kwhy_fail(document->error, KWHY_E_INPUT,
			"%s is not valid JSON: broken UTF-8 or a control character inside a string at byte "
			"%" PRIu64 "; export it again, or read it without such events with --partial",
			document->file->path, document->window.mended_first);
	if (document->position == AT_END)
		return kwhy_fail(document->error, KWHY_E_INPUT,
			"%s: %s after the end of the trace, at byte %" PRIu64
			"; cut the file off there, or read it without that with --partial",
			document->file->path, found ? "more text stands" : "zero bytes stand", position);
	if (found == '\0')
		return kwhy_fail(document->error, KWHY_E_INPUT,
			"%s holds zero bytes at byte %" PRIu64
			": the copy or the disk lost text; copy or export it again, or read what is whole "
			"with --partial",
			document->file->path, position);
	if (!strcmp(fault, KWHY_KINETO_LESS_DEEP))
		return kwhy_fail(document->error, KWHY_E_INPUT,
			"%s nests values more than %d deep at byte %" PRIu64
			", as no profiler does; export it again, or leave such events out with --partial",
			document->file->path, KWHY_KINETO_DEPTH_MAX, position);
	return kwhy_fail(document->error, KWHY_E_INPUT,
		"%s is not valid JSON: expected %s at byte %" PRIu64
		", found '%c' (a quote left unescaped by the profiler does this); export it again with a "
		"newer PyTorch, or leave such events out with --partial",
		document->file->path, fault, position, found >= ' ' && found < 0x7F ? found : '?');
}

/*
 * Handles text that is not valid JSON. Without `partial` the file is refused. With it, reading continues at
 * the next event if the text is inside the list of events; elsewhere it cannot continue.
 */
static enum kwhy_status break_off(struct document *document, size_t at, size_t *out_used)
{
	bool among_events = document->position >= AT_FIRST_EVENT && document->position <= AT_EVENT_END;

	if (!document->file->partial)
		return fail_grammar(document, at, document->walk.fault);
	document->file->counts.breaks++;
	document->file->counts.skipped++;
	if (!among_events || document->file->counts.breaks > BREAKS_MAX)
		return note_truncated(document, position_of(document, at), "the text is broken");
	if (*out_used != at ||
		document->walk.text[at] != ']') /* if the error is only a superfluous ',' before this ']',
						   reading goes on at the ']' itself */
		document->seeking = !kwhy_kineto_window_resume(&document->window, at, out_used);
	document->resumed = true;
	document->position = AT_EVENT;
	return KWHY_OK;
}

/*
 * Whether the token number `token` is the last of the window and a bare word, such as `true`, which the end
 * of the file may have cut off.
 */
static bool is_cut_word(const struct document *document, size_t token)
{
	char first = kwhy_kineto_walk_peek(&document->walk);

	return token + 1 == document->window.token_count && first >= 'A' && document->position != AT_START &&
		document->position != AT_END && !strchr("[]{}", first);
}

/* Handles a unit that was not read to its end, because the window's tokens end or because of an error. */
static enum kwhy_status stop(struct document *document, size_t unit_at, size_t *out_used)
{
	const struct kwhy_kineto_window *window = &document->window;
	size_t last = (size_t)(document->walk.token - window->tokens);
	bool whole = kwhy_kineto_window_whole(window);
	size_t at = *document->walk.token;

	*out_used = unit_at;
	if (document->status)
		return document->status;
	if (last >= window->token_count && !whole)
		return KWHY_OK; /* the unit is read again in the next window, which begins with it */
	if (whole && (last >= window->token_count || is_cut_word(document, last)))
		return end_early(document, position_of(document, window->cut));
	return break_off(document, at, out_used);
}

/*
 * Chooses what to read first after a syntax error: if the list of events ends here, its ']', otherwise an
 * event.
 */
static void resume(struct document *document)
{
	if (document->resumed && kwhy_kineto_walk_peek(&document->walk) == ']')
		document->position = AT_EVENT_END;
	document->resumed = false;
}

static enum kwhy_status walk_window(struct document *document, size_t *out_used)
{
	const struct kwhy_kineto_window *window = &document->window;
	const uint32_t *end = window->tokens + window->token_count;

	document->walk = (struct kwhy_kineto_walk){
		.text = kwhy_kineto_window_text(window), .token = window->tokens};
	resume(document);
	while (document->walk.token < end) {
		const uint32_t *unit = document->walk.token;
		enum position position = document->position;

		if (!read_unit(document)) {
			if (document->walk.token >= end)
				document->position = position;
			return stop(document, *unit, out_used);
		}
	}
	*out_used = window->cut;
	return KWHY_OK;
}

/*
 * Without `partial`, refuses a text in which kwhy_kineto_window_next() replaced bytes that are not valid
 * JSON.
 */
static enum kwhy_status check_mended(struct document *document)
{
	if (document->window.mended == 0 || document->file->partial)
		return KWHY_OK;
	return fail_grammar(document, (size_t)(document->window.mended_first - document->window.offset), "");
}

static enum kwhy_status read_window(struct document *document, size_t *out_used)
{
	enum kwhy_status status;

	if (document->seeking) {
		document->seeking = !kwhy_kineto_window_resume(&document->window, 0, out_used);
		if (document->seeking && kwhy_kineto_window_whole(&document->window))
			return end_early(document, position_of(document, document->window.cut));
		return KWHY_OK;
	}
	status = walk_window(document, out_used);
	return status ? status : check_mended(document);
}

/*
 * Called when all of the file has been read and the last event or member is complete. The file ends early if
 * its list or top object has no closing bracket.
 */
static enum kwhy_status check_end(struct document *document)
{
	if (document->position != AT_END || document->window.failed)
		return end_early(document, position_of(document, document->window.cut));
	document->stopped = true;
	return KWHY_OK;
}

static enum kwhy_status read_document(struct document *document)
{
	size_t used = 0;
	enum kwhy_status status = KWHY_OK;

	while (!status && !document->stopped) {
		status = kwhy_kineto_window_next(&document->window, used, document->error);
		if (!status)
			status = read_window(document, &used);
		if (!status && !document->stopped && !document->seeking && used == document->window.cut &&
			kwhy_kineto_window_whole(&document->window))
			status = check_end(document);
	}
	return status;
}

/*
 * Refuses, also with `partial`, a file without a list of events, or with a list of objects of which none has
 * the key "ph".
 */
static enum kwhy_status check_events(const struct document *document)
{
	if (document->has_events && !document->has_phase && document->file->counts.events > 0)
		return kwhy_fail(document->error, KWHY_E_INPUT,
			"%s is JSON, but not a trace: its list has %" PRIu64 " %s but no event (an "
			"object with \"ph\"); of PyTorch, name the file that export_chrome_trace() wrote",
			document->file->path, document->file->counts.events,
			kwhy_plural(document->file->counts.events, "object", "objects"));
	if (document->has_events)
		return KWHY_OK;
	if (document->window.failed) {
		*document->error = document->window.failure;
		return document->error->status;
	}
	if (document->is_cut)
		return kwhy_fail(document->error, KWHY_E_INPUT,
			"%s ends early or is broken at byte %" PRIu64
			", before its events begin: there is nothing whole to read; export the trace again",
			document->file->path, document->window.offset);
	return kwhy_fail(document->error, KWHY_E_INPUT,
		"%s is JSON, but not a trace: it has no list \"traceEvents\"; of PyTorch, name the file that "
		"export_chrome_trace() wrote",
		document->file->path);
}

static enum kwhy_status note_mended(struct document *document)
{
	if (document->window.mended == 0)
		return KWHY_OK;
	return kwhy_recording_add_note(document->file->recording, KWHY_NOTE_WARNING, "text-mended",
		document->error,
		"%s: %" PRIu64 " %s not valid JSON text, the first at byte %" PRIu64
		"; '?' or ' ' was read in place of each.",
		document->file->path, document->window.mended,
		kwhy_plural(document->window.mended, "byte is", "bytes are"), document->window.mended_first);
}

static enum kwhy_status read_input(
	struct kwhy_kineto_file *file, struct kwhy_input *input, struct kwhy_error *error)
{
	struct document *document = calloc(1, sizeof(*document));
	enum kwhy_status status;

	if (!document)
		return kwhy_fail_memory(error, "reading a trace");
	document->file = file;
	document->error = error;
	status = kwhy_kineto_window_open(&document->window, input, file->path, file->partial, error);
	if (!status)
		status = read_document(document);
	if (!status)
		status = check_events(document);
	if (!status)
		status = note_mended(document);
	kwhy_kineto_window_close(&document->window);
	free(document);
	return status;
}

/* Adds a source and a process for this file to the recording. */
static enum kwhy_status begin(struct kwhy_kineto_file *file, const char *path, struct kwhy_error *error)
{
	struct kwhy_trace_begun begun = {0};
	enum kwhy_status status;

	file->first = kwhy_row_counts_of(file->recording);
	file->chooses_clock = !kwhy_recording_has_times(file->recording);
	status = kwhy_trace_begin(
		file->recording, path, (struct kwhy_source){.format = KWHY_FORMAT_KINETO}, &begun, error);
	file->path = begun.path;
	file->source = begun.source;
	file->process = begun.process;
	file->meta.rank = KWHY_NONE;
	file->copy_name = KWHY_NONE;
	kwhy_kineto_words_init(&file->words);
	return status;
}

static void file_free(struct kwhy_kineto_file *file)
{
	kwhy_collectives_free(file->collectives);
	free(file->collective_of_name);
	kwhy_map_done(&file->mangled);
	kwhy_kineto_groups_done(&file->groups);
	kwhy_kineto_labels_done(&file->labels);
	kwhy_kineto_halves_done(&file->halves);
	kwhy_track_map_done(&file->devices);
	kwhy_track_map_done(&file->streams);
	kwhy_track_map_done(&file->threads);
	kwhy_track_map_done(&file->processes);
	free(file->meta.devices);
	free(file);
}

static enum kwhy_status kineto_read(struct kwhy_recording *recording, const char *path,
	const struct kwhy_import_options *options, struct kwhy_error *error)
{
	struct kwhy_kineto_file *file = calloc(1, sizeof(*file));
	struct kwhy_input *input = NULL;
	enum kwhy_status status;

	if (!file)
		return kwhy_fail_memory(error, "reading a trace");
	file->recording = recording;
	file->partial = options->partial;
	status = kwhy_collectives_new(options->collectives_path, &file->collectives, error);
	if (!status)
		status = kwhy_input_open(path, &input, error);
	if (!status)
		status = begin(file, path, error);
	if (!status)
		status = read_input(file, input, error);
	else
		kwhy_input_close(input);
	if (!status)
		status = kwhy_kineto_finish(file, error);
	file_free(file);
	return status;
}

static bool kineto_probe(const char *path, const unsigned char *head, size_t length)
{
	size_t at = length >= 3 && !memcmp(head, "\xEF\xBB\xBF", 3) ? 3 : 0;

	(void)path;
	while (at < length && (head[at] == ' ' || head[at] == '\t' || head[at] == '\r' || head[at] == '\n'))
		at++;
	return at < length && (head[at] == '{' || head[at] == '[');
}

const struct kwhy_trace_reader kwhy_reader_kineto = {.probe = kineto_probe, .read = kineto_read};

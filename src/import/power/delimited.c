/* SPDX-License-Identifier: Apache-2.0 */
#include "base/csv_line.h"
#include "import/lines.h"
#include "import/power/readers.h"

#include <stdlib.h>
#include <string.h>

/*
 * This file reads logs that are tables. A header line names the columns. They are separated by commas
 * (CUT_COMMAS) or by blanks (CUT_BLANKS), or lines begin with a time and a device such as "GPU 0", under the
 * header "#Entity", and blanks separate the rest (CUT_ENTITIES). The header may be repeated. Lines before the
 * first header and comments after '#' are ignored.
 */
enum cut { CUT_COMMAS, CUT_BLANKS, CUT_ENTITIES };

struct reader {
	struct kwhy_power_log *log;
	enum cut cut;
	bool has_head;
	size_t field_count, column_count;
	struct kwhy_span fields[KWHY_CSV_LINE_FIELDS];
	struct kwhy_power_meaning columns[KWHY_CSV_LINE_FIELDS];
};

static const char entity_head[] = "#Entity";

/* Takes the next word from the front of a text; empty at the text's end. */
static struct kwhy_span next_word(struct kwhy_span *rest)
{
	struct kwhy_span word;

	*rest = kwhy_span_trim(*rest);
	word = (struct kwhy_span){rest->bytes, 0};
	while (word.length < rest->length && !kwhy_span_is_space(rest->bytes[word.length]))
		word.length++;
	rest->bytes += word.length;
	rest->length -= word.length;
	return word;
}

/*
 * Splits a line at blanks into reader->fields, from field number `first` on. Returns the reason why the line
 * cannot be read; NULL: it was split.
 */
static const char *split_blanks(struct reader *reader, struct kwhy_span line, size_t first)
{
	reader->field_count = first;
	for (struct kwhy_span word = next_word(&line); word.length > 0; word = next_word(&line)) {
		if (reader->field_count == KWHY_CSV_LINE_FIELDS)
			return "begins a line of more than 512 columns";
		reader->fields[reader->field_count++] = word;
	}
	return NULL;
}

/*
 * Splits a line of dcgmi such as "TIME GPU 0 61.3 7" into the fields TIME, "GPU 0", 61.3 and 7; a header has
 * "#Entity" in place of "GPU 0". Lines of MIG instances ("GPU-I 0") are refused, because instances are
 * numbered separately and have no power of their own. Returns the reason why the line cannot be read; NULL:
 * it was split.
 */
static const char *split_entities(struct reader *reader, struct kwhy_span line)
{
	struct kwhy_span rest = line, word = next_word(&rest), number;
	const char *words;

	while (word.length > 0 && !kwhy_span_is(word, "GPU") && !kwhy_span_is(word, entity_head) &&
		!kwhy_span_is(word, "ID"))
		word = next_word(&rest);
	reader->field_count = 0;
	if (word.length == 0 || kwhy_span_is(word, "ID")) /* "ID": the line of units below the header */
		return word.length ? NULL : "begins a line of no GPU";
	reader->fields[0] = kwhy_span_trim((struct kwhy_span){line.bytes, (size_t)(word.bytes - line.bytes)});
	if (kwhy_span_is(word, "GPU")) {
		number = next_word(&rest);
		word.length = (size_t)(number.bytes + number.length - word.bytes);
	}
	words = split_blanks(reader, rest, 2);
	reader->fields[1] = word;
	return words;
}

static const char *split(struct reader *reader, const struct kwhy_line *line)
{
	const struct kwhy_span span = {line->bytes, line->length};

	switch (reader->cut) {
	case CUT_COMMAS:
		return kwhy_csv_line_split(line->bytes, line->length, reader->fields, &reader->field_count);
	case CUT_BLANKS:
		return split_blanks(reader, span, 0);
	default:
		return split_entities(reader, span);
	}
}

/*
 * The dialect of the first field of the current line that is the name of a reading of some tool; NULL: no
 * field is.
 */
static const struct kwhy_power_dialect *dialect_of(const struct reader *reader)
{
	for (size_t i = 0; i < reader->field_count; i++) {
		const struct kwhy_power_meaning meaning = kwhy_power_name_read(NULL, reader->fields[i]);

		if (meaning.dialect)
			return meaning.dialect;
	}
	return NULL;
}

/* Makes the fields of the current line the names of the columns. */
static void take_head(struct reader *reader, const struct kwhy_power_dialect *dialect)
{
	for (size_t i = 0; i < reader->field_count; i++)
		reader->columns[i] = kwhy_power_name_read(dialect, reader->fields[i]);
	if (dialect->has_entities) {
		reader->columns[0] = (struct kwhy_power_meaning){.role = KWHY_POWER_ROLE_TIME, .gpu = -1};
		reader->columns[1] = (struct kwhy_power_meaning){.role = KWHY_POWER_ROLE_GPU, .gpu = -1};
	}
	reader->log->dialect = dialect;
	reader->column_count = reader->field_count;
	reader->has_head = true;
}

static bool has_entities(const struct kwhy_line *line)
{
	return memmem(line->bytes, line->length, entity_head, sizeof(entity_head) - 1) != NULL;
}

/*
 * Makes a line the header if a field is the name of a reading of a known tool, or if it contains "#Entity";
 * otherwise changes only reader->fields.
 */
static void try_head(struct reader *reader, struct kwhy_line line)
{
	const enum cut before = reader->cut;
	const bool is_commented = *line.bytes == '#' && !has_entities(&line);
	const struct kwhy_power_dialect *dialect = NULL;

	line.bytes += is_commented;
	line.length -= is_commented;
	reader->cut = has_entities(&line)	       ? CUT_ENTITIES
		: memchr(line.bytes, ',', line.length) ? CUT_COMMAS
						       : CUT_BLANKS;
	if (!split(reader, &line))
		dialect = has_entities(&line) ? kwhy_power_dialect_of_entities() : dialect_of(reader);
	if (dialect)
		take_head(reader, dialect);
	else
		reader->cut = before;
}

/*
 * Whether the current line is another header, which then replaces the header: whether its field in the first
 * column of readings begins with a letter and any of its fields is the name of a reading.
 */
static bool take_repeated_head(struct reader *reader)
{
	const struct kwhy_power_dialect *dialect;
	size_t column = 0;

	while (column < reader->field_count && reader->columns[column].role < KWHY_POWER_ROLE_DRAW)
		column++;
	if (column == reader->field_count || reader->fields[column].length == 0 ||
		reader->fields[column].bytes[0] < 'A' || reader->cut == CUT_ENTITIES)
		return false;
	dialect = dialect_of(reader);
	if (dialect)
		take_head(reader, dialect);
	return dialect != NULL;
}

/*
 * Splits a line into reader->fields. Returns the reason why the line is not a row; NULL: it is a row, or it
 * is a line of units, which has no fields.
 */
static const char *split_row(struct reader *reader, const struct kwhy_line *line)
{
	const char *words = split(reader, line);

	if (words || reader->field_count == 0)
		return words;
	if (!line->ended)
		return "begins a line that the end of the file cuts off";
	return reader->field_count == reader->column_count
		? NULL
		: "begins a line of more or fewer fields than its head";
}

static enum kwhy_status add_row(struct reader *reader, uint64_t place, struct kwhy_error *error)
{
	struct kwhy_power_row_text row = {.gpu = -1};
	struct kwhy_power_value values[KWHY_CSV_LINE_FIELDS];
	size_t count = 0;

	for (size_t i = 0; i < reader->field_count; i++) {
		const struct kwhy_power_meaning *column = &reader->columns[i];

		if (column->role >= KWHY_POWER_ROLE_DRAW)
			values[count++] = (struct kwhy_power_value){*column, reader->fields[i]};
		else if (column->role && (!row.parts[column->role].bytes || reader->fields[i].length > 0))
			row.parts[column->role] = reader->fields[i];
	}
	return kwhy_power_log_add(reader->log, place, &row, values, count, error);
}

/*
 * Sets log->is_headless if line 1 begins with a time: it is then a row, and there is no header, as when
 * nvidia-smi ran with "noheader".
 */
static void note_first(struct reader *reader, uint64_t line)
{
	struct kwhy_power_stamp stamp;

	reader->log->is_headless |= line == 1 && !reader->has_head && reader->field_count > 1 &&
		kwhy_power_stamp_read(reader->fields[0], &stamp);
}

static enum kwhy_status read_line(struct reader *reader, struct kwhy_line line, struct kwhy_error *error)
{
	const struct kwhy_span trimmed = kwhy_span_trim((struct kwhy_span){line.bytes, line.length});
	const char *words;

	line.bytes += trimmed.bytes - line.bytes;
	line.length = trimmed.length;
	if (line.length == 0)
		return KWHY_OK;
	if (!reader->has_head || *line.bytes == '#' || has_entities(&line)) {
		try_head(reader, line);
		note_first(reader, line.number);
		return KWHY_OK;
	}
	words = split_row(reader, &line);
	if (take_repeated_head(reader))
		return KWHY_OK;
	if (words)
		kwhy_power_log_skip(reader->log, line.number, trimmed, words);
	if (words || reader->field_count == 0)
		return KWHY_OK;
	return add_row(reader, line.number, error);
}

enum kwhy_status kwhy_power_delimited_read(struct kwhy_power_log *log, bool partial, struct kwhy_error *error)
{
	struct reader *reader = calloc(1, sizeof(*reader));
	struct kwhy_lines *lines = NULL;
	struct kwhy_line line;
	bool end = false;
	enum kwhy_status status;

	if (!reader)
		return kwhy_fail_memory(error, "reading a power log");
	reader->log = log;
	status = kwhy_lines_open(log->path, partial, &lines, error);
	while (!status && !end) {
		status = kwhy_lines_next(lines, &line, &end, error);
		if (!status && !end)
			status = read_line(reader, line, error);
	}
	if (lines)
		log->ended_early = kwhy_lines_ended_early(lines);
	kwhy_lines_close(lines);
	free(reader);
	return status;
}

/*
 * Tries each line of a text as a header, until one is a header. False: none is. The bytes of the text may be
 * changed.
 */
static bool find_head(struct reader *reader, char *text, size_t length)
{
	for (size_t at = 0; at < length && !reader->has_head;) {
		const char *newline = memchr(text + at, '\n', length - at);
		const size_t end = newline ? (size_t)(newline - text) : length;
		const struct kwhy_span line = kwhy_span_trim((struct kwhy_span){text + at, end - at});

		if (line.length > 0)
			try_head(reader,
				(struct kwhy_line){
					.bytes = text + (line.bytes - text), .length = line.length});
		at = end + 1;
	}
	return reader->has_head;
}

bool kwhy_power_delimited_is(const unsigned char *head, size_t length)
{
	struct kwhy_power_log log = {0};
	struct reader *reader = calloc(1, sizeof(*reader));
	char *text = malloc(length + 1);
	bool is_log = false;

	if (reader && text) {
		memcpy(text, head, length);
		reader->log = &log;
		is_log = find_head(reader, text, length);
	}
	free(text);
	free(reader);
	return is_log;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "import/lines.h"
#include "import/power/readers.h"

#include <string.h>

/*
 * This file reads the text format of Prometheus: the response of an exporter, or several responses appended
 * to a file. Its lines are NAME{LABEL="VALUE",...} VALUE [TIME], the time in ms, or in s in OpenMetrics.
 */
struct sample {
	struct kwhy_power_row_text row;
	struct kwhy_power_value value;
};

/*
 * Takes the text before the first character that is in `any` or NUL, or else the whole text. *rest becomes
 * what follows.
 */
static struct kwhy_span take_until(struct kwhy_span *rest, const char *any)
{
	struct kwhy_span out = {rest->bytes, 0};

	while (out.length < rest->length && !strchr(any, rest->bytes[out.length]))
		out.length++;
	rest->bytes += out.length;
	rest->length -= out.length;
	return out;
}

static bool take(struct kwhy_span *rest, char c)
{
	if (rest->length == 0 || *rest->bytes != c)
		return false;
	rest->bytes++;
	rest->length--;
	return true;
}

/*
 * Reads one label, LABEL="VALUE", and stores its value in `row` if the label names a host or GPU. Of a value
 * with escapes only the part before the first escape is kept; labels of hosts and GPUs have none. False: the
 * text is no label.
 */
static bool take_label(struct kwhy_span *rest, struct kwhy_power_row_text *row)
{
	const struct kwhy_span name = kwhy_span_trim(take_until(rest, "="));
	struct kwhy_span value;
	enum kwhy_power_role role;

	if (!take(rest, '=') || !take(rest, '"'))
		return false;
	value = take_until(rest, "\\\"");
	while (take(rest, '\\')) {
		if (rest->length == 0)
			return false;
		rest->bytes++;
		rest->length--;
		take_until(rest, "\\\"");
	}
	if (!take(rest, '"'))
		return false;
	role = kwhy_power_name_read(NULL, name).role;
	if (role == KWHY_POWER_ROLE_HOST || role == KWHY_POWER_ROLE_UUID || role == KWHY_POWER_ROLE_PCI ||
		(role == KWHY_POWER_ROLE_GPU && !kwhy_span_is(name, "device")))
		row->parts[role] = value;
	return true;
}

static bool take_labels(struct kwhy_span *rest, struct kwhy_power_row_text *row)
{
	if (!take(rest, '{'))
		return true;
	while (!take(rest, '}')) {
		if (!take_label(rest, row))
			return false;
		take(rest, ',');
	}
	return true;
}

/*
 * Reads a line. Returns why it is no sample; NULL: it was read. out->value.meaning.dialect NULL: the line is
 * of a metric that is neither a power nor an energy of GPUs.
 */
static const char *read_sample(struct kwhy_span line, struct sample *out)
{
	struct kwhy_span rest = line;

	out->row.gpu = -1;
	out->value.meaning = kwhy_power_name_read(kwhy_power_dialect_of_metrics(), take_until(&rest, "{ \t"));
	if (!out->value.meaning.dialect)
		return NULL;
	if (!take_labels(&rest, &out->row))
		return "begins a sample whose labels do not end";
	rest = kwhy_span_trim(rest);
	out->value.text = take_until(&rest, " \t");
	rest = kwhy_span_trim(rest);
	out->row.parts[KWHY_POWER_ROLE_TIME] = take_until(&rest, " \t#");
	return NULL;
}

static enum kwhy_status read_line(
	struct kwhy_power_log *log, const struct kwhy_line *line, struct kwhy_error *error)
{
	const struct kwhy_span text = kwhy_span_trim((struct kwhy_span){line->bytes, line->length});
	struct sample sample = {0};
	const char *words;

	if (text.length == 0 || *text.bytes == '#')
		return KWHY_OK;
	words = line->ended ? read_sample(text, &sample) : "begins a line that the end of the file cuts off";
	if (words) {
		kwhy_power_log_skip(log, line->number, text, words);
		return KWHY_OK;
	}
	if (!sample.value.meaning.dialect)
		return KWHY_OK;
	log->dialect = sample.value.meaning.dialect;
	return kwhy_power_log_add(log, line->number, &sample.row, &sample.value, 1, error);
}

enum kwhy_status kwhy_power_exposition_read(
	struct kwhy_power_log *log, bool partial, struct kwhy_error *error)
{
	struct kwhy_lines *lines = NULL;
	struct kwhy_line line;
	bool end = false;
	enum kwhy_status status = kwhy_lines_open(log->path, partial, &lines, error);

	log->is_metrics = true;
	while (!status && !end) {
		status = kwhy_lines_next(lines, &line, &end, error);
		if (!status && !end)
			status = read_line(log, &line, error);
	}
	if (lines)
		log->ended_early = kwhy_lines_ended_early(lines);
	kwhy_lines_close(lines);
	return status;
}

bool kwhy_power_exposition_is(const unsigned char *head, size_t length)
{
	struct kwhy_span rest = {(const char *)head, length};

	while (rest.length > 0) {
		struct kwhy_span line = kwhy_span_trim(take_until(&rest, "\n"));

		take(&rest, '\n');
		if (kwhy_power_name_read(kwhy_power_dialect_of_metrics(), take_until(&line, "{ \t")).dialect)
			return true;
	}
	return false;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "import/csv/table.h"
#include "import/own_result.h"
#include "import/power/readers.h"
#include "import/trace_head.h"

#include <string.h>

/*
 * Forms of power files in the order in which they are tried. FORM_OWN is kwhy's own CSV; FORM_DELIMITED takes
 * every file of no other form.
 */
enum form { FORM_OWN, FORM_JSON, FORM_EXPOSITION, FORM_DELIMITED };

/*
 * Whether some line of the text begins like a line of Prometheus text: with "# TYPE ", "# HELP " or the name
 * of a metric of DCGM.
 */
static bool has_metrics(const char *head, size_t length)
{
	static const char *const marks[] = {"\n# TYPE ", "\n# HELP ", "\nDCGM_FI_", "\ndcgm_fi_"};

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		const size_t size = strlen(marks[i]);

		if (memmem(head, length, marks[i], size) ||
			(length >= size - 1 && !memcmp(head, marks[i] + 1, size - 1)))
			return true;
	}
	return false;
}

/*
 * Whether a JSON document may begin with this line: it begins with '{', or with '[' before '{', '[', ']' or
 * the end of the line. Lines of tables do not.
 */
static bool begins_json(struct kwhy_span line)
{
	if (line.length == 0 || (*line.bytes != '{' && *line.bytes != '['))
		return false;
	return *line.bytes == '{' || line.length == 1 || strchr("{[]", line.bytes[1]);
}

static bool has_json(const char *head, size_t length)
{
	for (size_t at = 0; at < length;) {
		const char *newline = memchr(head + at, '\n', length - at);
		const size_t end = newline ? (size_t)(newline - head) : length;

		if (begins_json(kwhy_span_trim((struct kwhy_span){head + at, end - at})))
			return true;
		at = end + 1;
	}
	return false;
}

static enum form form_of(const unsigned char *head, size_t length)
{
	const char *text = (const char *)head;

	if (kwhy_csv_head_names(head, length, "time_ns") || kwhy_csv_head_names(head, length, "source"))
		return FORM_OWN;
	if (has_json(text, length))
		return FORM_JSON;
	return has_metrics(text, length) ? FORM_EXPOSITION : FORM_DELIMITED;
}

static enum kwhy_status read_log(struct kwhy_recording *recording, const char *path, enum form form,
	const struct kwhy_import_options *options, struct kwhy_error *error)
{
	struct kwhy_power_log log;
	enum kwhy_status status = kwhy_power_log_init(&log, path, error);

	if (status)
		return status;
	if (form == FORM_JSON)
		status = kwhy_power_json_read(&log, error);
	else if (form == FORM_EXPOSITION)
		status = kwhy_power_exposition_read(&log, options->partial, error);
	else
		status = kwhy_power_delimited_read(&log, options->partial, error);
	if (!status)
		status = kwhy_power_log_assign(&log, recording, options, error);
	kwhy_power_log_done(&log);
	return status;
}

enum kwhy_status kwhy_import_power(struct kwhy_recording *recording, const char *path,
	const struct kwhy_import_options *options, struct kwhy_error *error)
{
	unsigned char head[KWHY_TRACE_HEAD_BYTES];
	size_t length;
	enum form form;
	enum kwhy_status status = kwhy_trace_head_read(path, head, &length, error);

	if (!status)
		status = kwhy_own_result_refuse_head(path, head, length, "power readings", error);
	if (status)
		return status;
	form = form_of(head, length);
	if (form == FORM_OWN)
		return kwhy_power_csv_read(recording, path, options, error);
	return read_log(recording, path, form, options, error);
}

/* Whether the text has a quoted string that is the name of a reading of a known tool. */
static bool names_readings(const char *json, size_t length)
{
	const char *end = json + length, *open, *close;

	while ((open = memchr(json, '"', (size_t)(end - json))) &&
		(close = memchr(open + 1, '"', (size_t)(end - open - 1)))) {
		const struct kwhy_span string = {open + 1, (size_t)(close - open - 1)};

		if (kwhy_power_name_read(NULL, string).dialect)
			return true;
		json = close + 1;
	}
	return false;
}

bool kwhy_import_is_power(const unsigned char *head, size_t length)
{
	switch (form_of(head, length)) {
	case FORM_OWN:
		return kwhy_csv_head_names(head, length, "time_ns") &&
			kwhy_csv_head_names(head, length, "source");
	case FORM_JSON:
		return names_readings((const char *)head, length);
	case FORM_EXPOSITION:
		return kwhy_power_exposition_is(head, length);
	default:
		return kwhy_power_delimited_is(head, length);
	}
}

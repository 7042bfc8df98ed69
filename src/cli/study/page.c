/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/study/page.h"

#include "base/file.h"
#include "base/html.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { TEXT_MAX_BYTES = 4 << 20 };

static const char head[] =
	"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
	"'unsafe-inline'; "
	"form-action 'none'; base-uri 'none'\">\n<style>\n"
	":root { color-scheme: light dark }\n"
	"body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 0 auto; padding: 1rem }\n"
	"pre { font: 13px/1.35 ui-monospace, monospace; overflow-x: auto; border: 1px solid #8886; padding: "
	".7rem }\n"
	"code { font: 14px ui-monospace, monospace; overflow-wrap: anywhere }\n"
	".missing { border-left: 4px solid #c60; padding-left: .7rem }\n"
	".note { color: #777 }\n"
	"@media print { pre { white-space: pre-wrap; font-size: 9px } }\n"
	"</style>\n";

static void add_text(struct kwhy_text *out, const char *before, const char *text, const char *after)
{
	kwhy_text_add(out, before);
	kwhy_html_add(out, text, strlen(text));
	kwhy_text_add(out, after);
}

static bool ends_in(const char *path, const char *end)
{
	const size_t length = strlen(path);

	return length > strlen(end) && strcmp(path + length - strlen(end), end) == 0;
}

static void add_link(struct kwhy_text *out, const char *path)
{
	const char *name = strrchr(path, '/');

	name = name ? name + 1 : path;
	add_text(out, "<p><a href=\"", name, "\">");
	add_text(out, "", name, "</a></p>\n");
}

/*
 * Adds the text file that a step wrote, as HTML, line by line, as valid UTF-8 without control characters. If
 * the file is larger than TEXT_MAX_BYTES, adds a link to it instead.
 */
static enum kwhy_status add_output(struct kwhy_text *out, const char *path, struct kwhy_error *error)
{
	struct kwhy_text text = {0};
	struct stat facts;
	enum kwhy_status status;
	char *clean;

	if (!stat(path, &facts) && facts.st_size > TEXT_MAX_BYTES) {
		kwhy_text_addf(out, "<p class=\"note\">Its text has %lld MiB, too much for this page.</p>\n",
			(long long)facts.st_size >> 20);
		add_link(out, path);
		return KWHY_OK;
	}
	status = kwhy_file_read(path, TEXT_MAX_BYTES, &text, error);
	clean = status ? NULL : malloc(3 * text.length + 1);
	if (!status && !clean)
		status = kwhy_fail_memory(error, "the page");
	kwhy_text_add(out, "<pre>");
	for (const char *line = text.data; !status && line && *line;) {
		const size_t length = strcspn(line, "\n");

		kwhy_html_add(out, clean, kwhy_text_sanitize(clean, line, length));
		kwhy_text_add(out, "\n");
		line += length + (line[length] == '\n');
	}
	kwhy_text_add(out, "</pre>\n");
	free(clean);
	kwhy_text_done(&text);
	return status;
}

static void add_time(struct kwhy_text *out, const struct kwhy_study_result *result)
{
	const time_t ended = (time_t)result->ended_unix_s;
	struct tm parts;
	char date[32] = "";

	if (gmtime_r(&ended, &parts))
		strftime(date, sizeof(date), "%Y-%m-%d %H:%M UTC", &parts);
	kwhy_text_addf(out, "<p class=\"note\">It took %.1f s and ended %s.</p>\n", result->seconds, date);
}

static enum kwhy_status add_step(struct kwhy_text *out, const struct kwhy_study_command *command,
	const struct kwhy_study_result *result, const char *line, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	add_text(out, "<h2 id=\"", command->step->id, "\">");
	add_text(out, "", command->step->shows, "</h2>\n");
	add_text(out, "<p><code>", line, "</code></p>\n");
	if (!result->is_done) {
		add_text(out, "<p class=\"missing\">Not measured: ",
			result->missing ? result->missing : "the study has not come this far", ".</p>\n");
		return KWHY_OK;
	}
	add_time(out, result);
	if (command->reads_bundled)
		kwhy_text_add(out,
			"<p class=\"note\">Of a recording that comes with kwhy, made on an H200, and not of "
			"a "
			"program of yours.</p>\n");
	for (size_t i = 0; !status && i < command->output_count; i++)
		if (ends_in(command->outputs[i], ".txt"))
			status = add_output(out, command->outputs[i], error);
		else
			add_link(out, command->outputs[i]);
	return status;
}

/*
 * Adds the table of contents: for each step what it shows, with a link to it, and "Not measured." if it has
 * no result.
 */
static void add_contents(
	struct kwhy_text *out, const struct kwhy_study *study, const struct kwhy_study_state *state)
{
	kwhy_text_add(out, "<ol>\n");
	for (size_t i = 0; i < study->step_count; i++) {
		add_text(out, "<li><a href=\"#", study->steps[i].id, "\">");
		add_text(out, "", study->steps[i].shows, "</a>");
		kwhy_text_add(out, state->results[i].is_done ? "</li>\n" : " Not measured.</li>\n");
	}
	kwhy_text_add(out, "</ol>\n");
}

enum kwhy_status kwhy_study_page_write(const struct kwhy_study_request *request,
	const struct kwhy_study_command *commands, const struct kwhy_study_state *state,
	struct kwhy_text *out, struct kwhy_error *error)
{
	const struct kwhy_study *study = request->study;
	struct kwhy_arena arena = {0};
	char host[256] = "";
	enum kwhy_status status = KWHY_OK;

	(void)gethostname(host, sizeof(host) - 1);
	kwhy_text_add(out, head);
	add_text(out, "<title>", study->question, "</title>\n</head>\n<body>\n");
	add_text(out, "<h1>", study->question, "</h1>\n");
	add_text(out, "<p class=\"note\">kwhy study ", state->given, ", by kwhy " KWHY_VERSION);
	add_text(out, " on ", host, ".</p>\n");
	add_contents(out, study, state);
	add_text(out, "<p><b>Measured before, for comparison:</b> ", study->answer, "</p>\n");
	for (size_t i = 0; !status && i < study->step_count; i++) {
		const char *line = kwhy_study_command_text(&commands[i], &arena);

		status = line ? add_step(out, &commands[i], &state->results[i], line, error)
			      : kwhy_fail_memory(error, "the page");
	}
	kwhy_text_add(out, "</body>\n</html>\n");
	kwhy_arena_done(&arena);
	return status ? status : kwhy_text_check(out, error);
}

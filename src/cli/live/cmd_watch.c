/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/live/job.h"
#include "cli/output.h"
#include "watch/terminal.h"
#include "watch/terminal_kind.h"
#include "watch/view.h"

#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
	TICK_MS = 500,
	/*
	 * time in ms for which meters are read before a single view (--once) is drawn; every gauge is then
	 * read once or, if its value needs two readings, twice
	 */
	ONCE_MS = 1200,
	PROCESSES_MIN = 3,
	PROCESSES_ONCE = 10
};

struct watch_options {
	struct kwhy_live_options live;
	bool once, ascii, no_color;
};

struct watch {
	const struct watch_options *options;
	struct kwhy_live_job job;
	struct kwhy_terminal *terminal;
	struct kwhy_screen screen;
	size_t scrolled;
	bool quit;
};

static void set_defaults(void *options)
{
	struct watch_options *watch = options;

	kwhy_live_options_init(&watch->live, false);
}

/*
 * Whether to draw with ASCII characters only: if the option --ascii is given, or if the encoding of the
 * environment's locale is not UTF-8. Only LC_CTYPE is set, so numbers keep their decimal point.
 */
static bool wants_ascii(const struct watch_options *options)
{
	return options->ascii || !setlocale(LC_CTYPE, "") || strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
}

/* Fails if there is no meter to show. The message states why. */
static enum kwhy_status check_meters(const struct kwhy_sensors *sensors, struct kwhy_error *error)
{
	if (sensors->source_count)
		return KWHY_OK;
	return kwhy_fail(error, KWHY_E_UNSUPPORTED, "there is no meter to watch here%s%s",
		sensors->absence_count ? ": " : "", sensors->absence_count ? sensors->absences[0].text : "");
}

static enum kwhy_status watch_once(struct watch *watch, struct kwhy_error *error)
{
	struct kwhy_view view = {.processes_most = PROCESSES_ONCE, .more_lines = SIZE_MAX};
	struct pollfd wait = {.fd = watch->job.signals, .events = POLLIN};
	struct kwhy_text text = {0};
	enum kwhy_status status;

	(void)poll(&wait, 1, ONCE_MS);
	kwhy_sampler_flush(watch->job.sampler);
	status = kwhy_live_job_tick(&watch->job, error);
	if (status)
		return status;
	watch->screen.columns = kwhy_output_columns();
	kwhy_view_draw(kwhy_live_snapshot(watch->job.live), &view, &watch->screen);
	kwhy_screen_write(&watch->screen, &text);
	status = kwhy_text_check(&text, error);
	if (!status)
		status = kwhy_output_write(NULL, &text, error);
	kwhy_text_done(&text);
	return status;
}

static void draw_view(struct watch *watch, const struct kwhy_view *view)
{
	kwhy_screen_clear(&watch->screen);
	kwhy_view_draw(kwhy_live_snapshot(watch->job.live), view, &watch->screen);
}

/*
 * Draws the view into watch->screen with at most PROCESSES_MIN processes per device. While fewer than `lines`
 * lines are used, draws it again: first with the unused lines given to full sentences (view.more_lines), then
 * with view.processes_most, the largest number of processes per device, increased by the number of lines
 * still unused.
 */
static void draw(struct watch *watch, size_t lines)
{
	struct kwhy_view view = {.processes_most = PROCESSES_MIN};

	draw_view(watch, &view);
	if (watch->screen.lines >= lines)
		return;
	view.more_lines = lines - watch->screen.lines;
	draw_view(watch, &view);
	if (watch->screen.lines >= lines)
		return;
	view.processes_most += lines - watch->screen.lines;
	draw_view(watch, &view);
}

static void show(struct watch *watch)
{
	struct kwhy_terminal_size size = kwhy_terminal_size(watch->terminal);
	size_t columns = size.columns > KWHY_VIEW_COLUMNS_MIN ? size.columns : KWHY_VIEW_COLUMNS_MIN, hidden;

	if (columns != watch->screen.columns) {
		kwhy_screen_done(&watch->screen);
		watch->screen.columns = columns;
	}
	draw(watch, size.lines);
	hidden = watch->screen.lines > size.lines ? watch->screen.lines - size.lines : 0;
	if (watch->scrolled > hidden)
		watch->scrolled = hidden;
	kwhy_terminal_show(watch->terminal, &watch->screen, watch->scrolled);
}

static void scroll(struct watch *watch, long by)
{
	if (by < 0 && watch->scrolled < (size_t)-by)
		watch->scrolled = 0;
	else
		watch->scrolled += (size_t)by;
}

static void obey(struct watch *watch, enum kwhy_key key)
{
	long page = (long)kwhy_terminal_size(watch->terminal).lines - 2;

	switch (key) {
	case KWHY_KEY_QUIT:
		watch->quit = true;
		break;
	case KWHY_KEY_UP:
		scroll(watch, -1);
		break;
	case KWHY_KEY_DOWN:
		scroll(watch, 1);
		break;
	case KWHY_KEY_PAGE_UP:
		scroll(watch, -page);
		break;
	case KWHY_KEY_PAGE_DOWN:
		scroll(watch, page);
		break;
	case KWHY_KEY_TOP:
		watch->scrolled = 0;
		break;
	default:
		break;
	}
}

static enum kwhy_status watch_on(struct watch *watch, struct kwhy_error *error)
{
	struct pollfd waits[] = {
		{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = watch->job.signals, .events = POLLIN}};
	enum kwhy_status status = KWHY_OK;
	enum kwhy_key key;

	while (!status && !watch->quit) {
		if (!kwhy_live_job_wait_ms(&watch->job))
			status = kwhy_live_job_tick_regularly(&watch->job, TICK_MS, error);
		if (status || watch->screen.failed)
			break;
		show(watch);
		waits[0].revents = waits[1].revents = 0;
		/*
		 * poll() also returns, interrupted by SIGWINCH, when the size of the terminal changes, so the
		 * view is drawn anew
		 */
		(void)poll(waits, 2, kwhy_live_job_wait_ms(&watch->job));
		while ((key = kwhy_terminal_key(watch->terminal)) != KWHY_KEY_NONE)
			obey(watch, key);
		watch->quit |= waits[1].revents || (waits[0].revents & (POLLHUP | POLLERR));
	}
	if (!status && watch->screen.failed)
		status = kwhy_fail_memory(error, "the picture");
	return status;
}

static enum kwhy_status watch_terminal(struct watch *watch, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_terminal_open(
		kwhy_output_color(watch->options->no_color), &watch->terminal, error);

	if (!status)
		status = watch_on(watch, error);
	kwhy_terminal_close(watch->terminal);
	return status;
}

static enum kwhy_status run(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	const struct watch_options *options = invocation->options;
	const bool once = options->once || !isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO);
	struct watch watch = {.options = options};
	enum kwhy_status status = once ? KWHY_OK : kwhy_terminal_kind_check(error);

	watch.screen.ascii = wants_ascii(options);
	if (!status)
		status = kwhy_live_job_open(&watch.job, &options->live, error);
	if (status)
		return status;
	status = check_meters(watch.job.sensors, error);
	if (!status)
		status = once ? watch_once(&watch, error) : watch_terminal(&watch, error);
	kwhy_screen_done(&watch.screen);
	kwhy_live_job_close(&watch.job);
	return status;
}

static const struct kwhy_option options_table[] = {
	{"once", 0, NULL, "print what there is after a second, and end", KWHY_OPTION_FLAG,
		offsetof(struct watch_options, once)},
	KWHY_OPTION_ROWS_LIVE(
		struct watch_options, live, "read clocks, temperatures and the like so often; default 1000"),
	{"ascii", 0, NULL, "draw with ASCII alone", KWHY_OPTION_FLAG, offsetof(struct watch_options, ascii)},
	{"no-color", 0, NULL, "no colours", KWHY_OPTION_FLAG, offsetof(struct watch_options, no_color)},
	KWHY_OPTION_ROW_HELP,
	KWHY_OPTION_ROW_END,
};

const struct kwhy_command kwhy_command_watch = {
	.name = "watch",
	.operands = "",
	.summary = "Show power, energy and use of this machine's GPUs as they change.",
	.details = "q quits; arrows, page keys and space scroll, g goes back to the top.",
	.options = options_table,
	.options_bytes = sizeof(struct watch_options),
	.defaults = set_defaults,
	.run = run,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/forward.h"

#include "base/text.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * OPEN_MAX: largest number of regions that are open at a time in all threads. UNITS_MAX: largest number of
 * units of work. Regions and units beyond these numbers are not forwarded.
 */
enum { OPEN_MAX = 4096, UNITS_MAX = 64, UNIT_BYTES = 64 };

/* Type of kwhy_inject_take_range() in src/inject/inject.c. */
typedef void recorded_range(const char *name, int64_t start_mono_ns, int64_t end_mono_ns);

struct kwhy_forward {
	recorded_range *take_range; /* NULL: no `kwhy record` watches the program */
	int work_file; /* descriptor of the file named by KWHY_WORK_FILE; -1: no tool counts work */
	struct {
		int64_t start_mono_ns;
		uint32_t name;
		uint16_t thread;
	} open[OPEN_MAX];
	size_t open_count;
	struct {
		char unit[UNIT_BYTES];
		double amount;
	} work[UNITS_MAX];
	size_t work_count;
};

static recorded_range *find_recorder(void)
{
	const char *path = secure_getenv("CUDA_INJECTION64_PATH"), *folder = secure_getenv("KWHY_RECORD_DIR");
	void *library;

	if (!path || !*path || !folder || !*folder)
		return NULL;
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	return library ? (recorded_range *)dlsym(library, "kwhy_inject_take_range") : NULL;
}

static int open_work_file(void)
{
	const char *path = secure_getenv("KWHY_WORK_FILE");

	return path && *path ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
}

struct kwhy_forward *kwhy_forward_open(void)
{
	struct kwhy_forward *forward;
	recorded_range *take_range = find_recorder();
	const int work_file = open_work_file();

	if (!take_range && work_file < 0)
		return NULL;
	forward = calloc(1, sizeof(*forward));
	if (forward) {
		forward->take_range = take_range;
		forward->work_file = work_file;
	} else if (work_file >= 0) {
		close(work_file);
	}
	return forward;
}

static void begin(struct kwhy_forward *forward, const struct kwhy_event *event)
{
	if (forward->open_count == OPEN_MAX)
		return;
	forward->open[forward->open_count].start_mono_ns = event->time_ns;
	forward->open[forward->open_count].name = event->name;
	forward->open[forward->open_count++].thread = event->thread;
}

/*
 * Ends the open region with the event's name that the event's thread began most recently, and passes it on as
 * a range. Does nothing if there is none.
 */
static void end(struct kwhy_forward *forward, const struct kwhy_event *event, const char *name)
{
	size_t at = forward->open_count;

	while (at &&
		(forward->open[at - 1].name != event->name || forward->open[at - 1].thread != event->thread))
		at--;
	if (!at)
		return;
	forward->take_range(name, forward->open[at - 1].start_mono_ns, event->time_ns);
	memmove(&forward->open[at - 1], &forward->open[at],
		(forward->open_count - at) * sizeof(forward->open[0]));
	forward->open_count--;
}

static void work(struct kwhy_forward *forward, const char *unit, double amount)
{
	size_t at = 0;

	while (at < forward->work_count && strcmp(forward->work[at].unit, unit) != 0)
		at++;
	if (at == UNITS_MAX || strlen(unit) >= UNIT_BYTES || strpbrk(unit, " \t\n"))
		return;
	if (at == forward->work_count) {
		memcpy(forward->work[at].unit, unit, strlen(unit) + 1);
		forward->work[at].amount = 0;
		forward->work_count++;
	}
	forward->work[at].amount += amount;
}

void kwhy_forward_event(struct kwhy_forward *forward, const struct kwhy_event *event, const char *name)
{
	if (!forward || event->thread == KWHY_EVENT_EVERY_THREAD)
		return;
	if (event->kind == KWHY_EVENT_WORK && forward->work_file >= 0)
		work(forward, name, event->amount);
	else if (event->kind == KWHY_EVENT_BEGIN && forward->take_range)
		begin(forward, event);
	else if (event->kind == KWHY_EVENT_END && forward->take_range)
		end(forward, event, name);
}

void kwhy_forward_flush(struct kwhy_forward *forward)
{
	struct kwhy_text lines = {0};

	if (!forward || !forward->work_count)
		return;
	for (size_t i = 0; i < forward->work_count; i++)
		kwhy_text_addf(&lines, "%s %.17g\n", forward->work[i].unit, forward->work[i].amount);
	/*
	 * The lines are written by a single call, so that they do not mix with lines of other processes. If
	 * the call fails, the work is added to the next lines.
	 */
	if (!lines.length || write(forward->work_file, lines.data, lines.length) == (ssize_t)lines.length)
		forward->work_count = 0;
	kwhy_text_done(&lines);
}

void kwhy_forward_close(struct kwhy_forward *forward)
{
	if (!forward)
		return;
	kwhy_forward_flush(forward);
	if (forward->work_file >= 0)
		close(forward->work_file);
	free(forward);
}

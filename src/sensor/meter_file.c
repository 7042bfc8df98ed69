/* SPDX-License-Identifier: Apache-2.0 */
#include "sensor/power_line.h"
#include "sensor/sensor.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Wall meters: files of power readings as CSV, which another program writes and which are followed while they
 * grow. Only rows with the source meter_mw and without a device are used; all others are counted as failures
 * and skipped.
 */

#define PERIOD_NS INT64_C(200000000)
#define UPDATES_PER_S 20.0
#define HISTORY_DEFAULT_S 60
/* a row's time may be this much later than the time at which it is read from the file */
#define AHEAD_NS INT64_C(1000000000)

enum { FILES_MAX = 16 };

struct file {
	const char *path;
	int fd; /* -1: the file does not exist now; it is looked for again at each read */
	uint32_t source;
	struct kwhy_power_lines lines;
	char text[KWHY_POWER_LINE_BYTES]; /* bytes that were read but do not form a whole line yet */
	size_t length;
	bool passing;	/* the rest of a line that is too long is being skipped */
	bool caught_up; /* whether all that the file contained when it was opened, or after it was truncated,
			   has been read */
};

struct meter_files {
	struct kwhy_sensors *sensors;
	int64_t history_ns;
	size_t count;
	struct file files[FILES_MAX];
};

static void meter_file_close(void *state)
{
	struct meter_files *files = state;

	for (size_t i = 0; i < files->count; i++)
		if (files->files[i].fd >= 0)
			close(files->files[i].fd);
	free(files);
}

static void count_failure(struct meter_files *files, const struct file *file)
{
	struct kwhy_source_channel *source = &files->sensors->sources[file->source];

	if (atomic_fetch_add_explicit(&source->failures, 1, memory_order_relaxed) == 0)
		atomic_store_explicit(&source->bad_line, file->lines.number, memory_order_relaxed);
}

/*
 * Pushes the reading of a row to the file's channel. A row that was in the file at the start is ignored if it
 * is older than `history_ns`. A row that is appended later counts as a failure if it is older than that or
 * more than AHEAD_NS in the future, because the clock of its meter is then wrong.
 */
static void take_row(struct meter_files *files, struct file *file, const struct kwhy_power_row *row,
	const struct kwhy_clock_relation *relation)
{
	int64_t time_ns = kwhy_clock_mono_of_unix(relation, row->time_ns);
	bool is_old = time_ns < relation->mono_ns - files->history_ns;

	if (is_old && !file->caught_up)
		return;
	if (is_old || time_ns > relation->mono_ns + AHEAD_NS || row->meter != KWHY_METER_WALL ||
		row->device >= 0)
		count_failure(files, file);
	else
		kwhy_channel_push(&files->sensors->sources[file->source].channel,
			(struct kwhy_reading){time_ns, row->value});
}

static void take_line(struct meter_files *files, struct file *file, char *line, size_t length,
	const struct kwhy_clock_relation *relation)
{
	struct kwhy_error error;
	enum kwhy_power_item item;
	struct kwhy_power_row row;

	if (kwhy_power_line_take(&file->lines, line, length, &item, &row, &error))
		count_failure(files, file);
	else if (item == KWHY_POWER_ROW)
		take_row(files, file, &row, relation);
}

/*
 * Takes the whole lines out of the buffer `text` and keeps the bytes of the unfinished line. If this line
 * fills the buffer, it is too long: it counts as a failure, and the rest of it is skipped.
 */
static void take_lines(
	struct meter_files *files, struct file *file, const struct kwhy_clock_relation *relation)
{
	size_t at = 0;
	char *newline;

	while ((newline = memchr(file->text + at, '\n', file->length - at)) != NULL) {
		size_t end = (size_t)(newline - file->text);

		if (!file->passing)
			take_line(files, file, file->text + at, end - at, relation);
		file->passing = false;
		at = end + 1;
	}
	file->length -= at;
	memmove(file->text, file->text + at, file->length);
	if (file->length < sizeof(file->text))
		return;
	file->passing = true;
	file->length = 0;
	file->lines.number++;
	count_failure(files, file);
}

static void begin_again(struct file *file)
{
	file->lines = (struct kwhy_power_lines){.path = file->path};
	file->length = 0;
	file->passing = file->caught_up = false;
}

static void find(struct file *file)
{
	file->fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file->fd >= 0)
		begin_again(file);
}

/*
 * If the file was truncated, the next read begins at its start. If it did not exist at the last read, tries
 * to open it by its path.
 */
static void keep_open(struct file *file)
{
	struct stat status;

	if (file->fd < 0) {
		find(file);
	} else if (fstat(file->fd, &status) == 0 && S_ISREG(status.st_mode) &&
		status.st_size < lseek(file->fd, 0, SEEK_CUR)) {
		lseek(file->fd, 0, SEEK_SET);
		begin_again(file);
	}
}

/*
 * Whether the file was removed or replaced. A file that was only renamed is followed until another file has
 * its old name.
 */
static bool is_replaced(const struct file *file)
{
	struct stat status, named;

	if (file->fd < 0 || fstat(file->fd, &status) || !S_ISREG(status.st_mode))
		return false;
	return status.st_nlink == 0 ||
		(stat(file->path, &named) == 0 &&
			(named.st_dev != status.st_dev || named.st_ino != status.st_ino));
}

static void read_on(struct meter_files *files, struct file *file, const struct kwhy_clock_relation *relation)
{
	ssize_t got;

	while (file->fd >= 0 &&
		(got = read(file->fd, file->text + file->length, sizeof(file->text) - file->length)) > 0) {
		file->length += (size_t)got;
		take_lines(files, file, relation);
	}
	file->caught_up = true;
}

static void follow(struct meter_files *files, struct file *file, const struct kwhy_clock_relation *relation)
{
	keep_open(file);
	read_on(files, file, relation);
	if (!is_replaced(file))
		return;
	read_on(files, file,
		relation); /* reads the rows that were written just before the file was replaced */
	close(file->fd);
	find(file);
	read_on(files, file, relation);
}

static int64_t meter_file_read(void *state, uint32_t argument, int64_t now_mono_ns)
{
	struct meter_files *files = state;
	struct kwhy_clock_relation relation = kwhy_sensors_relate(files->sensors);

	(void)argument, (void)now_mono_ns;
	for (size_t i = 0; i < files->count; i++)
		follow(files, &files->files[i], &relation);
	return 0;
}

/* Fails if a row is not a reading of a wall meter. `lines->number` is the number of its line. */
static enum kwhy_status check_row(
	const struct kwhy_power_lines *lines, const struct kwhy_power_row *row, struct kwhy_error *error)
{
	if (row->meter != KWHY_METER_WALL)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%.300s, line %" PRIu64
			": its source is %s, which is not a wall meter; write the source meter_mw",
			lines->path, lines->number, kwhy_meter_name(row->meter));
	if (row->device >= 0)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%.300s, line %" PRIu64
			": it is of device %d, and a wall meter has none; leave the device empty",
			lines->path, lines->number, (int)row->device);
	return KWHY_OK;
}

/*
 * Checks the header and the first row if the file already has them, so that a wrong file is reported before
 * the run.
 */
static enum kwhy_status check_head(const char *path, int fd, struct kwhy_error *error)
{
	struct kwhy_power_lines lines = {.path = path};
	char text[KWHY_POWER_LINE_BYTES];
	ssize_t length = pread(fd, text, sizeof(text), 0);
	enum kwhy_power_item item = KWHY_POWER_NOTHING;
	enum kwhy_status status = KWHY_OK;

	for (char *line = text, *newline; !status && length > 0 && item != KWHY_POWER_ROW;
		line = newline + 1) {
		struct kwhy_power_row row;

		newline = memchr(line, '\n', (size_t)(text + length - line));
		if (!newline)
			break;
		status = kwhy_power_line_take(&lines, line, (size_t)(newline - line), &item, &row, error);
		if (!status && item == KWHY_POWER_ROW)
			status = check_row(&lines, &row, error);
	}
	return status;
}

static enum kwhy_status add_file(struct meter_files *files, const char *path,
	const struct kwhy_sensor_request *request, struct kwhy_error *error)
{
	struct file *file = &files->files[files->count];
	struct kwhy_source_channel source = {
		.kind = KWHY_SOURCE_METER,
		.meter = KWHY_METER_WALL,
		.device = KWHY_SENSOR_NO_DEVICE,
		.domain = (uint32_t)files->count,
		.label = path,
	};

	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file->fd < 0)
		return kwhy_fail(error, KWHY_E_INPUT,
			"cannot read the meter's file '%.300s': %s; start what writes it first", path,
			strerror(errno));
	files->count++;
	file->path = kwhy_arena_copy(&files->sensors->arena, path);
	if (!file->path)
		return kwhy_fail_memory(error, "the meter's file");
	begin_again(file);
	if (check_head(file->path, file->fd, error))
		return error->status;
	return kwhy_sensors_add_source(files->sensors, &source, UPDATES_PER_S, request, &file->source, error);
}

static enum kwhy_status add_all(
	struct meter_files *files, const struct kwhy_sensor_request *request, struct kwhy_error *error)
{
	struct kwhy_sensor_task task = {
		.title = "meter files", .state = files, .period_ns = PERIOD_NS, .read = meter_file_read};
	enum kwhy_status status = KWHY_OK;

	if (request->meter_file_count > FILES_MAX)
		return kwhy_fail(error, KWHY_E_USAGE, "at most %d meter files can be followed", FILES_MAX);
	for (size_t i = 0; !status && i < request->meter_file_count; i++)
		status = add_file(files, request->meter_files[i], request, error);
	return status ? status : kwhy_sensors_add_task(files->sensors, &task, error);
}

static enum kwhy_status meter_file_open(struct kwhy_sensors *sensors,
	const struct kwhy_sensor_request *request, void **out_state, struct kwhy_error *error)
{
	struct meter_files *files = calloc(1, sizeof(*files));
	enum kwhy_status status;

	if (!files)
		return kwhy_fail_memory(error, "the meters' files");
	files->sensors = sensors;
	files->history_ns = (int64_t)(request->history_s ? request->history_s : HISTORY_DEFAULT_S) *
		1000000000;
	status = add_all(files, request, error);
	if (status) {
		meter_file_close(files);
		return status;
	}
	*out_state = files;
	return KWHY_OK;
}

const struct kwhy_sensor_backend kwhy_sensor_meter_file = {
	.name = "meter file", .open = meter_file_open, .close = meter_file_close};

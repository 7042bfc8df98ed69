/* SPDX-License-Identifier: Apache-2.0 */
#include "record/counters_process.h"

#include "record/file.h"
#include "record/pm_sampling.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* Time between two readings in ms; and the longest life in s after the recorder was killed. */
enum { READ_MS = 10, ORPHAN_S = 5 };
#define FLUSH_NS INT64_C(1000000000)

struct process {
	int socket;
	const struct kwhy_sensor_device *device;
	struct kwhy_record_counters_order order;
	struct kwhy_record_file file;
	struct kwhy_pm_sampling pm;
	int64_t start_cpu_ns, flushed_mono_ns;
};

/*
 * Keeps the process from disturbing the recorded command: from writing to its streams, from leaving a core
 * file, and from being recorded itself by an outer recorder. It ends when the recorder does.
 */
static void keep_quiet(void)
{
	static const struct rlimit no_core = {0, 0};
	const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int stream = 0; nowhere >= 0 && stream < 3; stream++)
		dup2(nowhere, stream);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &no_core);
	unsetenv("CUDA_INJECTION64_PATH");
	unsetenv("NVTX_INJECTION64_PATH");
}

/* The first alarm gives the process time to end, the second one ends it. */
static void set_alarm(int signal)
{
	(void)signal;
	alarm(ORPHAN_S);
}

/*
 * From now on the process may complete its file if the recorder is killed. If CUPTI hangs, it does not see
 * that the recorder is gone; it then ends by an alarm.
 */
static void outlive_the_recorder(void)
{
	const struct sigaction action = {.sa_handler = set_alarm, .sa_flags = SA_RESETHAND | SA_RESTART};
	sigset_t alarms;

	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	sigaction(SIGALRM, &action, NULL);
	sigprocmask(SIG_UNBLOCK, &alarms, NULL);
	prctl(PR_SET_PDEATHSIG, SIGALRM);
}

static int64_t cpu_ns(void)
{
	struct timespec used = {0, 0};

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

static void answer(const struct process *process, bool is_end, const struct kwhy_error *error)
{
	struct kwhy_record_counters_answer message;

	memset(&message, 0, sizeof(message));
	message.is_end = is_end;
	message.error = *error;
	message.cpu_ns = cpu_ns() - process->start_cpu_ns;
	send(process->socket, &message, sizeof(message), MSG_NOSIGNAL);
}

/*
 * Waits for the next order, but not longer than `most_ms`; -1: without limit. False: the sampling is to end.
 */
static bool take_order(struct process *process, int most_ms)
{
	struct pollfd file = {.fd = process->socket, .events = POLLIN};
	struct kwhy_record_counters_order order;
	ssize_t got;

	if (poll(&file, 1, most_ms) <= 0)
		return true;
	got = recv(process->socket, &order, sizeof(order), 0);
	if (got == (ssize_t)sizeof(order))
		process->order = order;
	return got == (ssize_t)sizeof(order) || (got < 0 && errno == EINTR);
}

static void begin_file(struct process *process, const char *producer)
{
	const struct kwhy_clock_relation relation = kwhy_clock_relate();
	const struct kwhy_record_process facts = {
		.producer = producer, .start_mono_ns = relation.mono_ns, .is_helper = true};

	kwhy_record_file_add_clock(&process->file, &relation);
	kwhy_record_file_add_process(&process->file, &facts);
	kwhy_record_file_add_device(&process->file, process->device);
	kwhy_block_writer_flush(&process->file.writer);
}

static void write_sample(void *context, const struct kwhy_perf_sample *sample)
{
	struct process *process = context;
	struct kwhy_wire_counters *row;

	if (sample->start_ns < process->order.start_mono_ns || sample->start_ns > process->order.end_mono_ns)
		return;
	for (size_t i = 0; i < KWHY_PERF_COUNTER_COUNT; i++)
		if (!isfinite(sample->counts[i]) || sample->counts[i] < 0) {
			process->file.writer.lost_records++;
			return;
		}
	row = kwhy_block_writer_add(&process->file.writer, KWHY_WIRE_COUNTERS);
	if (!row)
		return;
	*row = (struct kwhy_wire_counters){.start_mono_ns = sample->start_ns,
		.length_ns = sample->length_ns,
		.device = process->device->index};
	for (size_t i = 0; i < KWHY_PERF_COUNTER_COUNT; i++)
		row->counts[i] = sample->counts[i];
}

/*
 * At its limit the file is ended like a complete one: the error tells that there are no more samples, and
 * none of the program's own records are lost.
 */
static enum kwhy_status check_file(struct process *process, struct kwhy_error *error)
{
	struct kwhy_block_writer *writer = &process->file.writer;

	if (!writer->full)
		return kwhy_record_file_check(&process->file, error);
	writer->full = false;
	writer->limit_bytes = 0;
	writer->lost_records = 0;
	return kwhy_fail(error, KWHY_E_IO, "their file has reached --max-size; allow more");
}

static enum kwhy_status read_samples(struct process *process, bool *out_more, struct kwhy_error *error)
{
	const int64_t now_ns = kwhy_clock_mono_ns();
	enum kwhy_status status = kwhy_pm_sampling_read(&process->pm, write_sample, process, out_more, error);

	if (now_ns > process->flushed_mono_ns + FLUSH_NS) {
		kwhy_block_writer_flush(&process->file.writer);
		process->flushed_mono_ns = now_ns;
	}
	return status ? status : check_file(process, error);
}

/* Samples until the recorder ends the sampling, and then reads the last samples. */
static enum kwhy_status sample(struct process *process, struct kwhy_error *error)
{
	bool more = false;
	enum kwhy_status status = KWHY_OK;

	while (!status && take_order(process, more ? 0 : READ_MS))
		status = read_samples(process, &more, error);
	if (!status)
		status = kwhy_pm_sampling_stop(&process->pm, error);
	for (more = true; !status && more;)
		status = read_samples(process, &more, error);
	return status;
}

static enum kwhy_status begin(struct process *process, const char *producer, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_pm_sampling_open(&process->pm, process->device->uuid, error);

	if (!take_order(process, -1))
		_exit(0);
	if (!status)
		status = kwhy_record_file_open(
			&process->file, process->order.path, process->order.limit_bytes, error);
	if (status)
		return status;
	begin_file(process, producer);
	return kwhy_pm_sampling_start(&process->pm, error);
}

static void end_file(struct process *process)
{
	const struct kwhy_clock_relation relation = kwhy_clock_relate();

	if (process->file.fd < 0)
		return;
	kwhy_record_file_add_clock(&process->file, &relation);
	kwhy_block_writer_finish(&process->file.writer, relation.mono_ns);
}

void kwhy_record_counters_process(int socket, const struct kwhy_sensor_device *device, const char *producer)
{
	struct process process = {.socket = socket, .device = device, .file = {.fd = -1}};
	struct kwhy_error error = {0};
	enum kwhy_status status;

	keep_quiet();
	status = begin(&process, producer, &error);
	process.start_cpu_ns = cpu_ns();
	if (!status) {
		answer(&process, false, &error);
		outlive_the_recorder();
		status = sample(&process, &error);
	}
	end_file(&process);
	answer(&process, true, &error);
	kwhy_pm_sampling_close(&process.pm);
	_exit(status != KWHY_OK);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "record/counters.h"

#include "record/counters_process.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * END_MS: longest wait in ms for the end of a process; then it is killed, and waited for KILLED_MS longer.
 * TEXT_BYTES: size of the message of a failure.
 */
enum { END_MS = 5000, KILLED_MS = 1000, TEXT_BYTES = 1000 };

/* The sampling process of one device, as the recorder sees it. */
struct part {
	const struct kwhy_sensor_device *device;
	pid_t pid;  /* 0: it has ended, or never started */
	int socket; /* -1: closed */
	bool is_ready;
	bool has_ended; /* it has answered that its file is complete */
	struct kwhy_error error;
	int64_t cpu_ns;
};

struct kwhy_record_counters {
	struct part *parts;
	size_t count;
	struct kwhy_record_counters_order order;
	char text[TEXT_BYTES];
};

static bool is_sampled(const struct kwhy_sensor_device *device)
{
	return device->vendor == KWHY_VENDOR_NVIDIA && device->mig_index < 0 && device->uuid;
}

/*
 * Runs in the child of fork. It closes the recorder's ends of this and the earlier sockets: a child notices
 * that the recorder has exited only if no other child keeps the recorder's end of this child's socket open.
 */
_Noreturn static void run_part(
	const struct kwhy_record_counters *counters, size_t index, const int ends[2], const char *producer)
{
	close(ends[0]);
	for (size_t i = 0; i < index; i++)
		close(counters->parts[i].socket);
	kwhy_record_counters_process(ends[1], counters->parts[index].device, producer);
}

static void fork_part(struct kwhy_record_counters *counters, size_t index, const char *producer)
{
	struct part *part = &counters->parts[index];
	int ends[2];

	part->socket = -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
		kwhy_error_set(&part->error, KWHY_E_IO, "no socket for their process: %s", strerror(errno));
		return;
	}
	part->pid = fork();
	if (part->pid == 0)
		run_part(counters, index, ends, producer);
	close(ends[1]);
	part->socket = ends[0];
	if (part->pid > 0)
		return;
	kwhy_error_set(&part->error, KWHY_E_IO, "their process cannot be started: %s", strerror(errno));
	part->pid = 0;
}

enum kwhy_status kwhy_record_counters_open(const struct kwhy_sensors *sensors, const char *producer,
	double share, struct kwhy_record_counters **out, struct kwhy_error *error)
{
	struct kwhy_record_counters *counters = calloc(1, sizeof(*counters));

	if (counters)
		counters->parts = calloc(sensors->device_count + 1, sizeof(*counters->parts));
	if (!counters || !counters->parts) {
		free(counters);
		return kwhy_fail_memory(error, "the performance counters");
	}
	counters->order = (struct kwhy_record_counters_order){
		.start_mono_ns = INT64_MIN, .end_mono_ns = INT64_MAX, .share = share};
	for (size_t i = 0; i < sensors->device_count; i++) {
		if (!is_sampled(&sensors->devices[i]))
			continue;
		counters->parts[counters->count].device = &sensors->devices[i];
		fork_part(counters, counters->count, producer);
		counters->count++;
	}
	*out = counters;
	return KWHY_OK;
}

static void send_order(const struct kwhy_record_counters *counters, const struct part *part)
{
	if (part->socket >= 0)
		send(part->socket, &counters->order, sizeof(counters->order), MSG_NOSIGNAL);
}

void kwhy_record_counters_start(
	struct kwhy_record_counters *counters, const char *folder, uint64_t limit_bytes)
{
	struct kwhy_record_counters_order *order = counters ? &counters->order : NULL;

	if (!order)
		return;
	order->limit_bytes = limit_bytes;
	for (size_t i = 0; i < counters->count; i++) {
		snprintf(order->path, sizeof(order->path), "%.4000s/counters-%" PRId32 ".blocks", folder,
			counters->parts[i].device->index);
		send_order(counters, &counters->parts[i]);
	}
}

/*
 * Closes the socket of a process and waits until the process has ended; after END_MS it is killed. If it had
 * not answered that its file is complete, sets part->error.
 */
static void bury(struct part *part)
{
	const struct timespec ms = {0, 1000000};
	int how = 0, waited_ms = 0;
	pid_t ended;

	if (part->socket >= 0)
		close(part->socket);
	part->socket = -1;
	part->is_ready = true;
	while (part->pid && !(ended = waitpid(part->pid, &how, WNOHANG)) && waited_ms < END_MS + KILLED_MS) {
		if (waited_ms++ == END_MS)
			kill(part->pid, SIGKILL);
		nanosleep(&ms, NULL);
	}
	if (part->pid && !part->error.status && !part->has_ended) {
		if (ended == part->pid && WIFSIGNALED(how))
			kwhy_error_set(&part->error, KWHY_E_IO,
				"their process was killed by signal %d (%s), perhaps by a fault of CUPTI; "
				"try another CUPTI, named in KWHY_CUPTI",
				WTERMSIG(how), strsignal(WTERMSIG(how)));
		else
			kwhy_error_set(&part->error, KWHY_E_IO,
				"their process ended early; try another CUPTI, named in KWHY_CUPTI");
	}
	part->pid = 0;
}

/*
 * Takes an answer of the process, if one comes within `most_ms` ms. If it is the last one, or the process has
 * closed its socket, waits for its end.
 */
static void take_answer(struct part *part, int most_ms)
{
	struct pollfd file = {.fd = part->socket, .events = POLLIN};
	struct kwhy_record_counters_answer answer;
	ssize_t got;

	if (part->socket < 0 || poll(&file, 1, most_ms) <= 0)
		return;
	got = recv(part->socket, &answer, sizeof(answer), 0);
	if (got < 0 && errno == EINTR)
		return;
	if (got != (ssize_t)sizeof(answer)) {
		bury(part);
		return;
	}
	part->is_ready = true;
	part->cpu_ns = answer.cpu_ns;
	part->error = answer.error;
	part->has_ended = answer.is_end;
	if (answer.is_end)
		bury(part);
}

bool kwhy_record_counters_are_ready(struct kwhy_record_counters *counters)
{
	bool are_ready = true;

	for (size_t i = 0; i < counters->count; i++) {
		struct part *part = &counters->parts[i];

		if (!part->is_ready)
			take_answer(part, 0);
		are_ready &= part->is_ready || part->socket < 0;
	}
	return are_ready;
}

void kwhy_record_counters_give_up(struct kwhy_record_counters *counters)
{
	for (size_t i = 0; i < counters->count; i++) {
		struct part *part = &counters->parts[i];

		if (part->is_ready || !part->pid)
			continue;
		kwhy_error_set(&part->error, KWHY_E_IO,
			"CUPTI does not start in time; leave the GPU's driver loaded (nvidia-smi -pm 1)");
		kill(part->pid, SIGKILL);
		bury(part);
	}
}

void kwhy_record_counters_window(
	struct kwhy_record_counters *counters, int64_t start_mono_ns, int64_t end_mono_ns)
{
	if (!counters)
		return;
	counters->order.start_mono_ns = start_mono_ns;
	counters->order.end_mono_ns = end_mono_ns;
	for (size_t i = 0; i < counters->count; i++)
		send_order(counters, &counters->parts[i]);
}

/*
 * Waits until a process has answered that its file is complete, and then for its end. If there is no such
 * answer by `latest_mono_ns`, kills it.
 */
static void await_end(struct part *part, int64_t latest_mono_ns)
{
	int64_t left_ns = latest_mono_ns - kwhy_clock_mono_ns();

	while (part->socket >= 0 && left_ns > 0) {
		take_answer(part, (int)(left_ns / 1000000) + 1);
		left_ns = latest_mono_ns - kwhy_clock_mono_ns();
	}
	if (part->socket >= 0 && part->pid)
		kill(part->pid, SIGKILL);
	bury(part);
}

/*
 * First asks all processes to end, by shutting down the recorder's side of their sockets, and only then waits
 * for each process.
 */
void kwhy_record_counters_stop(struct kwhy_record_counters *counters)
{
	const int64_t latest_ns = kwhy_clock_mono_ns() + END_MS * INT64_C(1000000);

	for (size_t i = 0; i < counters->count; i++)
		if (counters->parts[i].socket >= 0)
			shutdown(counters->parts[i].socket, SHUT_WR);
	for (size_t i = 0; i < counters->count; i++)
		await_end(&counters->parts[i], latest_ns);
}

/* The numbers of the devices whose samples are missing, as "1, 2". */
static void list_failed(const struct kwhy_record_counters *counters, char *out, size_t out_bytes)
{
	size_t at = 0;

	out[0] = '\0';
	for (size_t i = 0; i < counters->count && at < out_bytes; i++)
		if (counters->parts[i].error.status)
			at += (size_t)snprintf(out + at, out_bytes - at, "%s%" PRId32, at ? ", " : "",
				counters->parts[i].device->index);
}

const char *kwhy_record_counters_failure(struct kwhy_record_counters *counters)
{
	const struct part *first = NULL;
	char devices[200];

	for (size_t i = 0; i < counters->count; i++)
		if (!first && counters->parts[i].error.status)
			first = &counters->parts[i];
	if (!counters->count)
		return "samples of performance counters are missing: no NVIDIA GPU was found; load the "
		       "driver";
	if (!first)
		return NULL;
	list_failed(counters, devices, sizeof(devices));
	snprintf(counters->text, sizeof(counters->text),
		"samples of performance counters are missing on GPU %s: %s", devices, first->error.text);
	return counters->text;
}

int64_t kwhy_record_counters_cpu_ns(const struct kwhy_record_counters *counters)
{
	int64_t all_ns = 0;

	for (size_t i = 0; counters && i < counters->count; i++)
		all_ns += counters->parts[i].cpu_ns;
	return all_ns;
}

void kwhy_record_counters_close(struct kwhy_record_counters *counters)
{
	if (!counters)
		return;
	kwhy_record_counters_give_up(counters);
	kwhy_record_counters_stop(counters);
	free(counters->parts);
	free(counters);
}

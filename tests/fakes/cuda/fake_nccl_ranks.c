/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NCCL between processes. The ranks of a communicator meet in memory shared by the process that created the
 * communicator's id. A call blocks its stream, as NCCL's kernels do, until the other ranks have reached
 * theirs; a thread in each process makes the streams progress, as a device would. Each ordered pair of
 * ranks has a box for the data of sends, and each rank has a board on which it puts its input of a
 * collective.
 */
#include "fake_nccl.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { BOX_BYTES = 1 << 20, ARRIVAL_TRIES = 20000, PAUSE_NS = 500000, TURN_NS = 50000 };

struct box {
	_Atomic uint64_t sent, received;
	unsigned char bytes[BOX_BYTES];
};

struct board {
	_Atomic uint64_t shown, done;
	unsigned char bytes[BOX_BYTES];
};

struct meeting {
	_Atomic int arrived;
	struct board boards[MEMBERS_MAX];
	struct box boxes[MEMBERS_MAX][MEMBERS_MAX]; /* [sender][receiver] */
};

struct name {
	long process, file;
};

/* A call that is queued in its stream. `has_shown`: its input is on the rank's board. */
struct waiting {
	struct call call;
	uint64_t number; /* sequence number of a collective, from 1 */
	bool has_shown;
};

static struct {
	pthread_once_t found, turned;
	enum kwhy_cuda_result (*queue)(kwhy_cuda_stream stream, bool (*call)(void *context), void *context);
	enum kwhy_cuda_result (*turn)(void);
} driver = {.found = PTHREAD_ONCE_INIT, .turned = PTHREAD_ONCE_INIT};

static void *turn(void *context)
{
	const struct timespec pause = {.tv_nsec = TURN_NS};

	for (;;) {
		driver.turn();
		nanosleep(&pause, NULL);
	}
	return context;
}

static void find_driver(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW), *address = dlsym(library, "kwhy_fake_gpu_call");

	memcpy(&driver.queue, &address, sizeof(driver.queue));
	address = dlsym(library, "kwhy_fake_gpu_turn");
	memcpy(&driver.turn, &address, sizeof(driver.turn));
	if (!driver.queue || !driver.turn)
		abort();
}

int fake_nccl_put(kwhy_nccl_stream stream, bool (*call)(void *context), void *context)
{
	pthread_once(&driver.found, find_driver);
	return driver.queue((kwhy_cuda_stream)(void *)stream, call, context) ? -1 : 0;
}

static void start(void)
{
	/* the thread runs code of this library, which must therefore never be unloaded */
	void *self = dlopen("libnccl.so.2", RTLD_NOW | RTLD_NODELETE);
	pthread_t thread;

	pthread_once(&driver.found, find_driver);
	if (!self || pthread_create(&thread, NULL, turn, NULL))
		abort();
	pthread_detach(thread);
}

enum kwhy_nccl_result ncclGetUniqueId(struct kwhy_nccl_id *out_id)
{
	struct name name = {getpid(), memfd_create("fake nccl", MFD_CLOEXEC)};

	if (name.file < 0 || ftruncate((int)name.file, sizeof(struct meeting)))
		return KWHY_NCCL_SYSTEM_ERROR;
	memset(out_id, 0, sizeof(*out_id));
	memcpy(out_id->bytes, &name, sizeof(name));
	return KWHY_NCCL_SUCCESS;
}

static struct meeting *open_meeting(const struct kwhy_nccl_id *id)
{
	struct name name;
	char path[64];
	void *memory;
	int file;

	memcpy(&name, id->bytes, sizeof(name));
	snprintf(path, sizeof(path), "/proc/%ld/fd/%ld", name.process, name.file);
	file = open(path, O_RDWR | O_CLOEXEC);
	if (file < 0)
		return NULL;
	memory = mmap(NULL, sizeof(struct meeting), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	close(file);
	return memory == MAP_FAILED ? NULL : memory;
}

enum kwhy_nccl_result ncclCommInitRank(
	kwhy_nccl_communicator *out_communicator, int count, struct kwhy_nccl_id id, int rank)
{
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	struct meeting *meeting = open_meeting(&id);
	struct ncclComm *communicator = malloc(sizeof(*communicator));
	int tries = 0;

	if (!meeting || !communicator || rank < 0 || rank >= count || count > MEMBERS_MAX) {
		free(communicator);
		return KWHY_NCCL_INVALID_ARGUMENT;
	}
	pthread_once(&driver.turned, start);
	atomic_fetch_add(&meeting->arrived, 1);
	while (atomic_load(&meeting->arrived) < count && tries++ < ARRIVAL_TRIES)
		nanosleep(&pause, NULL);
	*communicator = (struct ncclComm){.rank = rank, .count = count, .meeting = meeting};
	*out_communicator = communicator;
	return atomic_load(&meeting->arrived) == count ? KWHY_NCCL_SUCCESS : KWHY_NCCL_SYSTEM_ERROR;
}

void fake_nccl_leave(struct ncclComm *communicator)
{
	atomic_store(&communicator->is_over, 1);
	if (atomic_load(&communicator->waiting))
		return; /* queued calls still use it, so it is left to the end of the process */
	munmap(communicator->meeting, sizeof(*communicator->meeting));
	free(communicator);
}

static bool send_or_receive(const struct call *call)
{
	int own = call->communicator->rank, peer = call->number;
	bool sends = call->kind == SEND;
	struct box *box = &call->communicator->meeting->boxes[sends ? own : peer][sends ? peer : own];
	uint64_t sent = atomic_load(&box->sent), received = atomic_load(&box->received);

	if (sends == (sent > received))
		return false;
	if (sends)
		memcpy(box->bytes, call->from, fake_nccl_bytes(call));
	else
		memcpy(call->to, box->bytes, fake_nccl_bytes(call));
	atomic_fetch_add(sends ? &box->sent : &box->received, 1);
	return true;
}

static bool all_have(const struct ncclComm *communicator, bool done, uint64_t number)
{
	for (int i = 0; i < communicator->count; i++) {
		struct board *board = &communicator->meeting->boards[i];

		if (atomic_load(done ? &board->done : &board->shown) < number)
			return false;
	}
	return true;
}

static void take_together(const struct call *call, size_t bytes)
{
	const struct ncclComm *communicator = call->communicator;
	const struct board *boards = communicator->meeting->boards;
	size_t part = call->kind == SCATTER ? (size_t)communicator->rank * bytes : 0;

	if (call->kind == BROADCAST)
		memcpy(call->to, boards[call->number].bytes, bytes);
	else if (call->kind != GATHER)
		memset(call->to, 0, bytes);
	for (int i = 0; i < communicator->count; i++)
		if (call->kind == GATHER)
			memcpy((char *)call->to + (size_t)i * bytes, boards[i].bytes, bytes);
		else if (call->kind != BROADCAST)
			fake_nccl_combine(call, boards[i].bytes + part, bytes, call->to);
}

/* Takes part in a collective. Returns false until all ranks have put their input on their boards. */
static bool meet(struct waiting *waiting)
{
	const struct call *call = &waiting->call;
	struct ncclComm *communicator = call->communicator;
	struct board *own = &communicator->meeting->boards[communicator->rank];
	size_t bytes = fake_nccl_bytes(call);

	if (!waiting->has_shown) {
		if (!all_have(communicator, true, waiting->number - 1))
			return false;
		if (call->kind != BROADCAST || call->number == communicator->rank)
			memcpy(own->bytes, call->from,
				call->kind == SCATTER ? bytes * (size_t)communicator->count : bytes);
		atomic_store(&own->shown, waiting->number);
		waiting->has_shown = true;
	}
	if (!all_have(communicator, false, waiting->number))
		return false;
	take_together(call, bytes);
	atomic_store(&own->done, waiting->number);
	return true;
}

static bool go_on(void *context)
{
	struct waiting *waiting = context;
	enum kind kind = waiting->call.kind;
	struct ncclComm *communicator = waiting->call.communicator;
	bool done = atomic_load(&communicator->is_over) ||
		(kind == SEND || kind == RECEIVE ? send_or_receive(&waiting->call) : meet(waiting));

	if (!done)
		return false;
	free(waiting);
	atomic_fetch_sub(&communicator->waiting, 1);
	return true;
}

int fake_nccl_queue(const struct call *call)
{
	struct waiting *waiting = malloc(sizeof(*waiting));
	size_t bytes = fake_nccl_bytes(call) *
		(call->kind == SCATTER ? (size_t)call->communicator->count : 1);

	if (!waiting || bytes > BOX_BYTES) {
		free(waiting);
		return -1;
	}
	*waiting = (struct waiting){.call = *call};
	atomic_fetch_add(&call->communicator->waiting, 1);
	if (call->kind != SEND && call->kind != RECEIVE)
		waiting->number = ++call->communicator->collectives;
	return fake_nccl_put(call->stream, go_on, waiting);
}

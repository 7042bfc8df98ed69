/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NCCL within one process on the fake CUDA driver, whose device memory is host memory. The calls of a group
 * are collected, queued in their streams when the group ends, and run together when all these streams have
 * reached them. Calls that do not match, such as a receive without its send, are an error instead of a
 * deadlock.
 */
#include "fake_nccl.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/*
 * The calls between ncclGroupStart() and ncclGroupEnd(). They run together once all their streams
 * have reached them. arrived: number of streams that have reached them; left: number of references
 * to the group.
 */
struct group {
	struct call calls[CALLS_MAX];
	size_t call_count, stream_count, arrived, left;
	bool only_checks, has_run;
};

/* A group as it is queued in one of its streams. `is_there`: the stream has reached it. */
struct part {
	struct group *group;
	bool is_there;
};

static struct group collected;
static int depth;

const char *ncclGetErrorString(enum kwhy_nccl_result result)
{
	return result ? "fake trouble" : "no error";
}

enum kwhy_nccl_result ncclGetVersion(int *version)
{
	*version = 22705;
	return KWHY_NCCL_SUCCESS;
}

enum kwhy_nccl_result ncclCommInitAll(kwhy_nccl_communicator *communicators, int count, const int *devices)
{
	for (int i = 0; i < count; i++)
		for (int k = 0; k < i; k++)
			if (devices[i] == devices[k])
				return KWHY_NCCL_INVALID_ARGUMENT;
	for (int i = 0; i < count; i++) {
		communicators[i] = malloc(sizeof(**communicators));
		*communicators[i] = (struct ncclComm){.rank = i, .count = count};
	}
	return KWHY_NCCL_SUCCESS;
}

enum kwhy_nccl_result ncclCommAbort(kwhy_nccl_communicator communicator)
{
	return ncclCommDestroy(communicator);
}

enum kwhy_nccl_result ncclCommDestroy(kwhy_nccl_communicator communicator)
{
	if (communicator->meeting)
		fake_nccl_leave(communicator);
	else
		free(communicator);
	return KWHY_NCCL_SUCCESS;
}

size_t fake_nccl_bytes(const struct call *call)
{
	return call->count * (call->type == KWHY_NCCL_UINT64 ? 8 : call->type == KWHY_NCCL_UINT8 ? 1 : 4);
}

/*
 * Finds the calls of all ranks of the collective that `first` belongs to, by rank, and marks them done.
 * Returns their number, or -1 if some are missing.
 */
static int find_all(struct group *group, size_t first, size_t found[MEMBERS_MAX])
{
	struct call *calls = group->calls;
	int count = calls[first].communicator->count, have = 0;

	for (size_t i = first; i < group->call_count; i++)
		if (!calls[i].done && calls[i].kind == calls[first].kind) {
			found[calls[i].communicator->rank] = i;
			calls[i].done = 1;
			have++;
		}
	return have == count ? count : -1;
}

static void add_floats(const unsigned char *from, size_t bytes, unsigned char *result)
{
	for (size_t at = 0; at < bytes; at += sizeof(float)) {
		float old, value;

		memcpy(&old, result + at, sizeof(old));
		memcpy(&value, from + at, sizeof(value));
		old += value;
		memcpy(result + at, &old, sizeof(old));
	}
}

/*
 * Combines `from`, the input of one more rank, with `result`, the reduction over the ranks before it.
 * Elements have 4 or 8 bytes.
 */
void fake_nccl_combine(
	const struct call *call, const unsigned char *from, size_t bytes, unsigned char *result)
{
	size_t width = call->type == KWHY_NCCL_UINT64 ? 8 : 4;

	if (call->type == KWHY_NCCL_FLOAT32 && call->number == KWHY_NCCL_SUM) {
		add_floats(from, bytes, result);
		return;
	}
	for (size_t at = 0; at < bytes; at += width) {
		uint64_t old = 0, value = 0;

		memcpy(&old, result + at, width);
		memcpy(&value, from + at, width);
		value = call->number == KWHY_NCCL_SUM ? old + value : value > old ? value : old;
		memcpy(result + at, &value, width);
	}
}

/*
 * Writes what one rank receives: the reduction, its part of the reduction, the root's data, or the data of
 * all ranks.
 */
static void hand_out(const struct call *calls, const struct call *call, const size_t found[MEMBERS_MAX],
	int count, const unsigned char *result)
{
	size_t bytes = fake_nccl_bytes(call),
	       part = call->kind == SCATTER ? (size_t)call->communicator->rank * bytes : 0;

	if (call->kind != GATHER)
		memcpy(call->to, result + part, bytes);
	for (int k = 0; call->kind == GATHER && k < count; k++)
		memcpy((char *)call->to + (size_t)k * bytes, calls[found[k]].from, bytes);
}

static int run_together(struct group *group, size_t first)
{
	const struct call *calls = group->calls;
	size_t found[MEMBERS_MAX], bytes = fake_nccl_bytes(&calls[first]), all;
	enum kind kind = calls[first].kind;
	int count = find_all(group, first, found);
	unsigned char *result;

	if (count < 0 || group->only_checks)
		return count < 0 ? -1 : 0;
	all = kind == SCATTER ? (size_t)count * bytes : bytes;
	result = calloc(all ? all : 1, 1);
	for (int k = 0; (kind == REDUCE || kind == SCATTER) && k < count; k++)
		fake_nccl_combine(&calls[found[k]], calls[found[k]].from, all, result);
	if (kind == BROADCAST)
		memcpy(result, calls[found[calls[first].number]].from, bytes);
	for (int i = 0; i < count; i++)
		hand_out(calls, &calls[found[i]], found, count, result);
	free(result);
	return 0;
}

/* Copies the data of the first unreceived send of the peer to this rank. Returns -1 if there is none. */
static int run_receive(struct group *group, struct call *receive)
{
	for (size_t i = 0; i < group->call_count; i++) {
		struct call *send = &group->calls[i];

		if (send->kind != SEND || send->done || send->communicator->rank != receive->number ||
			send->number != receive->communicator->rank || send->count != receive->count)
			continue;
		if (!group->only_checks)
			memcpy(receive->to, send->from, fake_nccl_bytes(send));
		send->done = receive->done = 1;
		return 0;
	}
	return -1;
}

static int run_all(struct group *group)
{
	int failed = 0;

	for (size_t i = 0; i < group->call_count; i++)
		group->calls[i].done = 0;
	for (size_t i = 0; !failed && i < group->call_count; i++)
		if (!group->calls[i].done && group->calls[i].kind == RECEIVE)
			failed = run_receive(group, &group->calls[i]);
		else if (!group->calls[i].done && group->calls[i].kind != SEND)
			failed = run_together(group, i);
	for (size_t i = 0; !failed && i < group->call_count; i++)
		failed = group->calls[i].done ? 0 : -1;
	return failed;
}

static void let_go(struct group *group)
{
	if (--group->left == 0)
		free(group);
}

/* Runs the group if all its streams have reached it. Returns false until then. */
static bool go_on(void *context)
{
	struct part *part = context;
	struct group *group = part->group;

	if (!part->is_there)
		group->arrived++;
	part->is_there = true;
	if (group->arrived < group->stream_count)
		return false;
	if (!group->has_run && run_all(group))
		abort(); /* cannot fail: the same calls were checked when they were queued */
	group->has_run = true;
	free(part);
	let_go(group);
	return true;
}

static bool is_first_of_stream(const struct group *group, size_t call)
{
	for (size_t i = 0; i < call; i++)
		if (group->calls[i].stream == group->calls[call].stream)
			return false;
	return true;
}

/*
 * Queues a group in all its streams. Queueing in the last stream can already run and free the group, so
 * this function holds one more reference.
 */
static int queue(struct group *group)
{
	int failed = 0;

	for (size_t i = 0; i < group->call_count; i++)
		group->stream_count += is_first_of_stream(group, i);
	group->left = group->stream_count + 1;
	for (size_t i = 0; !failed && i < group->call_count; i++) {
		struct part *part;

		if (!is_first_of_stream(group, i))
			continue;
		part = malloc(sizeof(*part));
		*part = (struct part){.group = group};
		failed = fake_nccl_put(group->calls[i].stream, go_on, part);
	}
	let_go(group);
	return failed;
}

static int end_group(void)
{
	struct group *group;
	int failed;

	collected.only_checks = true;
	failed = run_all(&collected);
	if (!failed && collected.call_count) {
		group = malloc(sizeof(*group));
		*group = collected;
		group->only_checks = false;
		failed = queue(group);
	}
	collected.call_count = 0;
	return failed;
}

enum kwhy_nccl_result ncclGroupStart(void)
{
	depth++;
	return KWHY_NCCL_SUCCESS;
}

enum kwhy_nccl_result ncclGroupEnd(void)
{
	return --depth == 0 && end_group() ? KWHY_NCCL_INTERNAL_ERROR : KWHY_NCCL_SUCCESS;
}

static enum kwhy_nccl_result add(struct call call)
{
	if (call.communicator->meeting)
		return fake_nccl_queue(&call) ? KWHY_NCCL_INTERNAL_ERROR : KWHY_NCCL_SUCCESS;
	if (collected.call_count == CALLS_MAX || depth < 1)
		return KWHY_NCCL_INVALID_ARGUMENT;
	collected.calls[collected.call_count++] = call;
	return KWHY_NCCL_SUCCESS;
}

enum kwhy_nccl_result ncclAllReduce(const void *from, void *to, size_t count, enum kwhy_nccl_type type,
	enum kwhy_nccl_operation operation, kwhy_nccl_communicator communicator, kwhy_nccl_stream stream)
{
	return add((struct call){REDUCE, from, to, count, type, (int)operation, communicator, stream, 0});
}

enum kwhy_nccl_result ncclReduceScatter(const void *from, void *to, size_t count, enum kwhy_nccl_type type,
	enum kwhy_nccl_operation operation, kwhy_nccl_communicator communicator, kwhy_nccl_stream stream)
{
	return add((struct call){SCATTER, from, to, count, type, (int)operation, communicator, stream, 0});
}

enum kwhy_nccl_result ncclBroadcast(const void *from, void *to, size_t count, enum kwhy_nccl_type type,
	int root, kwhy_nccl_communicator communicator, kwhy_nccl_stream stream)
{
	return add((struct call){BROADCAST, from, to, count, type, root, communicator, stream, 0});
}

enum kwhy_nccl_result ncclAllGather(const void *from, void *to, size_t count, enum kwhy_nccl_type type,
	kwhy_nccl_communicator communicator, kwhy_nccl_stream stream)
{
	return add((struct call){GATHER, from, to, count, type, 0, communicator, stream, 0});
}

enum kwhy_nccl_result ncclSend(const void *from, size_t count, enum kwhy_nccl_type type, int peer,
	kwhy_nccl_communicator communicator, kwhy_nccl_stream stream)
{
	return add((struct call){SEND, from, NULL, count, type, peer, communicator, stream, 0});
}

enum kwhy_nccl_result ncclRecv(void *to, size_t count, enum kwhy_nccl_type type, int peer,
	kwhy_nccl_communicator communicator, kwhy_nccl_stream stream)
{
	return add((struct call){RECEIVE, NULL, to, count, type, peer, communicator, stream, 0});
}

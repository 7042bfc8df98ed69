/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/labels.h"

#include "base/hash.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PIECE_BYTES = 4096, PIECES = KWHY_INJECT_LABEL_BYTES / PIECE_BYTES };

void kwhy_inject_labels_init(struct kwhy_inject_labels *labels, struct kwhy_block_writer *writer)
{
	labels->writer = writer;
	labels->round = 1;
}

/* Hash of a text; never 0, which marks a free entry. Writes the text's length in bytes to *out_length. */
static uint64_t hash_of(const char *text, size_t *out_length)
{
	uint64_t hash;

	*out_length = strlen(text);
	hash = kwhy_hash_bytes(KWHY_HASH_START, text, *out_length);
	return hash ? hash : 1;
}

uint64_t kwhy_inject_label_hash(const char *text)
{
	size_t length;

	return hash_of(text, &length);
}

/* Empties both tables. Names get new ids from then on, which continue the sequence of ids. */
static void forget(struct kwhy_inject_labels *labels)
{
	memset(labels->by_content, 0, sizeof(labels->by_content));
	memset(labels->by_pointer, 0, sizeof(labels->by_pointer));
	labels->known = 0;
}

uint32_t kwhy_inject_label(struct kwhy_inject_labels *labels, const char *text)
{
	uint64_t hash;
	size_t length, at;

	if (!text || !text[0])
		return 0;
	hash = hash_of(text, &length);
	at = (hash ^ hash >> 32) % KWHY_INJECT_LABELS;
	while (labels->by_content[at].hash && labels->by_content[at].hash != hash)
		at = (at + 1) % KWHY_INJECT_LABELS;
	if (labels->by_content[at].hash)
		return labels->by_content[at].number;
	if (labels->known == KWHY_INJECT_LABELS * 3 / 4) {
		forget(labels);
		at = (hash ^ hash >> 32) % KWHY_INJECT_LABELS;
	}
	labels->known++;
	labels->by_content[at].hash = hash;
	labels->by_content[at].number = ++labels->last;
	kwhy_block_writer_add_name(labels->writer, labels->last, text, length);
	return labels->last;
}

/*
 * Copies a text by a system call, which fails where memory is not mapped. The pieces are copied page by page,
 * because the page after the text's last one may not be mapped; the kernel then copies only the pieces before
 * it.
 */
static const char *read_text(struct kwhy_inject_labels *labels, const char *text)
{
	const struct iovec space = {labels->text, KWHY_INJECT_LABEL_BYTES};
	const int errno_before = errno;
	struct iovec pieces[PIECES];
	size_t bytes = PIECE_BYTES - (uintptr_t)text % PIECE_BYTES;
	const char *at = text;
	ssize_t got;

	for (int i = 0; i < PIECES; i++, at += bytes, bytes = PIECE_BYTES)
		pieces[i] = (struct iovec){(void *)(uintptr_t)at, bytes};
	got = process_vm_readv(getpid(), &space, 1, pieces, PIECES, 0);
	if (got < 0 && errno != EFAULT)
		got = -2; /* process_vm_readv() is not permitted here, so the text is read directly */
	errno = errno_before;
	labels->text[got > 0 ? got : 0] = '\0';
	return got == -2 ? text : labels->text;
}

uint32_t kwhy_inject_label_at(struct kwhy_inject_labels *labels, const char *text)
{
	const size_t at = ((uintptr_t)text >> 3 ^ (uintptr_t)text >> 15) % KWHY_INJECT_LABEL_POINTERS;
	const char *there;

	if (labels->by_pointer[at].pointer != text || labels->by_pointer[at].round != labels->round) {
		there = text ? read_text(labels, text) : "";
		labels->by_pointer[at].pointer = text;
		labels->by_pointer[at].number = kwhy_inject_label(labels, there);
		labels->by_pointer[at].hash = kwhy_inject_label_hash(there);
		labels->by_pointer[at].round = labels->round;
	}
	labels->hash_at = labels->by_pointer[at].hash;
	return labels->by_pointer[at].number;
}

void kwhy_inject_labels_begin(struct kwhy_inject_labels *labels)
{
	labels->round++;
}

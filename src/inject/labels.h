/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_LABELS_H
#define KWHY_INJECT_LABELS_H

#include "recording/block_writer.h"

#include <stdint.h>

/*
 * Gives each name an id, by which the records of `writer` refer to it. A table of fixed size finds known
 * names by their 64-bit hashes. When the table is full it is emptied, and names that come after that are
 * written again under new ids; a recording may therefore have several ids for the same name. Only one thread
 * at a time may use it.
 */
enum {
	KWHY_INJECT_LABELS = 1 << 15,
	KWHY_INJECT_LABEL_POINTERS = 1 << 12,
	KWHY_INJECT_LABEL_BYTES = 1 << 14
};

struct kwhy_inject_labels {
	struct kwhy_block_writer *writer;
	uint32_t last, known, round;
	struct {
		uint64_t hash; /* hash of the name; 0: the entry is free */
		uint32_t number;
	} by_content[KWHY_INJECT_LABELS];
	struct {
		const char *pointer;
		uint32_t number, round;
		uint64_t hash;
	} by_pointer[KWHY_INJECT_LABEL_POINTERS];
	uint64_t hash_at; /* hash of the name that was last passed to kwhy_inject_label_at() */
	char text[KWHY_INJECT_LABEL_BYTES + 1]; /* the name that kwhy_inject_label_at() read last */
};

/* Initialises `labels`, whose memory the caller has zeroed. Borrows `writer`. */
void kwhy_inject_labels_init(struct kwhy_inject_labels *labels, struct kwhy_block_writer *writer);

/* 64-bit hash of a name; never 0. */
uint64_t kwhy_inject_label_hash(const char *text);

/* The id of a name. If it is new, a NAME record with both is written. The id of NULL and "" is 0. */
uint32_t kwhy_inject_label(struct kwhy_inject_labels *labels, const char *text);

/*
 * Like kwhy_inject_label(), for a name whose memory stays unchanged until the next call of
 * kwhy_inject_labels_begin(). In this time the name is read once, and later calls find it by its address.
 * CUPTI before 13.4 Update 1 may give names of modules that were unloaded; a name whose memory is no longer
 * mapped gets 0. A name longer than KWHY_INJECT_LABEL_BYTES is cut.
 */
uint32_t kwhy_inject_label_at(struct kwhy_inject_labels *labels, const char *text);
void kwhy_inject_labels_begin(struct kwhy_inject_labels *labels);

#endif

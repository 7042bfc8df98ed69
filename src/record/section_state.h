/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_RECORD_SECTION_STATE_H
#define KWHY_RECORD_SECTION_STATE_H

#include "base/arena.h"
#include "base/status.h"

/*
 * The folders in a growing recording that hold what is known of it after the sections so far. A state is a
 * folder digested.N, with the rest of the last section (record/section.h) and with sums of the sections. The
 * next state is made in a folder of another name, which gets its own when it is complete. So a process that
 * is killed leaves the state before, and nothing counts twice.
 */
struct kwhy_section_state {
	struct kwhy_arena arena;
	const char *before;  /* folder of the last state; NULL: none */
	const char *next;    /* folder in which the next state is made; it is empty */
	const char *section; /* empty folder for the section, in `next` */
	const char *after;   /* name that `next` gets when it is complete */
	int lock;	     /* descriptor of the file that is locked until kwhy_section_state_close() */
};

/*
 * Finds the last state of the recording, and makes the folders of the next one. Other processes that want to
 * do so wait until the state is closed.
 */
KWHY_MUST_USE enum kwhy_status kwhy_section_state_open(
	struct kwhy_section_state *state, const char *recording, struct kwhy_error *error);
/* Makes the next state the last one. */
KWHY_MUST_USE enum kwhy_status kwhy_section_state_keep(
	const struct kwhy_section_state *state, struct kwhy_error *error);
/* Frees the memory, and deletes the next state if it was not kept. */
void kwhy_section_state_close(struct kwhy_section_state *state);

/* Deletes all states of a recording. */
void kwhy_section_states_delete(const char *recording);

#endif

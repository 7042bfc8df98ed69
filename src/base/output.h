/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_OUTPUT_H
#define KWHY_BASE_OUTPUT_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/*
 * Where an output is written: a name in an open folder. Everything that creates, replaces or extends a file
 * named by a user goes through this interface, as another user may have put something at that name before.
 * The rule for the last part of the name:
 * - A link is followed if the link and its folder belong to this user or root and not everybody may write to
 *   the folder; else it is refused. Its target need not exist. The link itself stays.
 * - Open files in /proc (/dev/stdout, /dev/fd/N, >(command)) are written to directly.
 * - A device, a pipe or a file that is extended is refused in a folder that others may write to, unless it
 *   belongs to this user or root. A file that replaces a regular file of this user gets that file's
 *   permission bits (0777), else those that the umask leaves. It never gets the replaced file's owner, or its
 *   setuid, setgid and sticky bits.
 */
struct kwhy_output {
	int folder;	/* open descriptor of the folder; -1: not open */
	char name[256]; /* name of the file in the folder; if the user named a link, the name of its target */
	struct stat facts; /* attributes of the file if it exists */
	bool exists;
	bool is_in_proc; /* the name is that of an open file of a process in /proc */
};

/*
 * Finds the place of an output; release it by kwhy_output_done(). KWHY_E_IO: the message names the file, its
 * place and what to do.
 */
KWHY_MUST_USE enum kwhy_status kwhy_output_find(
	const char *path, struct kwhy_output *out, struct kwhy_error *error);
void kwhy_output_done(struct kwhy_output *output);

/* Whether the output is a regular file of this user, whose permission bits are kept. */
bool kwhy_output_keeps_mode(const struct kwhy_output *output);
/* Whether the output exists and is no regular file, so that it is written to and never replaced. */
bool kwhy_output_is_direct(const struct kwhy_output *output);

enum kwhy_output_how {
	KWHY_OUTPUT_TRUNCATE, /* the file is created if it is missing, and emptied */
	KWHY_OUTPUT_APPEND,   /* the file is created if it is missing, and written at its end */
	KWHY_OUTPUT_AS_IT_IS, /* the file must exist, and opening it does not change it */
};

/* Opens an output; the caller closes the descriptor. */
KWHY_MUST_USE enum kwhy_status kwhy_output_open(
	const char *path, enum kwhy_output_how how, int *out_file, struct kwhy_error *error);
/* Makes a folder. An existing folder is accepted, also if its name is a link that the rules above allow. */
KWHY_MUST_USE enum kwhy_status kwhy_output_folder(const char *path, struct kwhy_error *error);

/* Sets the error message that describes errno. */
KWHY_MUST_USE enum kwhy_status kwhy_output_fail(const char *path, struct kwhy_error *error);

#endif

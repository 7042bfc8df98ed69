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
 *   permission bits (0777), else those that the umask leaves. It belongs to this user in any case, and never
 *   gets the replaced file's setuid, setgid and sticky bits.
 */
struct kwhy_output {
	int folder;	/* open descriptor of the folder; -1: not open */
	char name[256]; /* name of the file in that folder; if the user named a link that is followed, folder
			   and name are its target's */
	struct stat facts; /* attributes of the file if it exists */
	bool exists;
	bool is_in_proc; /* whether the folder is in /proc, so that the name stands for a file that a process
			    has open */
};

/*
 * Finds where `path` leads, by the rules above, without changing anything; release with kwhy_output_done().
 * KWHY_E_IO: a rule refuses it, or its folder cannot be opened; the message says what to do.
 */
KWHY_MUST_USE enum kwhy_status kwhy_output_find(
	const char *path, struct kwhy_output *out, struct kwhy_error *error);
void kwhy_output_done(struct kwhy_output *output);

/* Whether a regular file of this user exists there, whose permission bits a file that replaces it gets. */
bool kwhy_output_keeps_mode(const struct kwhy_output *output);
/*
 * Whether the output exists, and lies in /proc or is no regular file, so that it is written to and never
 * replaced.
 */
bool kwhy_output_is_direct(const struct kwhy_output *output);

enum kwhy_output_how {
	KWHY_OUTPUT_TRUNCATE, /* the file is created if it is missing, and emptied */
	KWHY_OUTPUT_APPEND,   /* the file is created if it is missing, and written at its end */
	KWHY_OUTPUT_AS_IT_IS, /* the file must exist, and opening it does not change it */
};

/*
 * Opens an output to write to it; the caller closes *out_file. Files in /proc ignore `how`, except that
 * regular ones are emptied unless this process has them open.
 */
KWHY_MUST_USE enum kwhy_status kwhy_output_open(
	const char *path, enum kwhy_output_how how, int *out_file, struct kwhy_error *error);
/* Makes a folder. An existing folder is accepted, also if its name is a link that the rules above allow. */
KWHY_MUST_USE enum kwhy_status kwhy_output_folder(const char *path, struct kwhy_error *error);

/* Sets the message "cannot write 'PATH': " with the words for errno, and returns KWHY_E_IO. */
KWHY_MUST_USE enum kwhy_status kwhy_output_fail(const char *path, struct kwhy_error *error);

#endif

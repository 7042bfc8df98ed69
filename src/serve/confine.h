/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SERVE_CONFINE_H
#define KWHY_SERVE_CONFINE_H

#include <stddef.h>

/*
 * Gives up rights that a server does not need, so that a client who finds an error in it gains little. The
 * process can then start no program or process, trace or signal no other one, and change no settings of the
 * machine and no modes or owners of files (seccomp). It can write only to the files of one folder, to devices
 * of GPUs and to the names of its threads, and create files only in that folder (Landlock). Reading,
 * connections and threads stay allowed. Before Linux 6.2 it can still empty files elsewhere, because Landlock
 * could not forbid that. Nothing of this can be undone.
 *
 * Landlock holds for the calling thread and for those that it starts later, so call this before threads are
 * started and after what needs the rights. Files that are open stay writable.
 */

enum { KWHY_CONFINE_BYTES = 256 };

/*
 * `file`: the path of a file whose folder stays writable; NULL: no folder does. `out` receives a sentence
 * that says what the process is confined to and, if the kernel refused a part, why.
 */
void kwhy_confine(const char *file, char out[KWHY_CONFINE_BYTES]);

#endif

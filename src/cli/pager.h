/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_PAGER_H
#define KWHY_CLI_PAGER_H

#include "base/status.h"
#include "base/text.h"

/*
 * Shows a text through a pager if standard output is a terminal: $PAGER or, if that is not set, "less -FRX".
 * If standard output is no terminal, if $PAGER is empty, or if the pager cannot be run, the text is written
 * to standard output. Returns when the user has left the pager.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pager_write(const struct kwhy_text *text, struct kwhy_error *error);

#endif

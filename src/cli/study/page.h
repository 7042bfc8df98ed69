/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_STUDY_PAGE_H
#define KWHY_CLI_STUDY_PAGE_H

#include "base/text.h"
#include "cli/study/state.h"

/*
 * Writes the page of a study as HTML that needs no other file and no script. It has the question, the answer
 * that was measured before (docs/studies), and for each step the command with the text that it wrote or links
 * to its other outputs. A step without a result is marked "not measured" with the reason.
 */
KWHY_MUST_USE enum kwhy_status kwhy_study_page_write(const struct kwhy_study_request *request,
	const struct kwhy_study_command *commands, const struct kwhy_study_state *state,
	struct kwhy_text *out, struct kwhy_error *error);

#endif

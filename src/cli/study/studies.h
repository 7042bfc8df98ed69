/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_STUDY_STUDIES_H
#define KWHY_CLI_STUDY_STUDIES_H

#include <stddef.h>

/* One command of a study. */
struct kwhy_study_step {
	const char *id;	   /* name of the step, such as "copies" */
	const char *shows; /* a sentence that says what the output of the command shows */
	/*
	 * The command line of kwhy, without "kwhy", as words separated by spaces. Words that begin with one
	 * of these characters are replaced:
	 *
	 *   >FILE       output in the study's folder
	 *   <FILE       output of an earlier step: a file or a folder
	 *   +FOLDER     folder of samples: --save FOLDER, or --resume FOLDER if a run was interrupted
	 *   @run        the user's recordings; else that of the step "record"; else the bundled recording
	 *   @run=PATH   as @run, with this bundled recording
	 *   @program    "--" and the user's command
	 *   @backend, @url, @work     option of this name with the user's value
	 *   ?           nothing; a recording may hold too little for this step, such as no tokens or too few
	 *               seconds. The command then says so, and the study has not failed.
	 *
	 * A step with @url or @program cannot run if the user does not state them.
	 */
	const char *line;
	const char *quick; /* words that --quick adds to the command line; NULL: none */
};

enum { KWHY_STUDY_STEPS_MAX = 5 };

/*
 * A question, the commands whose outputs answer it, and the answer that was measured before on the machines
 * of docs/studies.
 */
struct kwhy_study {
	const char *name;
	const char *question;
	const char *answer;
	const char *bundled; /* recording that @run stands for if the user gives neither recordings nor a
				program: a path in the folder of installed examples; NULL: none */
	struct kwhy_study_step steps[KWHY_STUDY_STEPS_MAX];
	size_t step_count;
};

/* The study with an index; NULL: the index is past the last one. */
const struct kwhy_study *kwhy_study_at(size_t index);
/* The study of this name; NULL: there is none. */
const struct kwhy_study *kwhy_study_find(const char *name);

#endif

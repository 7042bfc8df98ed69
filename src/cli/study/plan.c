/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/study/plan.h"

#include "analyse/profile_find.h"
#include "bench/kept_rows.h"
#include "cli/command.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* State of making the command line of one step. */
struct maker {
	const struct kwhy_study_request *request;
	struct kwhy_arena *arena;
	struct kwhy_study_command *out;
	bool failed; /* out of memory */
};

static bool is_there(const char *path)
{
	return path && access(path, F_OK) == 0;
}

static bool is_file(const char *path)
{
	struct stat facts;

	return stat(path, &facts) == 0 && S_ISREG(facts.st_mode);
}

static const char *join(struct maker *maker, const char *folder, const char *name)
{
	const char *path = kwhy_arena_printf(maker->arena, "%s/%s", folder, name);

	maker->failed |= !path;
	return path ? path : "";
}

static const char *of_folder(struct maker *maker, const char *name)
{
	return join(maker, maker->request->folder, name);
}

static void add_to(struct maker *maker, const char ***items, size_t *count, const char *item)
{
	const char **grown = kwhy_arena_grow(maker->arena, *items, *count, sizeof(**items));

	if (!grown) {
		maker->failed = true;
		return;
	}
	*items = grown;
	grown[(*count)++] = item;
}

static void add_word(struct maker *maker, const char *word)
{
	add_to(maker, &maker->out->words, &maker->out->word_count, word);
}

static void add_input(struct maker *maker, const char *path)
{
	add_to(maker, &maker->out->inputs, &maker->out->input_count, path);
}

static void add_output(struct maker *maker, const char *path)
{
	add_to(maker, &maker->out->outputs, &maker->out->output_count, path);
}

static void add_option(struct maker *maker, const char *name, const char *value)
{
	add_word(maker, name);
	add_word(maker, value);
}

/* Path of an example recording that is installed with kwhy; NULL: it is not installed. */
static const char *bundled(struct maker *maker, const char *name)
{
	char folder[PATH_MAX], *slash;
	const char *path;

	kwhy_profile_folder(folder, sizeof(folder));
	slash = strrchr(folder, '/');
	if (!slash)
		return NULL;
	*slash = '\0';
	path = kwhy_arena_printf(maker->arena, "%s/examples/%s", folder, name);
	maker->failed |= !path;
	return is_there(path) ? path : NULL;
}

/*
 * Adds the recordings that a step reads: those that the user stated; otherwise the recording of the user's
 * program; if there is no program, the bundled recording `example`.
 */
static void add_run(struct maker *maker, const char *example)
{
	const struct kwhy_study_request *request = maker->request;
	const char *path;

	for (size_t i = 0; i < request->recording_count; i++) {
		add_word(maker, request->recordings[i]);
		add_input(maker, request->recordings[i]);
	}
	if (request->recording_count)
		return;
	path = request->program_count ? of_folder(maker, "run.kwhy")
		: example	      ? bundled(maker, example)
				      : NULL;
	if (!path) {
		maker->out->missing =
			"the recording that comes with kwhy is not installed here; give one of your own";
		return;
	}
	maker->out->reads_bundled = !request->program_count;
	add_word(maker, path);
	add_input(maker, path);
}

static void add_program(struct maker *maker)
{
	const struct kwhy_study_request *request = maker->request;

	if (!request->program_count) {
		maker->out->missing = request->recording_count
			? "a recording was given"
			: "no program was given; add -- and its command line";
		return;
	}
	maker->out->runs_program = true;
	add_word(maker, "--");
	for (size_t i = 0; i < request->program_count; i++) {
		add_word(maker, request->program[i]);
		if (is_file(request->program[i])) /* words that name files, such as scripts, count as inputs:
						     if such a file changes, the step runs anew */
			add_input(maker, request->program[i]);
	}
}

static void add_samples_output(struct maker *maker, const char *name)
{
	const char *folder = of_folder(maker, name);
	char found[KWHY_KEPT_PATH_BYTES];

	if (kwhy_kept_folder_find(folder, found))
		maker->out->begun = folder;
	maker->out->save_word = maker->out->word_count;
	add_option(maker, "--save", folder);
	add_output(maker, folder);
}

static void add_works(struct maker *maker)
{
	for (size_t i = 0; i < maker->request->work_count; i++)
		add_option(maker, "--work", maker->request->works[i]);
}

static void add_url(struct maker *maker)
{
	if (maker->request->url)
		add_option(maker, "--url", maker->request->url);
	else
		maker->out->missing = "no server was given; add --url";
}

static void add_backend(struct maker *maker)
{
	if (maker->request->backend)
		add_option(maker, "--backend", maker->request->backend);
}

/* Adds the words that replace a word of a step's line that begins with "@" (studies.h). */
static void add_given(struct maker *maker, const char *word)
{
	if (strncmp(word, "@run=", 5) == 0)
		add_run(maker, word + 5);
	else if (strcmp(word, "@run") == 0)
		add_run(maker, maker->request->study->bundled);
	else if (strcmp(word, "@program") == 0)
		add_program(maker);
	else if (strcmp(word, "@work") == 0)
		add_works(maker);
	else if (strcmp(word, "@url") == 0)
		add_url(maker);
	else
		add_backend(maker);
}

static void add_marked(struct maker *maker, const char *word)
{
	const char *path;

	switch (*word) {
	case '>':
		path = of_folder(maker, word + 1);
		add_word(maker, path);
		add_output(maker, path);
		break;
	case '<':
		path = of_folder(maker, word + 1);
		add_word(maker, path);
		add_input(maker, path);
		break;
	case '+':
		add_samples_output(maker, word + 1);
		break;
	case '?':
		maker->out->needs_much = true;
		break;
	case '@':
		add_given(maker, word);
		break;
	default:
		add_word(maker, word);
	}
}

static void add_line(struct maker *maker, const char *line)
{
	char *words = kwhy_arena_copy(maker->arena, line), *place = NULL;

	maker->failed |= !words;
	for (char *word = words ? strtok_r(words, " ", &place) : NULL; word;
		word = strtok_r(NULL, " ", &place))
		add_marked(maker, word);
}

enum kwhy_status kwhy_study_command_make(const struct kwhy_study_request *request,
	const struct kwhy_study_step *step, struct kwhy_arena *arena, struct kwhy_study_command *out,
	struct kwhy_error *error)
{
	struct maker maker = {request, arena, out, false};

	*out = (struct kwhy_study_command){.step = step};
	add_word(&maker, "kwhy");
	add_line(&maker, step->line);
	if (request->quick && step->quick)
		add_line(&maker, step->quick);
	add_word(&maker, NULL);
	if (maker.failed)
		return kwhy_fail_memory(error, "the commands of the study");
	out->word_count--; /* word_count does not include the NULL at the end */
	return KWHY_OK;
}

void kwhy_study_command_resume(struct kwhy_study_command *command)
{
	if (!command->begun)
		return;
	command->words[command->save_word] = "--resume";
	command->words[command->save_word + 1] = command->begun;
}

enum kwhy_status kwhy_study_command_set_aside(struct kwhy_study_command *command, struct kwhy_arena *arena,
	const char **out_name, struct kwhy_error *error)
{
	for (int number = 1; command->begun; number++) {
		const char *name = kwhy_arena_printf(arena, "%s.old-%d", command->begun, number);

		if (!name)
			return kwhy_fail_memory(error, "the state of the study");
		if (access(name, F_OK) == 0)
			continue;
		if (rename(command->begun, name))
			return kwhy_fail(error, KWHY_E_IO, "cannot rename %s: %s; remove it", command->begun,
				strerror(errno));
		*out_name = name;
		command->begun = NULL;
	}
	return KWHY_OK;
}

const char *kwhy_study_command_text(const struct kwhy_study_command *command, struct kwhy_arena *arena)
{
	struct kwhy_text line = {0};
	const char *text = NULL;

	for (size_t i = 0; i < command->word_count; i++) {
		kwhy_text_add(&line, i ? " " : "");
		kwhy_command_add_word(&line, command->words[i]);
	}
	if (!line.failed && line.data)
		text = kwhy_arena_copy(arena, line.data);
	kwhy_text_done(&line);
	return text;
}

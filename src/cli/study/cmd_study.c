/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "base/file.h"
#include "base/output.h"
#include "cli/bench/options.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/study/page.h"
#include "launch/child.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Longest error message of a step's command that is kept, bytes. */
enum { MESSAGE_BYTES = 1024 };

/* Exit status of a command such as kwhy doctor that has advice; the step counts as done. */
enum { HAS_ADVICE = KWHY_EXIT_EXCEEDED };

struct study_options {
	const char *output, *backend, *url;
	struct kwhy_strings work;
	bool quick, dry_run, is_silent;
};

/* State of one `kwhy study`. */
struct job {
	struct kwhy_study_request request;
	struct kwhy_study_state state;
	struct kwhy_study_command commands[KWHY_STUDY_STEPS_MAX];
	struct kwhy_arena arena;
	struct kwhy_signals signals;
	const char *machine; /* text of kwhy_study_machine() */
	bool is_silent;
};

/*
 * The part of the standard error of a step's command that is stored. line: the line that is being read;
 * message: of the last line that begins with "kwhy: ", the text after that.
 */
struct last_words {
	char line[MESSAGE_BYTES], message[MESSAGE_BYTES];
	size_t length;
};

static void listen(void *context, int stream, int64_t time_mono_ns, const char *bytes, size_t length)
{
	static const char name[] = "kwhy: ";
	struct last_words *words = context;

	(void)time_mono_ns;
	for (size_t i = 0; stream == 2 && i < length; i++) {
		if (bytes[i] != '\n') {
			if (words->length + 1 < sizeof(words->line))
				words->line[words->length++] = bytes[i];
			continue;
		}
		words->line[words->length] = '\0';
		if (strncmp(words->line, name, strlen(name)) == 0)
			memcpy(words->message, words->line + strlen(name), words->length + 1 - strlen(name));
		words->length = 0;
	}
}

static enum kwhy_status list_studies(struct kwhy_error *error)
{
	struct kwhy_text text = {0};
	enum kwhy_status status;

	for (size_t i = 0; kwhy_study_at(i); i++) {
		kwhy_text_addf(&text, "%-17s ", kwhy_study_at(i)->name);
		kwhy_help_wrap(&text, kwhy_study_at(i)->question, 18);
	}
	status = kwhy_text_check(&text, error);
	if (!status)
		status = kwhy_output_write(NULL, &text, error);
	kwhy_text_done(&text);
	return status;
}

static enum kwhy_status fill_request(
	const struct kwhy_invocation *invocation, struct job *job, struct kwhy_error *error)
{
	const struct study_options *options = invocation->options;
	const struct kwhy_operands *operands = &invocation->operands;
	const size_t program = operands->after_dashes, others = operands->count - program;
	const struct kwhy_study *study = others ? kwhy_study_find(operands->items[0]) : NULL;
	enum kwhy_gpu_backend backend;

	if (!others)
		return kwhy_fail(error, KWHY_E_USAGE, "no study is named; 'kwhy study' alone lists them");
	if (!study)
		return kwhy_fail(error, KWHY_E_USAGE,
			"there is no study '%.60s'; 'kwhy study' alone lists them", operands->items[0]);
	if (others > 1 && program)
		return kwhy_fail(error, KWHY_E_USAGE,
			"a study reads recordings or records a command; give one of the two");
	job->request = (struct kwhy_study_request){
		.study = study,
		.folder = options->output,
		.backend = options->backend,
		.url = options->url,
		.works = options->work.items,
		.work_count = options->work.count,
		.recordings = operands->items + 1,
		.recording_count = others - 1,
		.program = operands->items + others,
		.program_count = program,
		.quick = options->quick,
	};
	job->is_silent = options->is_silent;
	if (!options->output)
		job->request.folder = kwhy_arena_printf(&job->arena, "study-%s", study->name);
	if (!job->request.folder)
		return kwhy_fail_memory(error, "the name of the folder");
	return options->backend ? kwhy_backend_read(options->backend, &backend, error) : KWHY_OK;
}

static enum kwhy_status make_command(struct job *job, size_t number, struct kwhy_error *error)
{
	return kwhy_study_command_make(&job->request, &job->request.study->steps[number], &job->arena,
		&job->commands[number], error);
}

/* Prints the commands of the study as a shell script. */
static enum kwhy_status print_commands(struct job *job, struct kwhy_error *error)
{
	struct kwhy_text text = {0};
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < job->request.study->step_count; i++) {
		const struct kwhy_study_command *command = &job->commands[i];
		const char *line;

		status = make_command(job, i, error);
		line = status ? NULL : kwhy_study_command_text(command, &job->arena);
		kwhy_text_addf(&text, "# %s", job->request.study->steps[i].shows);
		if (command->missing)
			kwhy_text_addf(
				&text, " Not measured: %s.\n# %s\n", command->missing, line ? line : "");
		else
			kwhy_text_addf(&text, "\n%s\n", line ? line : "");
	}
	if (!status)
		status = kwhy_text_check(&text, error);
	if (!status)
		status = kwhy_output_write(NULL, &text, error);
	kwhy_text_done(&text);
	return status;
}

static void say(const struct job *job, size_t number, const char *what)
{
	char line[MESSAGE_BYTES + 128];

	if (job->is_silent)
		return;
	snprintf(line, sizeof(line), "step %zu of %zu, %s: %s", number + 1, job->request.study->step_count,
		job->request.study->steps[number].id, what);
	kwhy_output_message(line);
}

/*
 * Runs the command of a step, or, if an earlier call was interrupted in it, continues its measurement.
 * Afterwards words->message is the last message of the command.
 */
static enum kwhy_status run_command(struct job *job, size_t number, struct last_words *words,
	struct kwhy_child_end *end, struct kwhy_error *error)
{
	struct kwhy_study_command *command = &job->commands[number];
	struct kwhy_progress *progress = kwhy_progress_begin(job->is_silent || command->runs_program);
	const struct kwhy_child_request request = {
		.argv = (char *const *)command->words,
		.seen = listen,
		.hides_output = !command->runs_program,
		.context = words,
	};
	enum kwhy_status status;

	command->words[0] = "/proc/self/exe";
	kwhy_study_command_resume(command);
	kwhy_progress_step(progress, "running", command->words[1]);
	status = kwhy_child_run(&request, &job->signals, end, error);
	kwhy_progress_end(progress);
	command->words[0] = "kwhy";
	return status;
}

static void keep_result(struct job *job, size_t number, const struct kwhy_child_end *end,
	const struct last_words *words, struct kwhy_study_result *result)
{
	const bool is_done = end->exit == KWHY_EXIT_DONE || end->exit == HAS_ADVICE;
	char clean[3 * MESSAGE_BYTES];

	result->is_done = is_done;
	result->seconds = (double)(end->end_mono_ns - end->start_mono_ns) * 1e-9;
	result->ended_unix_s = time(NULL);
	if (is_done) {
		say(job, number, "done");
		return;
	}
	kwhy_text_sanitize(clean, words->message, strlen(words->message));
	result->lacks_input = *clean && end->exit == KWHY_EXIT_FAILED && job->commands[number].needs_much;
	result->missing = *clean
		? kwhy_arena_copy(&job->arena, clean)
		: kwhy_arena_printf(&job->arena, "the command ended with exit status %d", end->exit);
	say(job, number, result->missing ? result->missing : "not measured");
}

/*
 * Whether the path is an output of a step before step `number`, and that step has no result, for example
 * because its measurement failed.
 */
static bool is_of_failed_step(const struct job *job, size_t number, const char *path)
{
	for (size_t i = 0; i < number; i++)
		for (size_t k = 0; !job->state.results[i].is_done && k < job->commands[i].output_count; k++)
			if (strcmp(job->commands[i].outputs[k], path) == 0)
				return true;
	return false;
}

/*
 * Checks the inputs of a step. *out becomes the reason why the step cannot run, or stays NULL if all inputs
 * are there.
 */
static enum kwhy_status check_inputs(
	struct job *job, size_t number, const char **out, struct kwhy_error *error)
{
	const struct kwhy_study_command *command = &job->commands[number];

	for (size_t i = 0; i < command->input_count; i++) {
		const char *input = command->inputs[i],
			   *why = is_of_failed_step(job, number, input) ? "an earlier step did not finish"
			: access(input, R_OK)				? "is missing"
									: NULL;

		if (!why)
			continue;
		*out = kwhy_arena_printf(&job->arena, "it needs %s, which %s", input, why);
		return *out ? KWHY_OK : kwhy_fail_memory(error, "the state of the study");
	}
	return KWHY_OK;
}

/*
 * Stores a step's stamp (a digest of its command, inputs and machine) before the step starts, so that a later
 * call knows of which inputs the samples of an interrupted step are. If samples with another stamp exist,
 * they are renamed, and the step starts anew.
 */
static enum kwhy_status begin_step(
	struct job *job, size_t number, const char stamp[KWHY_STUDY_STAMP_BYTES], struct kwhy_error *error)
{
	struct kwhy_study_result *result = &job->state.results[number];
	const char *old = NULL;
	char line[MESSAGE_BYTES];
	enum kwhy_status status = KWHY_OK;

	if (strcmp(result->stamp, stamp) != 0)
		status = kwhy_study_command_set_aside(&job->commands[number], &job->arena, &old, error);
	if (status)
		return status;
	if (old) {
		snprintf(line, sizeof(line),
			"earlier samples are of other inputs, or of another kwhy, driver or device: "
			"they are now in %.400s",
			old);
		say(job, number, line);
	}
	result->is_done = false;
	memcpy(result->stamp, stamp, KWHY_STUDY_STAMP_BYTES);
	return kwhy_study_state_write(&job->request, &job->state, error);
}

static enum kwhy_status run_step(struct job *job, size_t number, struct kwhy_error *error)
{
	struct kwhy_study_command *command = &job->commands[number];
	struct kwhy_study_result *result = &job->state.results[number];
	char stamp[KWHY_STUDY_STAMP_BYTES];
	struct last_words words = {{0}, {0}, 0};
	struct kwhy_child_end end;
	const char *line;
	enum kwhy_status status = make_command(job, number, error);

	if (status)
		return status;
	kwhy_study_stamp(job->machine, command, stamp);
	result->missing = command->missing;
	if (!command->missing)
		status = check_inputs(job, number, &result->missing, error);
	if (status)
		return status;
	if (result->missing) {
		result->is_done = false;
		say(job, number, result->missing);
		return KWHY_OK;
	}
	if (kwhy_study_is_current(command, result, stamp)) {
		say(job, number, "kept, nothing has changed");
		return KWHY_OK;
	}
	status = begin_step(job, number, stamp, error);
	if (status)
		return status;
	line = kwhy_study_command_text(command, &job->arena);
	say(job, number, line ? line : "running");
	status = run_command(job, number, &words, &end, error);
	if (status)
		return status;
	if (job->signals.asked)
		return kwhy_fail(error, KWHY_E_LOST,
			"interrupted in step %zu of %zu; the same command goes on there", number + 1,
			job->request.study->step_count);
	keep_result(job, number, &end, &words, result);
	return KWHY_OK;
}

static enum kwhy_status run_steps(struct job *job, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < job->request.study->step_count; i++) {
		status = run_step(job, i, error);
		if (!status)
			status = kwhy_study_state_write(&job->request, &job->state, error);
	}
	return status;
}

static enum kwhy_status write_page(const struct job *job, struct kwhy_error *error)
{
	struct kwhy_text page = {0}, told = {0};
	char path[PATH_MAX];
	size_t done = 0;
	enum kwhy_status status = kwhy_study_page_write(
		&job->request, job->commands, &job->state, &page, error);

	if (!status && snprintf(path, sizeof(path), "%s/study.html", job->request.folder) >= PATH_MAX)
		status = kwhy_fail(error, KWHY_E_USAGE, "the folder's name is too long; name another one");
	if (!status)
		status = kwhy_file_write(path, page.data, page.length, error);
	kwhy_text_done(&page);
	if (status)
		return status;
	for (size_t i = 0; i < job->request.study->step_count; i++)
		done += job->state.results[i].is_done;
	kwhy_text_addf(
		&told, "%zu of %zu steps have a result: %s\n", done, job->request.study->step_count, path);
	status = kwhy_text_check(&told, error);
	if (!status)
		status = kwhy_output_write(NULL, &told, error);
	kwhy_text_done(&told);
	return status;
}

/*
 * Whether an input of the step is an output of an earlier step, and that earlier step cannot run because the
 * user did not give what it needs, such as a program.
 */
static bool lacks_step(const struct job *job, size_t number)
{
	const struct kwhy_study_command *command = &job->commands[number];

	for (size_t input = 0; input < command->input_count; input++)
		for (size_t i = 0; i < number; i++)
			for (size_t k = 0; job->commands[i].missing && k < job->commands[i].output_count; k++)
				if (strcmp(job->commands[i].outputs[k], command->inputs[input]) == 0)
					return true;
	return false;
}

/*
 * Whether any step has failed: it has no result although the user gave all that it and the steps whose
 * outputs it reads need, and its inputs have enough for it (lacks_input).
 */
static bool has_failed(const struct job *job)
{
	for (size_t i = 0; i < job->request.study->step_count; i++)
		if (!job->state.results[i].is_done && !job->state.results[i].lacks_input &&
			!job->commands[i].missing && !lacks_step(job, i))
			return true;
	return false;
}

static enum kwhy_status carry_out(struct job *job, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_output_folder(job->request.folder, error);

	if (!status)
		status = kwhy_study_state_read(&job->request, &job->arena, &job->state, error);
	if (!status) /* signals are blocked before a vendor's library (NVML, ROCm SMI) is loaded, so that the
			threads that it starts inherit the mask */
		status = kwhy_signals_open(&job->signals, error);
	if (status)
		return status;
	status = kwhy_study_machine(&job->arena, &job->machine, error);
	if (!status)
		status = run_steps(job, error);
	kwhy_signals_close(&job->signals);
	return status ? status : write_page(job, error);
}

static enum kwhy_status run(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	const struct study_options *options = invocation->options;
	struct job job = {.is_silent = false};
	enum kwhy_status status;

	if (!invocation->operands.count)
		return list_studies(error);
	status = fill_request(invocation, &job, error);
	if (!status)
		status = options->dry_run ? print_commands(&job, error) : carry_out(&job, error);
	if (!status && !options->dry_run && has_failed(&job))
		*invocation->exit = KWHY_EXIT_FAILED;
	kwhy_arena_done(&job.arena);
	return status;
}

#define PLACE(member) offsetof(struct study_options, member)

static const struct kwhy_option options_table[] = {
	{"output", 'o', "FOLDER", "folder of all results; default study-NAME", KWHY_OPTION_TEXT,
		PLACE(output)},
	{"backend", 0, "NAME", "of the benchmarks: cuda, hip, or host, which needs no GPU", KWHY_OPTION_TEXT,
		PLACE(backend)},
	{"url", 0, "URL", "a server of language models to measure, too", KWHY_OPTION_TEXT, PLACE(url)},
	{"work", 0, "UNIT=N", "work that the program does, like tokens=4096; may be given again",
		KWHY_OPTION_LIST, PLACE(work)},
	{"quick", 0, NULL, "measure fewer sizes, for seconds instead of minutes", KWHY_OPTION_FLAG,
		PLACE(quick)},
	{"dry-run", 0, NULL, "print the commands, run none", KWHY_OPTION_FLAG, PLACE(dry_run)},
	{"quiet", 'q', NULL, "no progress on standard error", KWHY_OPTION_FLAG, PLACE(is_silent)},
	KWHY_OPTION_ROW_HELP,
	KWHY_OPTION_ROW_END,
};

const struct kwhy_command kwhy_command_study = {
	.name = "study",
	.operands = "[NAME [REC|TRACE... | -- CMD [ARGS]]]",
	.summary = "Answer a question by several commands, and write one page of them.",
	.details = "Without a NAME it lists the studies. A study that was interrupted goes on where it "
		   "stopped; steps whose inputs changed are run again. The page marks each step "
		   "without a result: one that lacks a program or a server, one for which the recording "
		   "holds too little, and one that failed; the exit status is then 1 only if one failed.",
	.options = options_table,
	.options_bytes = sizeof(struct study_options),
	.defaults = NULL,
	.run = run,
};

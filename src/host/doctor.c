/* SPDX-License-Identifier: Apache-2.0 */
#include "host/doctor.h"

#include "host/check.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FACT_BYTES = 512 };

void kwhy_judge(const struct kwhy_judging *judging, enum kwhy_doctor_verdict verdict, const char *format, ...)
{
	char fact[FACT_BYTES];
	va_list args;

	va_start(args, format);
	vsnprintf(fact, sizeof(fact), format, args);
	va_end(args);
	judging->check->verdict = verdict;
	judging->check->fact = kwhy_arena_copy(judging->arena, fact);
}

/* The text `cure` with the first "{gpu}" replaced by the number of the GPU; NULL: memory is exhausted. */
static const char *cure_for(struct kwhy_arena *arena, const char *cure, int32_t gpu)
{
	const char *mark = strstr(cure, "{gpu}");

	if (!mark)
		return cure;
	return kwhy_arena_printf(arena, "%.*s%d%s", (int)(mark - cure), cure, gpu, mark + strlen("{gpu}"));
}

static enum kwhy_status run_check(struct kwhy_doctor_report *report, const struct kwhy_host_facts *facts,
	const struct kwhy_check_kind *kind, const struct kwhy_host_gpu *gpu, struct kwhy_error *error)
{
	struct kwhy_doctor_check *check = &report->checks[report->check_count++];
	struct kwhy_judging judging = {facts, gpu, check, &report->arena};

	*check = (struct kwhy_doctor_check){
		.id = kind->id,
		.title = kind->title,
		.gpu = gpu ? gpu->index : -1,
		.effect = kind->effect,
		.source = kind->source,
	};
	kind->judge(&judging);
	if (check->verdict == KWHY_DOCTOR_ADVICE)
		check->cure = cure_for(&report->arena, kind->cure, check->gpu);
	if (!check->fact || (check->verdict == KWHY_DOCTOR_ADVICE && !check->cure))
		return kwhy_fail_memory(error, "the findings");
	return KWHY_OK;
}

/* Whether `value` is one of the words in `costly`, which are separated by blanks. `costly` NULL: true. */
static bool is_costly(const char *costly, const char *value)
{
	size_t length = strlen(value);

	if (!costly)
		return true;
	for (const char *word = costly; *word; word += strspn(word, " ")) {
		size_t word_length = strcspn(word, " ");

		if (word_length == length && strncmp(word, value, length) == 0)
			return true;
		word += word_length;
	}
	return false;
}

/*
 * Copies at most the first 63 bytes of a value, with "..." if it is longer, and replaces bytes that are not
 * printable ASCII by '?'.
 */
static const char *quoted(struct kwhy_arena *arena, const char *value)
{
	char text[64];
	size_t length = 0;

	for (; value[length] && length + 1 < sizeof(text); length++)
		text[length] = value[length] >= ' ' && value[length] <= '~' ? value[length] : '?';
	text[length] = '\0';
	return kwhy_arena_printf(arena, "%s%s", text, value[length] ? "..." : "");
}

static enum kwhy_status run_variable(
	struct kwhy_doctor_report *report, const struct kwhy_variable_kind *kind, struct kwhy_error *error)
{
	const char *value = secure_getenv(kind->name);
	struct kwhy_doctor_check *check = &report->checks[report->check_count++];
	bool costs = value && *value && is_costly(kind->costly, value);

	*check = (struct kwhy_doctor_check){
		.id = kind->id,
		.title = kind->name,
		.gpu = -1,
		.verdict = costs ? KWHY_DOCTOR_ADVICE : KWHY_DOCTOR_GOOD,
		.fact = value ? quoted(&report->arena, value) : "not set",
		.effect = kind->effect,
		.source = kind->source,
		.cure = costs ? kind->cure : NULL,
		.minor = !value,
	};
	return check->fact ? KWHY_OK : kwhy_fail_memory(error, "the findings");
}

static size_t count_kinds(const struct kwhy_check_kind *kinds)
{
	size_t count = 0;

	while (kinds[count].id)
		count++;
	return count;
}

static enum kwhy_status reserve(struct kwhy_doctor_report *report, const struct kwhy_host_facts *facts,
	size_t further, struct kwhy_error *error)
{
	size_t variables = 0;

	while (kwhy_variables[variables].name)
		variables++;
	report->check_capacity = facts->gpu_count * count_kinds(kwhy_gpu_checks) +
		count_kinds(kwhy_machine_checks) + variables + count_kinds(kwhy_installation_checks) +
		further;
	report->checks = kwhy_arena_alloc(&report->arena, report->check_capacity, sizeof(*report->checks));
	report->gpus = kwhy_arena_alloc(&report->arena, facts->gpu_count + 1, sizeof(*report->gpus));
	return report->checks && report->gpus ? KWHY_OK : kwhy_fail_memory(error, "the findings");
}

static enum kwhy_status run_checks(struct kwhy_doctor_report *report, const struct kwhy_host_facts *facts,
	size_t further, struct kwhy_error *error)
{
	enum kwhy_status status = reserve(report, facts, further, error);

	for (size_t i = 0; !status && i < facts->gpu_count; i++) {
		const struct kwhy_host_gpu *gpu = &facts->gpus[i];

		report->gpus[report->gpu_count++] = (struct kwhy_doctor_gpu){
			gpu->index, gpu->name, gpu->uuid, gpu->pci_address};
		for (size_t j = 0; !status && kwhy_gpu_checks[j].id; j++)
			status = run_check(report, facts, &kwhy_gpu_checks[j], gpu, error);
	}
	for (size_t j = 0; !status && kwhy_machine_checks[j].id; j++)
		status = run_check(report, facts, &kwhy_machine_checks[j], NULL, error);
	for (size_t j = 0; !status && kwhy_variables[j].name; j++)
		status = run_variable(report, &kwhy_variables[j], error);
	for (size_t j = 0; !status && kwhy_installation_checks[j].id; j++) {
		status = run_check(report, facts, &kwhy_installation_checks[j], NULL, error);
		report->checks[report->check_count - 1].installation = true;
	}
	return status;
}

enum kwhy_status kwhy_doctor_run(
	const struct kwhy_doctor_request *request, struct kwhy_doctor_report *out, struct kwhy_error *error)
{
	struct kwhy_host_facts facts = {
		.arena = &out->arena,
		.root = request->root ? request->root : "",
		.cuda_version = KWHY_HOST_UNKNOWN,
		.nccl_version = KWHY_HOST_UNKNOWN,
		.cpus = KWHY_HOST_UNKNOWN,
		.cpus_allowed = KWHY_HOST_UNKNOWN,
		.cpu_quota = NAN,
		.memory_limit_bytes = KWHY_HOST_UNKNOWN,
		.memory_total_bytes = KWHY_HOST_UNKNOWN,
	};
	enum kwhy_status status;

	*out = (struct kwhy_doctor_report){0};
	status = kwhy_host_read_gpus(&facts, request->gpu, error);
	if (status)
		return status;
	kwhy_host_read_topology(&facts);
	kwhy_host_read_limits(&facts);
	kwhy_host_read_processor(&facts);
	kwhy_host_read_software(&facts);
	out->no_gpu = facts.gpu_count > 0 ? NULL : facts.no_gpu;
	return run_checks(out, &facts, request->further, error);
}

void kwhy_doctor_done(struct kwhy_doctor_report *report)
{
	kwhy_arena_done(&report->arena);
}

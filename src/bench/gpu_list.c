/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/gpu_list.h"

#include "base/settle.h"

#include <stdio.h>
#include <string.h>

bool kwhy_bench_list_next(const char **list, char word[KWHY_LIST_WORD_BYTES])
{
	size_t length = strcspn(*list, ",");

	if (!**list)
		return false;
	snprintf(word, KWHY_LIST_WORD_BYTES, "%.*s", (int)length, *list);
	*list += length + ((*list)[length] == ',');
	return true;
}

bool kwhy_bench_list_has(const char *list, const char *word)
{
	char item[KWHY_LIST_WORD_BYTES];

	if (!list)
		return true;
	while (kwhy_bench_list_next(&list, item))
		if (strcmp(item, word) == 0)
			return true;
	return false;
}

bool kwhy_bench_list_unknown(
	const char *list, bool (*is_known)(const char *word), char word[KWHY_LIST_WORD_BYTES])
{
	word[0] = '\0';
	if (!list || !*list)
		return list != NULL;
	while (kwhy_bench_list_next(&list, word))
		if (!is_known(word))
			return true;
	return false;
}

static bool is_open(const struct kwhy_bench_gpus *gpus, const struct kwhy_gpu *gpu)
{
	for (uint32_t i = 0; i < gpus->count; i++)
		if (gpus->items[i]->facts.index == gpu->facts.index)
			return true;
	return false;
}

enum kwhy_status kwhy_bench_gpus_add(struct kwhy_bench_gpus *gpus, enum kwhy_gpu_backend backend,
	const char *word, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu;
	enum kwhy_status status;

	if (gpus->count == KWHY_DEVICE_ENERGY_GPUS_MAX)
		return kwhy_fail(error, KWHY_E_USAGE, "--device names more than %d GPUs; name fewer",
			KWHY_DEVICE_ENERGY_GPUS_MAX);
	status = kwhy_gpu_open(backend, word, &gpu, error);
	if (status)
		return status;
	if (!is_open(gpus, gpu)) {
		gpus->items[gpus->count++] = gpu;
		return KWHY_OK;
	}
	gpu->ops->close(gpu);
	return kwhy_fail(error, KWHY_E_USAGE, "--device names GPU '%s' twice; name each once", word);
}

enum kwhy_status kwhy_bench_gpus_open(enum kwhy_gpu_backend backend, const char *list,
	struct kwhy_bench_gpus *out, struct kwhy_error *error)
{
	char word[KWHY_LIST_WORD_BYTES];
	enum kwhy_status status = KWHY_OK;

	out->count = 0;
	list = list ? list : "0";
	while (!status && kwhy_bench_list_next(&list, word))
		status = kwhy_bench_gpus_add(out, backend, word, error);
	if (!status && !out->count)
		return kwhy_fail(error, KWHY_E_USAGE, "--device names no GPU");
	return status;
}

void kwhy_bench_gpus_close(const struct kwhy_bench_gpus *gpus)
{
	for (uint32_t i = 0; i < gpus->count; i++)
		gpus->items[i]->ops->close(gpus->items[i]);
}

void kwhy_bench_gpus_settle(const struct kwhy_bench_gpus *gpus)
{
	if (gpus->count && gpus->items[0]->facts.architecture)
		kwhy_settle(KWHY_SETTLE_SHOWN_NS);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/launcher.h"

#include <stddef.h>
#include <stdlib.h>

static const struct {
	/*
	 * names of the environment variables of each launcher, the closest to the process first; local_size
	 * NULL: it has none
	 */
	const char *rank, *world_size, *local_rank, *local_size;
} launchers[] = {
	{"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
	{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
		"OMPI_COMM_WORLD_LOCAL_SIZE"},
	{"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_RANK",
		"MV2_COMM_WORLD_LOCAL_SIZE"},
	{"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
	{"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", NULL},
};

static int64_t number_of(const char *text)
{
	char *end;
	unsigned long number;

	if (!text || text[0] < '0' || text[0] > '9')
		return -1;
	number = strtoul(text, &end, 10);
	return *end || number >= UINT32_MAX ? -1 : (int64_t)number;
}

struct kwhy_launcher_ranks kwhy_launcher_ranks(char *(*get)(const char *name))
{
	for (size_t i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++) {
		const struct kwhy_launcher_ranks ranks = {number_of(get(launchers[i].rank)),
			number_of(get(launchers[i].world_size)), number_of(get(launchers[i].local_rank)),
			launchers[i].local_size ? number_of(get(launchers[i].local_size)) : -1};

		if (ranks.rank >= 0 && ranks.world_size >= 0)
			return ranks;
	}
	return (struct kwhy_launcher_ranks){-1, -1, -1, -1};
}

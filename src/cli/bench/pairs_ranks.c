/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bench/pairs_ranks.h"

#include "base/launcher.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { PORT_FIRST = 29400, PORT_RANGE = 1000, SECRET_CHARACTERS = 64 };

#define WAIT_NS INT64_C(60000000000)

/*
 * The port used in place of MASTER_PORT if that is not set. It is a hash of the launcher's job, so that
 * concurrent jobs most likely use different ports.
 */
static uint16_t usual_port(void)
{
	static const char *const jobs[] = {"SLURM_JOB_ID", "PMIX_NAMESPACE", "PMI_JOBID"};
	uint32_t hash = 0;

	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++)
		for (const char *text = secure_getenv(jobs[i]); text && *text; text++)
			hash = hash * 31 + (unsigned char)*text;
	return (uint16_t)(PORT_FIRST + hash % PORT_RANGE);
}

/*
 * Sets *out, the port of rank 0, to MASTER_PORT + 1, because torchrun itself listens at MASTER_PORT, or to
 * usual_port() + 1 if MASTER_PORT is not set.
 */
static enum kwhy_status read_port(uint16_t *out, struct kwhy_error *error)
{
	const char *text = secure_getenv("MASTER_PORT");
	char *end = NULL;
	long port = text ? strtol(text, &end, 10) : usual_port();

	if (port < 1 || port >= UINT16_MAX || (text && *end))
		return kwhy_fail(error, KWHY_E_USAGE,
			"MASTER_PORT is '%.20s'; set it to a number below 65535", text ? text : "");
	*out = (uint16_t)(port + 1);
	return KWHY_OK;
}

/*
 * Address at which the other ranks connect to rank 0. It is the loopback address if MASTER_ADDR is not set,
 * or if all ranks run on this host and `secret` is NULL; otherwise it is MASTER_ADDR.
 */
static const char *address_of_first(const struct kwhy_launcher_ranks *noted, const char *secret)
{
	const char *address = secure_getenv("MASTER_ADDR");

	return address && (secret || noted->local_size != noted->world_size) ? address : "127.0.0.1";
}

static enum kwhy_status join(
	const struct kwhy_launcher_ranks *noted, struct kwhy_pairs_ranks *out, struct kwhy_error *error)
{
	const char *secret = secure_getenv(KWHY_LAUNCH_SECRET_VARIABLE);
	struct kwhy_rank_link_request request = {.rank = (uint32_t)noted->rank,
		.size = (uint32_t)noted->world_size,
		.address = address_of_first(noted, secret),
		.secret = secret,
		.listener = -1,
		.wait_ns = WAIT_NS};
	enum kwhy_status status = read_port(&request.port, error);

	out->rank = request.rank;
	out->local_rank = (uint32_t)(noted->local_rank >= 0 ? noted->local_rank : noted->rank);
	return status ? status : kwhy_pair_ranks_open(&request, &out->ranks, error);
}

/* Makes a random secret, by whose knowledge the ranks recognise each other when they connect. */
static enum kwhy_status make_secret(char out[SECRET_CHARACTERS + 1], struct kwhy_error *error)
{
	unsigned char bytes[SECRET_CHARACTERS / 2];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return kwhy_fail(error, KWHY_E_IO, "the system gives no random numbers for a secret: %s",
			strerror(errno));
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(out + 2 * i, 3, "%02x", bytes[i]);
	return KWHY_OK;
}

/* Starts the processes of the other ranks. This process is rank 0. */
static enum kwhy_status start(uint32_t size, struct kwhy_pairs_ranks *out, struct kwhy_error *error)
{
	char secret[SECRET_CHARACTERS + 1];
	struct kwhy_rank_link_request request = {
		.size = size, .address = "127.0.0.1", .secret = secret, .wait_ns = WAIT_NS};
	enum kwhy_status status = make_secret(secret, error);

	if (!status)
		status = kwhy_rank_link_listen_here(&request.listener, &request.port, error);
	if (!status)
		status = kwhy_launch_ranks_start(
			size, (uint16_t)(request.port - 1), secret, &out->started, error);
	return status ? status : kwhy_pair_ranks_open(&request, &out->ranks, error);
}

enum kwhy_status kwhy_pairs_ranks_init(
	uint64_t wanted, struct kwhy_pairs_ranks *out, struct kwhy_error *error)
{
	const struct kwhy_launcher_ranks noted = kwhy_launcher_ranks(secure_getenv);

	*out = (struct kwhy_pairs_ranks){.rank = 0};
	if (wanted == 1 || (wanted == 0 && noted.world_size < 2))
		return KWHY_OK;
	if (wanted > KWHY_PAIR_GPUS_MAX || noted.world_size > KWHY_PAIR_GPUS_MAX)
		return kwhy_fail(error, KWHY_E_USAGE, "at most %d ranks measure together; start fewer",
			(int)KWHY_PAIR_GPUS_MAX);
	if (noted.world_size < 2)
		return start((uint32_t)wanted, out, error);
	if (wanted && wanted != (uint64_t)noted.world_size)
		return kwhy_fail(error, KWHY_E_USAGE,
			"--ranks says %llu and the launcher's variables say %lld; leave --ranks out, or give "
			"--ranks 1 to measure with this process alone",
			(unsigned long long)wanted, (long long)noted.world_size);
	return join(&noted, out, error);
}

void kwhy_pairs_ranks_done(struct kwhy_pairs_ranks *ranks)
{
	kwhy_pair_ranks_close(ranks->ranks);
	ranks->ranks = NULL;
	kwhy_launch_ranks_end(&ranks->started);
}

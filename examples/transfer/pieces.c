/* SPDX-License-Identifier: Apache-2.0 */
#include <kwhy/transfer.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Steps of a simulation, each of which sends small values to many addresses on the device and reads them
 * back. Usage: pieces [cuda|hip|host]; without a GPU the host back end takes its place.
 */

enum { STEPS = 100, VALUES = 22, VALUE_BYTES = 40, STRIDE = 4096 };

static int step(struct kwhy_transfer *transfer, uint64_t device, int number)
{
	char value[VALUE_BYTES], back[VALUES][VALUE_BYTES];
	uint64_t ticket;
	int code = 0;

	for (int i = 0; i < VALUES && !code; i++) {
		snprintf(value, sizeof(value), "value %d of step %d", i, number);
		code = kwhy_transfer_put(transfer, device + (uint64_t)i * STRIDE, value, sizeof(value));
	}
	/*
	 * A program would call kwhy_transfer_flush() here and launch a kernel in kwhy_transfer_stream(),
	 * which works on the values.
	 */
	for (int i = 0; i < VALUES && !code; i++)
		code = kwhy_transfer_get(transfer, back[i], device + (uint64_t)i * STRIDE, VALUE_BYTES);
	if (!code)
		code = kwhy_transfer_flush(transfer, &ticket);
	if (!code)
		code = kwhy_transfer_wait(transfer, ticket);
	return code ? code : memcmp(back[VALUES - 1], value, strlen(value) + 1);
}

static int run(struct kwhy_transfer *transfer)
{
	struct kwhy_transfer_counts counts = {.size = sizeof(counts)};
	uint64_t device;
	int code = kwhy_transfer_memory_new(
		transfer, KWHY_TRANSFER_ON_DEVICE, (size_t)VALUES * STRIDE, &device);

	for (int i = 0; i < STEPS && !code; i++)
		code = step(transfer, device, i);
	if (!code)
		code = kwhy_transfer_counts(transfer, &counts);
	if (!code)
		printf("%llu pieces in %llu flushes: %llu calls of the driver\n",
			(unsigned long long)counts.pieces, (unsigned long long)counts.flushes,
			(unsigned long long)counts.driver_calls);
	return code;
}

int main(int argc, char **argv)
{
	static const char *const backends[] = {"cuda", "hip", "host"};
	struct kwhy_transfer_options options = {.size = sizeof(options)};
	struct kwhy_transfer *transfer;
	char message[KWHY_TRANSFER_MESSAGE_BYTES];
	int code;

	for (int i = 0; i < 3; i++)
		if (argc > 1 && strcmp(argv[1], backends[i]) == 0)
			options.backend = i;
	if (kwhy_transfer_open(&options, &transfer, message, sizeof(message))) {
		fprintf(stderr, "%s\n", message);
		return 1;
	}
	code = run(transfer);
	if (code) {
		kwhy_transfer_message(transfer, message, sizeof(message));
		fprintf(stderr, "%s\n", message);
	}
	kwhy_transfer_close(transfer);
	return code != 0;
}

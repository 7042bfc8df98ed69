/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * Passes every file in the folders named on the command line to a fuzz target once, so that ordinary builds
 * keep testing the inputs that a fuzzer found. Fails if a folder is missing or empty.
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

enum { INPUT_MAX_BYTES = 16 << 20 };

static int is_file(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static int replay_file(const char *path, uint8_t *buffer)
{
	FILE *file = fopen(path, "rb");
	size_t length;
	uint8_t *exact;

	if (!file)
		return -1;
	length = fread(buffer, 1, INPUT_MAX_BYTES, file);
	fclose(file);
	/* of the exact size, so that sanitizers detect reads past the end */
	exact = malloc(length ? length : 1);
	if (!exact)
		return -1;
	for (size_t i = 0; i < length; i++)
		exact[i] = buffer[i];
	LLVMFuzzerTestOneInput(exact, length);
	free(exact);
	return 0;
}

static int replay_folder(const char *folder, uint8_t *buffer)
{
	struct dirent **entries;
	int count = scandir(folder, &entries, is_file, alphasort);
	int failed = count <= 0;

	for (int i = 0; i < count; i++) {
		char path[4096];

		snprintf(path, sizeof(path), "%s/%s", folder, entries[i]->d_name);
		if (replay_file(path, buffer)) {
			fprintf(stderr, "cannot read %s\n", path);
			failed = 1;
		}
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	printf("%s: %d inputs\n", folder, count);
	return failed;
}

int main(int argc, char **argv)
{
	uint8_t *buffer = malloc(INPUT_MAX_BYTES);
	int failed = argc < 2 || !buffer;

	for (int i = 1; buffer && i < argc; i++)
		failed |= replay_folder(argv[i], buffer);
	free(buffer);
	return failed;
}

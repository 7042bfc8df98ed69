/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels' own text, run on the host, gives what their forms for the host give. */
#include "fakes/cuda_text.h"

typedef struct {
	float x, y;
} float2;

typedef struct {
	unsigned x, y, z, w;
} uint4;

static float __uint_as_float(unsigned bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* --- What a warp's tensor instructions do, as PTX tells it --- */

enum { WARP = 32, PENDING_MOST = 64, THREADS_MOST = 256 };

#define BY_TENSOR 1
static _Thread_local _Alignas(16) uint4 room[110592 / sizeof(uint4)];

/* Copies come as late as they may: when they are awaited. */
struct pending {
	unsigned short *to;
	const unsigned short *from;
	unsigned bytes, group;
};

static _Thread_local struct {
	struct pending copies[PENDING_MOST];
	unsigned count, groups;
} ahead[THREADS_MOST];

static void copy_ahead(unsigned short *to, const unsigned short *from, unsigned bytes)
{
	unsigned at = ahead[threadIdx.x].count++;

	if (at >= PENDING_MOST || (uintptr_t)to % 16 || (bytes && (uintptr_t)from % 16))
		abort();
	ahead[threadIdx.x].copies[at] = (struct pending){to, from, bytes, ahead[threadIdx.x].groups};
}

static void await_copies(unsigned left)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < ahead[threadIdx.x].count; i++) {
		struct pending copy = ahead[threadIdx.x].copies[i];

		if (copy.group + left >= ahead[threadIdx.x].groups) {
			ahead[threadIdx.x].copies[kept++] = copy;
			continue;
		}
		memset(copy.to, 0, 16);
		memcpy(copy.to, copy.from, copy.bytes);
	}
	ahead[threadIdx.x].count = kept;
}

#define COPIES_DONE_SO_FAR ahead[threadIdx.x].groups++
#define AWAIT_COPIES(left) await_copies(left)

static void load(unsigned *out, const unsigned short *row, bool is_turned)
{
	const unsigned short *memory = (const unsigned short *)room;
	const unsigned *rows = cuda_text_exchange((unsigned)(row - memory));
	unsigned lane = threadIdx.x % WARP, high = lane / 4, low = 2 * (lane % 4);

	if ((uintptr_t)row % 16)
		abort();
	for (unsigned j = 0; j < 4; j++) {
		const unsigned *r = rows + 8 * j;

		out[j] = is_turned ? memory[r[low] + high] | (unsigned)memory[r[low + 1] + high] << 16
				   : memory[r[high] + low] | (unsigned)memory[r[high] + low + 1] << 16;
	}
}

static void load_matrices(unsigned *out, const unsigned short *row)
{
	load(out, row, false);
}

static void load_turned(unsigned *out, const unsigned short *row)
{
	load(out, row, true);
}

static float half_of(unsigned both, unsigned is_second)
{
	return __uint_as_float((is_second ? both >> 16 : both & 0xffff) << 16);
}

/* Of all lanes of a warp: its part of the left factor and of the right one. */
static _Thread_local struct {
	unsigned left[4], right[2];
} given[THREADS_MOST];

static void multiply_add(float *sum, const unsigned *a, const unsigned *b)
{
	unsigned lane = threadIdx.x % WARP, first = threadIdx.x - lane;

	(void)cuda_text_exchange(0); /* everybody has read what was given before */
	memcpy(given[threadIdx.x].left, a, sizeof(given->left));
	memcpy(given[threadIdx.x].right, b, sizeof(given->right));
	(void)cuda_text_exchange(0);
	for (unsigned i = 0; i < 4; i++) {
		unsigned m = lane / 4 + 8 * (i / 2), n = 2 * (lane % 4) + i % 2;

		for (unsigned k = 0; k < 16; k++)
			sum[i] += half_of(given[first + m % 8 * 4 + k % 8 / 2].left[(m >= 8) + 2 * (k >= 8)],
					  k % 2) *
				half_of(given[first + n * 4 + k % 8 / 2].right[k >= 8], k % 2);
	}
}

#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#include "lab/kernels/train.cu"

#include "lab/train/device.h"
#include "lab/train/rules.h"

#include "cmocka_all.h"

enum { PARTS = 13, BLOCKS = 3 };

/* The same training twice in the host's memory: by the text, and by the forms for the host. */
struct world {
	struct args a[2];
	size_t bytes[PARTS];
	bool is_half[PARTS];
	void *memory[2][PARTS];
};

static size_t half_or_float(const struct kwhy_train_shape *shape, bool half, size_t rows)
{
	return rows * shape->width * (half ? 2 : 4);
}

static void world_init(struct world *world, const struct kwhy_train_shape *shape, bool half)
{
	size_t weights = kwhy_train_weight_count(shape), rows = shape->batch / shape->parts;
	const size_t bytes[PARTS] = {4 * weights, 4 * weights, 4 * weights, 4 * weights,
		half ? 2 * weights : 0, half_or_float(shape, half, shape->samples), 4 * shape->samples,
		half_or_float(shape, half, 3 * rows), half_or_float(shape, half, 2 * rows),
		4 * rows * shape->width, 4 * shape->batch, 4 * shape->steps, sizeof(struct pace)};

	for (size_t w = 0; w < 2; w++) {
		void **memory = world->memory[w];

		for (size_t i = 0; i < PARTS; i++) {
			size_t whole = (bytes[i] + 63) / 64 * 64 + 64;

			memory[i] = aligned_alloc(64, whole);
			memset(memory[i], 0xA5, whole);
			world->bytes[i] = bytes[i];
			world->is_half[i] = half && (i == 4 || i == 5 || i == 7 || i == 8);
		}
		world->a[w] = (struct args){memory[0], memory[1], memory[2], memory[3],
			half ? memory[4] : memory[0], memory[5], memory[6], memory[7], memory[8], memory[9],
			memory[10], memory[11], memory[12], shape->width, shape->layers, shape->batch,
			shape->parts, shape->samples, half};
	}
}

static void world_done(struct world *world)
{
	for (size_t w = 0; w < 2; w++)
		for (size_t i = 0; i < PARTS; i++)
			free(world->memory[w][i]);
}

static double value_at(const struct world *world, size_t w, size_t part, size_t i)
{
	const void *memory = world->memory[w][part];

	return (double)(world->is_half[part] ? kwhy_train_of_half(((const uint16_t *)memory)[i])
					     : ((const float *)memory)[i]);
}

/* All parts agree but for rounding; where they differ by it the text goes on with the other's. */
static void assert_same(struct world *world, const char *kernel)
{
	for (size_t part = 0; part < PARTS; part++) {
		size_t count = world->bytes[part] / (world->is_half[part] ? 2 : 4);
		double most = 0, limit;

		if (part == 6 || part == 12) {
			assert_memory_equal(
				world->memory[0][part], world->memory[1][part], world->bytes[part] - 4);
			continue;
		}
		for (size_t i = 0; i < count; i++)
			most = fmax(most, fabs(value_at(world, 1, part, i)));
		limit = most * (world->is_half[part] ? 1.0 / 256 : 1e-5);
		for (size_t i = 0; i < count; i++)
			if (!(fabs(value_at(world, 0, part, i) - value_at(world, 1, part, i)) <= limit))
				fail_msg("%s: part %zu at %zu is %g, not %g", kernel, part, i,
					value_at(world, 0, part, i), value_at(world, 1, part, i));
		memcpy(world->memory[0][part], world->memory[1][part], world->bytes[part]);
	}
}

typedef void kernel(const struct args a, const struct call c);

struct launch {
	kernel *run;
	struct args a;
	struct call c;
};

static void run_launch(void *context)
{
	const struct launch *launch = context;

	ahead[threadIdx.x].count = ahead[threadIdx.x].groups = 0;
	launch->run(launch->a, launch->c);
}

static void run_both(
	struct world *world, const char *name, kernel *run, struct call c, u32 blocks, u32 threads)
{
	struct launch launch = {run, world->a[0], c};
	const struct kwhy_gpu_grid grid = {blocks, threads, 0};
	const struct kwhy_gpu_host_kernel *row = kwhy_train_host_kernels;
	void *arguments[] = {&world->a[1], &c};

	assert_int_equal(sizeof(struct args), sizeof(struct kwhy_train_args));
	assert_int_equal(sizeof(struct call), sizeof(struct kwhy_train_call));
	while (strcmp(row->name, name) != 0)
		row++;
	cuda_text_launch(blocks, threads, run_launch, &launch);
	row->run(&grid, arguments);
	assert_same(world, name);
}

#define RUN(world, name, call, blocks, threads) run_both(world, #name, name, call, blocks, threads)

static u32 tiles(u32 length, u32 tile)
{
	return (length + tile - 1) / tile;
}

static const struct call none;

/* Three layers in two parts: forward, loss, and backward in all modes. */
struct product_kernels {
	const char *forward_name, *backward_name, *update_name;
	kernel *forward, *backward, *update;
	u32 m, n, update_m, update_n, threads;
};

static void run_part(struct world *world, const struct kwhy_train_shape *shape,
	const struct product_kernels *kernels, u32 part, u32 mode)
{
	u32 width = shape->width, rows = shape->batch / shape->parts, layers = shape->layers,
	    blocks = tiles(rows, kernels->m) * tiles(width, kernels->n);

	for (u32 layer = 0; layer < layers; layer++)
		run_both(world, kernels->forward_name, kernels->forward,
			(struct call){
				.layer = layer, .part = part, .in = layer ? layer - 1 : INPUTS, .out = layer},
			blocks, kernels->threads);
	RUN(world, kwhy_train_soften, ((struct call){.part = part}), rows, ROW_THREADS);
	for (u32 layer = layers; layer-- > 0;) {
		u32 errors = (layers - 1 - layer) % 2;
		const struct call call = {layer, part, errors, 1 - errors, layer ? layer - 1 : INPUTS, mode};

		if (layer)
			run_both(world, kernels->backward_name, kernels->backward, call, blocks,
				kernels->threads);
		run_both(world, kernels->update_name, kernels->update, call,
			tiles(width, kernels->update_m) * tiles(width, kernels->update_n), kernels->threads);
		RUN(world, kwhy_train_bias, call, tiles(width, 64), ROW_THREADS);
	}
}

static void run_steps(
	const struct kwhy_train_shape *shape, bool half, bool fused, const struct product_kernels *kernels)
{
	struct world world;

	if (!CUDA_TEXT_RUNS)
		kwhy_skip(CUDA_TEXT_ABSENT);
	world_init(&world, shape, half);
	RUN(&world, kwhy_train_data, none, BLOCKS, 64);
	RUN(&world, kwhy_train_begin, none, BLOCKS, 64);
	for (u32 step = 0; step < shape->steps; step++) {
		for (u32 part = 0; part < shape->parts; part++)
			run_part(&world, shape, kernels, part,
				(part ? ADD : 0) | (fused && part + 1 == shape->parts ? APPLY : 0));
		if (!fused)
			RUN(&world, kwhy_train_apply, none, BLOCKS, 64);
		RUN(&world, kwhy_train_advance, none, 1, ROW_THREADS);
	}
	world_done(&world);
}

static const struct product_kernels single = {"kwhy_train_forward_single", "kwhy_train_backward_single",
	"kwhy_train_update_single", kwhy_train_forward_single, kwhy_train_backward_single,
	kwhy_train_update_single, SINGLE_M, SINGLE_N, SINGLE_M, SINGLE_N, SINGLE_THREADS};
static const struct product_kernels small_tiles = {"kwhy_train_forward_small", "kwhy_train_backward_small",
	"kwhy_train_update_large", kwhy_train_forward_small, kwhy_train_backward_small,
	kwhy_train_update_large, 64, 32, 128, 128, THREADS};
static const struct product_kernels large_tiles = {"kwhy_train_forward_large", "kwhy_train_backward_large",
	"kwhy_train_update_large", kwhy_train_forward_large, kwhy_train_backward_large,
	kwhy_train_update_large, 128, 128, 128, 128, THREADS};

static void products_in_fp32_are_those_of_the_host(void **state)
{
	(void)state;
	run_steps(&(struct kwhy_train_shape){96, 3, 80, 1, 160, 2}, false, false, &single);
	run_steps(&(struct kwhy_train_shape){32, 2, 48, 2, 48, 2}, false, true, &single);
}

/* More than the stages' chunks of k, and tiles that the matrices do not fill. */
static void products_of_small_tiles_are_those_of_the_host(void **state)
{
	(void)state;
	run_steps(&(struct kwhy_train_shape){416, 1, 8, 1, 8, 1}, true, true, &small_tiles);
	run_steps(&(struct kwhy_train_shape){96, 2, 144, 2, 144, 1}, true, true, &small_tiles);
}

static void products_of_large_tiles_are_those_of_the_host(void **state)
{
	(void)state;
	run_steps(&(struct kwhy_train_shape){224, 2, 136, 1, 136, 1}, true, false, &large_tiles);
}

/* On sums that are anything: those of the layer before, and the last layer's. */
static void what_follows_a_product_is_that_of_the_host(void **state)
{
	const struct kwhy_train_shape shape = {64, 2, 16, 1, 16, 1};
	struct world world;

	(void)state;
	if (!CUDA_TEXT_RUNS)
		kwhy_skip(CUDA_TEXT_ABSENT);
	world_init(&world, &shape, true);
	RUN(&world, kwhy_train_data, none, BLOCKS, 64);
	RUN(&world, kwhy_train_begin, none, BLOCKS, 64);
	for (u32 w = 0; w < 2; w++)
		for (u32 i = 0; i < 16 * shape.width; i++)
			world.a[w].logits[i] = kwhy_train_input(i);
	RUN(&world, kwhy_train_finish, ((struct call){.mode = FORWARD}), BLOCKS, 64);
	RUN(&world, kwhy_train_finish, ((struct call){.layer = 1, .mode = BACKWARD, .out = 1}), BLOCKS, 64);
	RUN(&world, kwhy_train_finish, ((struct call){.layer = 1, .mode = FORWARD}), BLOCKS, 64);
	world_done(&world);
}

struct share {
	struct args a;
	struct peers p;
};

static void run_share(void *context)
{
	const struct share *share = context;

	kwhy_train_share(share->a, none, share->p);
}

/* A world's own gradients twice, as if of two GPUs; the second half of the weights is this one's. */
static void set_peers(const struct args *a, u32 count, struct peers *p)
{
	*p = (struct peers){.first = count / 4 * 2, .end = count, .count = 2};
	for (u32 k = 0; k < 2; k++) {
		p->gradients[k] = a->gradients;
		p->weights[k] = a->weights;
		p->copies[k] = a->copies;
	}
}

static void a_share_of_adamw_is_that_of_the_host(void **state)
{
	const struct kwhy_train_shape shape = {64, 2, 16, 1, 16, 1};
	const struct kwhy_gpu_grid grid = {BLOCKS, 64, 0};
	const struct kwhy_gpu_host_kernel *row = kwhy_train_host_kernels;
	u32 count = (u32)kwhy_train_weight_count(&shape);
	struct call call = none;
	struct share share;
	struct peers other;
	struct world world;
	void *arguments[] = {&world.a[1], &call, &other};

	(void)state;
	if (!CUDA_TEXT_RUNS)
		kwhy_skip(CUDA_TEXT_ABSENT);
	assert_int_equal(sizeof(struct peers), sizeof(struct kwhy_train_peers));
	world_init(&world, &shape, true);
	RUN(&world, kwhy_train_data, none, BLOCKS, 64);
	RUN(&world, kwhy_train_begin, none, BLOCKS, 64);
	for (u32 w = 0; w < 2; w++)
		for (u32 i = 0; i < count; i++)
			world.a[w].gradients[i] = kwhy_train_input(i);
	share.a = world.a[0];
	set_peers(&world.a[0], count, &share.p);
	set_peers(&world.a[1], count, &other);
	while (strcmp(row->name, "kwhy_train_share") != 0)
		row++;
	cuda_text_launch(BLOCKS, 64, run_share, &share);
	row->run(&grid, arguments);
	assert_same(&world, "kwhy_train_share");
	assert_true(world.a[0].first[count - 1] != 0 && world.a[0].first[0] == 0);
	world_done(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(products_in_fp32_are_those_of_the_host),
		cmocka_unit_test(products_of_small_tiles_are_those_of_the_host),
		cmocka_unit_test(products_of_large_tiles_are_those_of_the_host),
		cmocka_unit_test(what_follows_a_product_is_that_of_the_host),
		cmocka_unit_test(a_share_of_adamw_is_that_of_the_host),
	};

	return kwhy_test_main(tests, NULL, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of the workload `train` (lab/README.md): three products of matrices a layer, in fp32 or, by
 * tensor instructions, in bf16, with what follows a product done before it leaves the registers: bias and
 * rectifier, the rectifier's derivative, or AdamW itself. Matrices of weights are [out][in], activations
 * [sample][feature]; all widths are multiples of 32, all numbers of rows of 8.
 */
#ifdef __cplusplus
#define KERNEL extern "C" __global__
#endif
#ifdef __CUDA_ARCH__
#define INLINE static __device__ __forceinline__
#else
#define INLINE static __device__ inline
#endif

typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned short u16;

#define RATE 1e-3f
#define DECAY 1e-2f
#define BETA1 0.9f
#define BETA2 0.999f
#define EPSILON 1e-8f

enum { SEED = 42, WEIGHTS_FIELD = 1, INPUTS_FIELD, LABELS_FIELD };

/* As struct kwhy_train_pace of workload/train/rules.h, and the step. */
struct pace {
	float power1, power2, rate, root;
	u32 step, unused;
};

/* As struct kwhy_train_args of workload/train/device.h. */
struct args {
	float *weights, *first, *second, *gradients; /* matrices [layers][width][width], biases [layers][width] */
	void *copies;	   /* of the matrices, in bf16; in fp32 the weights themselves */
	void *inputs;	   /* [samples][width] */
	u32 *labels;	   /* [samples] */
	void *hidden;	   /* [slots][rows of a part][width] */
	void *errors;	   /* [2][rows of a part][width] */
	float *logits;	   /* [rows of a part][width] */
	float *row_losses; /* [batch] */
	float *losses;	   /* [steps] */
	struct pace *pace;
	u32 width, layers, batch, parts, samples, half;
};

/* As struct kwhy_train_call of workload/train/device.h. */
struct call {
	u32 layer, part;
	u32 in, out; /* slots of hidden or errors */
	u32 kept;    /* slot of the layer's inputs */
	u32 mode;
};

/* As struct kwhy_train_peers of workload/train/device.h. */
struct peers {
	float *gradients[8], *weights[8];
	void *copies[8];
	u64 first, end; /* places of this GPU's share, both even */
	u32 count, unused;
};

#define INPUTS 0xffffffffu
enum { ADD = 1, APPLY = 2 }; /* modes of gradients: onto those of the parts before; AdamW at once */

static __device__ u64 mix(u32 field, u64 place)
{
	u64 x = ((u64)SEED << 48 ^ (u64)field << 40 ^ place) + 0x9E3779B97F4A7C15ull;

	x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
	x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
	return x ^ (x >> 31);
}

static __device__ float first_weight(u64 place, float bound)
{
	return (float)((int)(mix(WEIGHTS_FIELD, place) >> 40) - (1 << 23)) * (1.0f / 8388608.0f) * bound;
}

static __device__ float input_of(u64 place)
{
	u64 hash = mix(INPUTS_FIELD, place);
	int sum = (int)(hash & 0xffff) + (int)(hash >> 16 & 0xffff) + (int)(hash >> 32 & 0xffff) + (int)(hash >> 48);

	return (float)(sum - 131070) * (0.8660254f / 32768.0f);
}

INLINE u32 to_half(float value)
{
	u32 bits = __float_as_uint(value);

	return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

INLINE float of_half(u32 half)
{
	return __uint_as_float(half << 16);
}

INLINE u64 thread_index(void)
{
	return (u64)blockIdx.x * blockDim.x + threadIdx.x;
}

INLINE u64 thread_count(void)
{
	return (u64)gridDim.x * blockDim.x;
}

INLINE u32 rows_of(const struct args *a)
{
	return a->batch / a->parts;
}

INLINE u64 matrix_at(const struct args *a, u32 layer)
{
	return (u64)layer * a->width * a->width;
}

INLINE u64 bias_at(const struct args *a, u32 layer)
{
	return matrix_at(a, a->layers) + (u64)layer * a->width;
}

INLINE u32 first_sample(const struct args *a, u32 part)
{
	return a->pace->step % (a->samples / a->batch) * a->batch + part * rows_of(a);
}

/* A slot of some memory that holds a part's rows. */
INLINE u64 slot_at(const struct args *a, u32 slot)
{
	return (u64)slot * rows_of(a) * a->width;
}

INLINE float2 pair_of(float x, float y)
{
	float2 pair = {x, y};

	return pair;
}

/* Two neighbours, the first of them at an even place. */
INLINE void put_pair(void *to, u32 half, u64 place, float x, float y)
{
	if (half)
		*(u32 *)((u16 *)to + place) = to_half(x) | to_half(y) << 16;
	else
		*(float2 *)((float *)to + place) = pair_of(x, y);
}

INLINE float2 get_pair(const void *from, u32 half, u64 place)
{
	u32 both;

	if (!half)
		return *(const float2 *)((const float *)from + place);
	both = *(const u32 *)((const u16 *)from + place);
	return pair_of(of_half(both), of_half(both >> 16));
}

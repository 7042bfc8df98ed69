/* SPDX-License-Identifier: Apache-2.0 */
/* --- What C has no words for --- */

#ifdef __cplusplus
/* Weights: nobody writes them, nobody reads them twice. */
static __device__ struct four load_weights(const void *from)
{
	struct four v;

	asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
		: "=r"(v.of[0]), "=r"(v.of[1]), "=r"(v.of[2]), "=r"(v.of[3])
		: "l"(from));
	return v;
}

static __device__ void load_weights_two(const void *from, u32 out[2])
{
	asm("ld.global.nc.L1::no_allocate.v2.u32 {%0, %1}, [%2];" : "=r"(out[0]), "=r"(out[1]) : "l"(from));
}

/* What other blocks may have written since: past the first cache. */
static __device__ struct four load_fresh(const void *from)
{
	struct four v;

	asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
		     : "=r"(v.of[0]), "=r"(v.of[1]), "=r"(v.of[2]), "=r"(v.of[3])
		     : "l"(from)
		     : "memory");
	return v;
}

#if RANKS == 1
#define load_far_four(from) load_fresh(from)
#else
/* What another GPU writes or holds. A number and its flag come and go together. */
static __device__ struct four load_far_four(const void *from)
{
	struct four v;

	asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
		     : "=r"(v.of[0]), "=r"(v.of[1]), "=r"(v.of[2]), "=r"(v.of[3])
		     : "l"(from)
		     : "memory");
	return v;
}

static __device__ void load_far_two(const u64 *from, u64 out[2])
{
	asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];"
		     : "=l"(out[0]), "=l"(out[1])
		     : "l"(from)
		     : "memory");
}

static __device__ u64 load_far(const u64 *from)
{
	u64 word;

	asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(word) : "l"(from) : "memory");
	return word;
}

static __device__ void store_far(u64 *to, u64 word)
{
	asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(to), "l"(word) : "memory");
}

/* What this GPU wrote before is there for who finds the flag. */
static __device__ void store_flag(u32 *to, u32 flag)
{
	asm volatile("fence.acq_rel.sys; st.release.sys.global.u32 [%0], %1;" ::"l"(to), "r"(flag)
		     : "memory");
}

static __device__ u32 load_flag(const u32 *from)
{
	u32 flag;

	asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(flag) : "l"(from) : "memory");
	return flag;
}
#endif

static __device__ u64 load_fresh_two(const void *from)
{
	u64 v;

	asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(v) : "l"(from) : "memory");
	return v;
}

static __device__ struct four load_shared(const struct four *from)
{
	uint4 v = *(const uint4 *)from;
	struct four result = {{v.x, v.y, v.z, v.w}};

	return result;
}

/* 8 by 8 numbers of 16 bits, four times: each lane tells a row of 16 bytes. */
static __device__ void load_matrices(const void *from, u32 out[4])
{
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
		     : "=r"(out[0]), "=r"(out[1]), "=r"(out[2]), "=r"(out[3])
		     : "r"((u32)__cvta_generic_to_shared(from)));
}

static __device__ void ask_line(const u8 *from)
{
	asm volatile("prefetch.global.L2 [%0];" ::"l"(from));
}

/* Bytes, a multiple of 16, into the second cache. */
static __device__ void ask_piece(const void *from, u32 bytes)
{
#if __CUDA_ARCH__ >= 900
	asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes) : "memory");
#else
	(void)from;
	(void)bytes;
#endif
}

/*
 * What is before this kernel has ended, and the one behind it may begin. No sooner: kernels that wait for one
 * that waits itself took 3 % longer.
 */
static __device__ void await_previous(void)
{
#if __CUDA_ARCH__ >= 900
	asm volatile("griddepcontrol.wait; griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

#if __CUDA_ARCH__ >= 900
/* All blocks of a cluster come here, and find what the others have written before. */
static __device__ void cluster_meet(void)
{
	asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory");
}

/* cluster_open: this block runs. cluster_ready: all of the cluster do. Every thread calls both before any
 * cluster_meet(). */
static __device__ void cluster_open(const void *room)
{
	(void)room; /* for the host */
	asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
}

static __device__ void cluster_ready(void)
{
	asm volatile("barrier.cluster.wait;" ::: "memory");
}

/* To the same place of another block's shared memory; those who meet afterwards find it. */
static __device__ void store_near(void *to, u32 rank, struct four v)
{
	asm volatile("{.reg .u32 there; mapa.shared::cluster.u32 there, %0, %1; "
		     "st.shared::cluster.v4.u32 [there], {%2, %3, %4, %5};}" ::"r"(
			     (u32)__cvta_generic_to_shared(to)),
		     "r"(rank), "r"(v.of[0]), "r"(v.of[1]), "r"(v.of[2]), "r"(v.of[3])
		     : "memory");
}

static __device__ void store_near_two(u64 *to, u32 rank, u64 two)
{
	asm volatile("{.reg .u32 there; mapa.shared::cluster.u32 there, %0, %1; "
		     "st.shared::cluster.u64 [there], %2;}" ::"r"((u32)__cvta_generic_to_shared(to)),
		     "r"(rank), "l"(two)
		     : "memory");
}

static __device__ void add_one(float *to, float one)
{
	asm volatile("red.relaxed.gpu.global.add.f32 [%0], %1;" ::"l"(to), "f"(one) : "memory");
}

/* cluster_meet() in two halves, of clusters of so many blocks. room: where the shared memory begins, for the
 * host. */
static __device__ void cluster_arrive(const struct four *room, u32 blocks)
{
	(void)room;
	if (blocks > 1)
		asm volatile("barrier.cluster.arrive.release;" ::: "memory");
}

static __device__ void cluster_wait(u32 blocks)
{
	if (blocks > 1)
		asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}

/* To the same place of another block of the cluster. */
static __device__ void cluster_store(
	const struct four *room, struct four *to, u32 rank, struct four quad, u32 blocks)
{
	(void)room;
	if (blocks == 1)
		*to = quad;
	else
		store_near(to, rank, quad);
}

static __device__ void add_two(float *to, float one, float two)
{
	asm volatile("red.relaxed.gpu.global.add.v2.f32 [%0], {%1, %2};" ::"l"(to), "f"(one), "f"(two)
		     : "memory");
}

static __device__ void add_four(float *to, const float v[4])
{
	asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(v[0]),
		     "f"(v[1]), "f"(v[2]), "f"(v[3])
		     : "memory");
}
#endif

static __device__ void copy_async(struct four *to, const void *from)
{
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((u32)__cvta_generic_to_shared(to)),
		     "l"(from)
		     : "memory");
}

static __device__ void copy_end_stage(void)
{
	asm volatile("cp.async.commit_group;" ::: "memory");
}

/* All stages but the last STAGES - 2 are there. */
static __device__ void copy_await(void)
{
	asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
}

/* All stages but so many are there, a number that the compiler knows. */
#define copy_await_but(count) asm volatile("cp.async.wait_group %0;" ::"n"(count) : "memory")

static __device__ void copy_await_but_one(void)
{
	asm volatile("cp.async.wait_group 1;" ::: "memory");
}

#if WEIGHTS == FP32 || WEIGHTS == TF32
static __device__ void tensor(float c[4], const u32 a[4], u32 b0, u32 b1)
{
	asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
		     "{%8, %9}, {%0, %1, %2, %3};"
		     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
		     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

static __device__ u32 round_tf32(u32 bits)
{
	u32 result;

	asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(result) : "f"(__uint_as_float(bits)));
	return result;
}
#else
#if WEIGHTS == BF16
#define HALF "bf16"
#else
#define HALF "f16"
#endif
static __device__ void tensor(float c[4], const u32 a[4], u32 b0, u32 b1)
{
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." HALF "." HALF ".f32 {%0, %1, %2, %3}, "
		     "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
		     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
		     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

static __device__ u32 pack(float low, float high)
{
	u32 result;

	asm("cvt.rn." HALF "x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
	return result;
}

static __device__ void floats_of_halves(u32 pair, float out[2])
{
	asm("{.reg .b16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h;}"
		: "=f"(out[0]), "=f"(out[1])
		: "r"(pair));
}

#if WEIGHTS != BF16
#define unpack(pair, out) floats_of_halves(pair, out)

static __device__ u32 subtract_halves(u32 a, u32 b)
{
	u32 result;

	asm("sub.rn.f16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
	return result;
}
#endif
#if WEIGHTS == FP8 || SHORT_CACHE
static __device__ u32 halves_of_fp8(u32 pair)
{
	u32 result;

	asm("{.reg .b16 p; cvt.u16.u32 p, %1; cvt.rn.f16x2.e4m3x2 %0, p;}" : "=r"(result) : "r"(pair));
	return result;
}

static __device__ u32 fp8_of(float low, float high)
{
	u32 result;

	asm("{.reg .b16 p; cvt.rn.satfinite.e4m3x2.f32 p, %1, %2; cvt.u32.u16 %0, p;}"
		: "=r"(result)
		: "f"(high), "f"(low));
	return result;
}
#endif

static __device__ u32 pack_halves(float low, float high)
{
	u32 result;

	asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(result) : "f"(high), "f"(low));
	return result;
}

static __device__ u32 add_halves(u32 a, u32 b)
{
	u32 result;

	asm("add.rn.f16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
	return result;
}

#if SHORT_CACHE
/* Four numbers of fp8, the first two and the others. */
static __device__ void halves_of_four(u32 four, u32 *first, u32 *second)
{
	asm("{.reg .b16 l, h; mov.b32 {l, h}, %2; cvt.rn.f16x2.e4m3x2 %0, l; cvt.rn.f16x2.e4m3x2 %1, h;}"
		: "=r"(*first), "=r"(*second)
		: "r"(four));
}

/* Of fp16, whatever activations are. */
static __device__ void tensor_halves(float c[4], const u32 a[4], u32 b0, u32 b1)
{
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
		     "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
		     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
		     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
#endif
#endif

/* One over the square root. */
static __device__ float root_under_one(float value)
{
	return rsqrtf(value);
}

static __device__ float exp_two(float value)
{
	float result;

	asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(value));
	return result;
}

/* Whether it is so of any lane. */
static __device__ int any_of_warp(int is)
{
	return __any_sync(0xffffffffu, is);
}

static __device__ u64 now_ns(void)
{
	u64 ns;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
	return ns;
}
#endif

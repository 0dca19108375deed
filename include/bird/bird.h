/* The C interface of libbird_cuda.
 *
 * Opaque handles, result codes, sizes by query. No C++ exception leaves these functions. After a
 * result other than BIRD_SUCCESS, bird_last_error() gives one line that names the argument or the
 * packet field and its value. Functions are thread-safe; a compressor may be used by many threads.
 */
#ifndef BIRD_BIRD_H
#define BIRD_BIRD_H

#include <stddef.h>
#include <stdint.h>

#include "bird/api.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum bird_result {
  BIRD_SUCCESS          = 0,
  BIRD_INVALID_ARGUMENT = 1, /* the caller's argument */
  BIRD_BAD_PACKET       = 2, /* the bytes are no sound packet */
  BIRD_OUT_OF_MEMORY    = 3,
  BIRD_INTERNAL_ERROR   = 4,
  BIRD_CUDA_ERROR       = 5 /* a call of the CUDA runtime failed */
} bird_result;

typedef enum bird_dtype { BIRD_FLOAT32 = 1, BIRD_FLOAT16 = 2, BIRD_BFLOAT16 = 3 } bird_dtype;
typedef enum bird_role { BIRD_SAMPLED = 1, BIRD_DENSE = 2, BIRD_COMPANION = 3 } bird_role;
typedef enum bird_sampling {
  BIRD_BI_RANDOM  = 1,
  BIRD_SYSTEMATIC = 2,
  BIRD_UNIFORM    = 3,
  BIRD_TOP        = 4
} bird_sampling;
typedef enum bird_values { BIRD_SIGN = 1, BIRD_FULL = 2, BIRD_BF16 = 3 } bird_values;
typedef enum bird_index { BIRD_U32 = 1, BIRD_BITMAP = 2, BIRD_ELIAS_FANO = 3 } bird_index;
typedef enum bird_norm { BIRD_L1 = 1, BIRD_L2 = 2 } bird_norm;

/* Options of a compressor. Grows at its end; `size` tells the library how much the caller knows.
 * Start from BIRD_CONFIG_INITIALIZER (the preset "tile") or bird_config_preset(). */
typedef struct bird_config {
  size_t size;    /* sizeof(bird_config) of the caller */
  uint32_t magic; /* BIRD_CONFIG_MAGIC */
  uint32_t version;
  int32_t sampling; /* bird_sampling */
  int32_t values;   /* bird_values */
  int32_t index;    /* bird_index */
  int32_t norm;     /* bird_norm */
  uint32_t tile;    /* elements per tile; 0: rows */
  uint32_t blind;   /* uniform only: 1 reads kept tiles alone; else 0 */
  double ratio;     /* 0 < ratio <= 1 */
  double gamma;     /* bi_random only */
} bird_config;

#define BIRD_CONFIG_MAGIC 0x62697264u
#define BIRD_CONFIG_VERSION 1u
#define BIRD_CONFIG_INITIALIZER                                                              \
  {                                                                                          \
    sizeof(bird_config), BIRD_CONFIG_MAGIC, BIRD_CONFIG_VERSION, BIRD_SYSTEMATIC, BIRD_BF16, \
      BIRD_ELIAS_FANO, BIRD_L1, 8, 0, 0.1, 1.0                                               \
  }

/* One tensor. `strides` (in elements) may be NULL for a contiguous tensor; any other layout is
 * refused by name. `ndim` 0 is a tensor of one element. */
typedef struct bird_tensor {
  void* data;
  int64_t const* shape;
  int64_t const* strides;
  int32_t ndim;
  int32_t dtype;    /* bird_dtype */
  int32_t role;     /* bird_role; ignored where a tensor is written */
  int32_t reserved; /* 0 */
} bird_tensor;

/* A stream: a cudaStream_t, or bird_host_stream() for tensors in host memory. */
typedef void* bird_stream;
BIRD_API bird_stream bird_host_stream(void);

/* A tensor of another library, by DLPack: `dl_tensor` points to a DLTensor (of a managed one: to its member
 * dl_tensor), `tensor` is filled in and keeps the DLTensor's shape and strides. `stream` is that of the call
 * that will take the tensor: bird_host_stream() for memory of the CPU, else a CUDA stream. */
BIRD_API bird_result bird_tensor_from_dlpack(void const* dl_tensor, bird_stream stream, bird_tensor* tensor);

typedef struct bird_key {
  uint64_t seed;
  uint32_t step;
  uint32_t tensor_id;
} bird_key;

typedef struct bird_report {
  uint64_t dense_bytes;
  uint64_t packet_bytes;
  uint64_t kept_slots;
  uint64_t tiles;
  int32_t non_finite;
  int32_t reserved;
  double seconds;
  double omega;
} bird_report;

typedef struct bird_compressor bird_compressor;

BIRD_API char const* bird_version(void);
BIRD_API char const* bird_result_string(bird_result result);
/* What the last failing call of this thread said. Never NULL; valid until the thread's next call. */
BIRD_API char const* bird_last_error(void);

BIRD_API bird_result bird_config_preset(char const* name, bird_config* config);

BIRD_API bird_result bird_compressor_create(bird_config const* config, bird_compressor** compressor);
BIRD_API bird_result bird_compressor_destroy(bird_compressor* compressor); /* NULL is allowed */

BIRD_API bird_result bird_packet_capacity(bird_compressor const* compressor, bird_tensor const* tensors,
                                          size_t tensor_count, size_t* bytes);
BIRD_API bird_result bird_compress_scratch_bytes(bird_compressor const* compressor,
                                                 bird_tensor const* tensors, size_t tensor_count,
                                                 size_t* bytes);

/* tensors -> packet. `report` may be NULL. */
BIRD_API bird_result bird_compress(bird_compressor const* compressor, bird_tensor const* tensors,
                                   size_t tensor_count, bird_key key, void* packet, size_t packet_bytes,
                                   void* scratch, size_t scratch_bytes, bird_report* report,
                                   bird_stream stream);

/* The same with error feedback: `residual` and `velocity` (NULL: none) hold one fp32 buffer a tensor. */
BIRD_API bird_result bird_compress_with_feedback(bird_compressor const* compressor,
                                                 bird_tensor const* tensors, size_t tensor_count,
                                                 bird_key key, void* packet, size_t packet_bytes,
                                                 void* scratch, size_t scratch_bytes, float* const* residual,
                                                 float* const* velocity, float momentum, bird_report* report,
                                                 bird_stream stream);

/* packet -> tensors, overwriting. */
BIRD_API bird_result bird_decompress(void const* packet, size_t packet_bytes, bird_tensor const* tensors,
                                     size_t tensor_count, bird_stream stream);

/* tensors += weights[i] * packets[i], in order. `weights` may be NULL (all 1). */
BIRD_API bird_result bird_apply(void const* const* packets, size_t const* packet_bytes, float const* weights,
                                size_t packet_count, bird_tensor const* tensors, size_t tensor_count,
                                bird_stream stream);

/* The same on a CUDA stream, where every buffer is in device memory: enqueued without waiting, with scratch
 * of bird_decode_scratch_bytes(). A packet is checked on the device; a bad one leaves the tensors as they
 * are. */
BIRD_API bird_result bird_decode_scratch_bytes(bird_compressor const* compressor, bird_tensor const* tensors,
                                               size_t tensor_count, size_t packet_count, size_t* bytes);
BIRD_API bird_result bird_decompress_enqueue(void const* packet, size_t packet_bytes,
                                             bird_tensor const* tensors, size_t tensor_count, void* scratch,
                                             size_t scratch_bytes, bird_stream stream);
BIRD_API bird_result bird_apply_enqueue(void const* const* packets, size_t const* packet_bytes,
                                        float const* weights, size_t packet_count, bird_tensor const* tensors,
                                        size_t tensor_count, void* scratch, size_t scratch_bytes,
                                        bird_stream stream);
/* Waits for the stream; BIRD_BAD_PACKET if the last call with this scratch refused a packet. */
BIRD_API bird_result bird_check_decoded(void const* scratch, size_t scratch_bytes, bird_stream stream);

/* bird_compress() for a CUDA graph: `step_counter`, in device memory, is added to key.step, and raised by one
 * at the end of every replay. */
BIRD_API bird_result bird_compress_replayable(bird_compressor const* compressor, bird_tensor const* tensors,
                                              size_t tensor_count, bird_key key, uint32_t* step_counter,
                                              void* packet, size_t packet_bytes, void* scratch,
                                              size_t scratch_bytes, bird_stream stream);

/* Bytes of the packet that starts at `packet`; checks its header and segment table. */
BIRD_API bird_result bird_packet_bytes(void const* packet, size_t available, size_t* bytes);

BIRD_API double bird_noise_adjusted_learning_rate(double lr_dense, double omega, int workers);

#ifdef __cplusplus
}
#endif

#endif /* BIRD_BIRD_H */

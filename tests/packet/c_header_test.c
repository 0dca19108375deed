/* The C header compiles as C99, and a C program can compress, decompress and add. */
#include "bird/bird.h"

#include <stdio.h>
#include <stdlib.h>

#define COUNT 1000

static int failures = 0;

static void check(int condition, char const* what)
{
  if (!condition) {
    fprintf(stderr, "c_header_test: %s (last error: %s)\n", what, bird_last_error());
    ++failures;
  }
}

/* Memory aligned to 16; C99 has no aligned_alloc. */
static void* aligned(void* memory) { return (void*)(((uintptr_t)memory + 15) / 16 * 16); }

int main(void)
{
  static float gradient[COUNT], decoded[COUNT];
  int64_t const shape[1] = {COUNT};
  bird_config config     = BIRD_CONFIG_INITIALIZER;
  bird_key const key     = {42, 1, 0};
  bird_tensor input      = {gradient, shape, NULL, 1, BIRD_FLOAT32, BIRD_SAMPLED, 0};
  bird_tensor output     = {decoded, shape, NULL, 1, BIRD_FLOAT32, BIRD_SAMPLED, 0};
  bird_compressor* codec = NULL;
  size_t capacity = 0, scratch_bytes = 0, bytes = 0;
  void *packet_memory, *scratch_memory;
  void const* packets[1];
  bird_report report;
  int i;

  for (i = 0; i < COUNT; ++i) {
    gradient[i] = (float)(i % 7) - 3.0f;
    decoded[i]  = 99.0f;
  }
  config.ratio = 1.0; /* lossless */
  check(bird_compressor_create(&config, &codec) == BIRD_SUCCESS, "create");
  check(bird_packet_capacity(codec, &input, 1, &capacity) == BIRD_SUCCESS, "packet_capacity");
  check(bird_compress_scratch_bytes(codec, &input, 1, &scratch_bytes) == BIRD_SUCCESS, "scratch_bytes");
  packet_memory  = malloc(capacity + 16);
  scratch_memory = malloc(scratch_bytes + 16);
  check(packet_memory != NULL && scratch_memory != NULL, "malloc");
  packets[0] = aligned(packet_memory);
  check(bird_compress(codec, &input, 1, key, aligned(packet_memory), capacity, aligned(scratch_memory),
                      scratch_bytes, &report, bird_host_stream()) == BIRD_SUCCESS,
        "compress");
  bytes = (size_t)report.packet_bytes;
  check(report.dense_bytes == COUNT * sizeof(float), "dense_bytes");
  check(bird_decompress(packets[0], bytes, &output, 1, bird_host_stream()) == BIRD_SUCCESS, "decompress");
  for (i = 0; i < COUNT; ++i) {
    check(decoded[i] == gradient[i], "decoded element differs");
  }
  check(bird_apply(packets, &bytes, NULL, 1, &output, 1, bird_host_stream()) == BIRD_SUCCESS, "apply");
  for (i = 0; i < COUNT; ++i) {
    check(decoded[i] == 2 * gradient[i], "applied element differs");
  }
  check(bird_decompress(packets[0], 10, &output, 1, bird_host_stream()) == BIRD_BAD_PACKET, "cut packet");
  check(bird_compressor_destroy(codec) == BIRD_SUCCESS, "destroy");
  free(packet_memory);
  free(scratch_memory);
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

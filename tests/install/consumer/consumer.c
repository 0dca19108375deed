/* consumer: a user of the installed C interface. Exits 0 if a packet comes back. */
#include <bird/bird.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
  float gradient[1000]     = {0};
  float decoded[1000]      = {-1};
  int64_t const shape[]    = {1000};
  bird_config const config = BIRD_CONFIG_INITIALIZER;
  bird_key const key       = {42, 0, 0};
  bird_tensor input        = {gradient, shape, NULL, 1, BIRD_FLOAT32, BIRD_SAMPLED, 0};
  bird_tensor output       = {decoded, shape, NULL, 1, BIRD_FLOAT32, BIRD_SAMPLED, 0};
  bird_compressor* codec   = NULL;
  size_t packet_bytes = 0, scratch_bytes = 0;
  void *packet, *scratch;

  gradient[7] = 1.5F;
  if (bird_compressor_create(&config, &codec) || bird_packet_capacity(codec, &input, 1, &packet_bytes) ||
      bird_compress_scratch_bytes(codec, &input, 1, &scratch_bytes)) {
    return 1;
  }
  packet  = malloc(packet_bytes);
  scratch = malloc(scratch_bytes);
  if (bird_compress(codec, &input, 1, key, packet, packet_bytes, scratch, scratch_bytes, NULL,
                    bird_host_stream()) ||
      bird_decompress(packet, packet_bytes, &output, 1, bird_host_stream())) {
    return 1;
  }
  free(packet);
  free(scratch);
  return bird_compressor_destroy(codec) || memcmp(gradient, decoded, sizeof gradient) != 0;
}

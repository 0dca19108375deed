/// rules_compile: every rule header, called from a kernel. It need not run; it must compile as device code
/// for every architecture, so that a rule that only the host understands fails here and not in a kernel.
#include "bi_random.cuh"
#include "draw.cuh"
#include "elias_fano.cuh"
#include "packet_layout.cuh"
#include "philox.cuh"
#include "power.cuh"
#include "real.cuh"
#include "rule.cuh"
#include "slot.cuh"
#include "systematic.cuh"
#include "tile_norm.cuh"
#include "uniform.cuh"
#include "values.cuh"
#include "weight.cuh"

namespace bird::rule {

__global__ void call_bi_random(float const* norms, std::uint64_t* thresholds)
{
  auto const tile  = threadIdx.x;
  thresholds[tile] = survival_threshold(norms[tile], norms[0], 0.5);
}

__global__ void call_draw(philox_key key, std::uint64_t* out)
{
  key    = stream_key(key.word[0], key.word[1], 0);
  out[0] = draw(key, 0, purpose::stratum, threadIdx.x);
  out[1] = zero_sign_bit(key, 0, 0, threadIdx.x);
  out[2] = below(1000, out[0]);
}

__global__ void call_elias_fano(std::uint64_t const* words, std::uint64_t* out)
{
  elias_fano const list{1000, 100};
  out[0] = list.words() + list.words_bound();
  out[1] = list.upper_position(out[0], threadIdx.x);
  out[2] = list.number(out[1], threadIdx.x, read_bits(words, threadIdx.x, list.low_bits()));
}

__global__ void call_packet_layout(packet_header const* header, segment_entry const* segment,
                                   std::uint64_t* out)
{
  std::uint64_t const tile  = segment_tile(segment->tile, 0, segment->count);
  std::uint64_t const tiles = tiles_of(segment->count, tile);
  std::uint64_t const slots = slots_of(0.1, tiles);
  out[0]                    = index_bytes(header->index, tiles, slots);
  out[1]                    = index_bytes_bound(header->index, tiles, slots);
  out[2]                    = starts_bytes(header->sampling, header->index, slots);
  out[3]                    = slot_elements(segment->role, segment->tile);
  out[4]                    = region_bytes(header->values, segment->role, 4, segment->count, tile, slots);
  out[5]                    = region_offset(out[4], header->values, segment->role);
  out[6]                    = checksum_fold(checksum_term(threadIdx.x, header->magic));
}

template <class T>
__global__ void call_real(float const* from, T* to, float* back)
{
  to[threadIdx.x]   = narrow_saturating<T>(from[threadIdx.x]);
  back[threadIdx.x] = widen(narrow_to<T>::from(from[threadIdx.x]));
}

__global__ void call_systematic(philox_key key, weight_bin_sum const* bins, std::uint64_t* out)
{
  certain_tiles const certain = choose_certain(bins, {1000, 10}, 100);
  systematic const sample{certain.sum, systematic_offset(key, 0, certain.sum), 100};
  slot_walk walk{sample, threadIdx.x};
  walk.advance();
  out[0] = walk.position() + sample.position(threadIdx.x) + sample.slots_below(threadIdx.x);
  out[1] = bits_of(sample.multiplier(threadIdx.x));
}

template <class T>
__global__ void call_tile_norm(T const* elements, std::uint64_t count, tile_norm* out)
{
  out[0] = norm_of(norm::l1, elements, count);
  out[1] = norm_of(norm::l2, elements, count);
}

__global__ void call_uniform(std::uint32_t word, std::uint64_t* out)
{
  out[threadIdx.x] = uniform_tile(stratum_of(threadIdx.x, 1000, 100), word);
}

template <class T>
__global__ void call_values(float* magnitudes, float* scales)
{
  magnitudes[0] = sign_magnitude(norm::l1, scales[0], 8);
  magnitudes[1] = sign_magnitude(norm::l2, scales[0], 8);
  scales[1]     = value_scale<T>(1.0e6);
}

__global__ void call_weight(float const* norms, std::uint64_t* out, double* unit)
{
  weight_scale const scale{norms[0], 1000};
  out[threadIdx.x] = bin_floor(weight_bin(scale.weight(norms[threadIdx.x])));
  *unit            = power(scale.unit(), 0.5);
}

template __global__ void call_real(float const*, float*, float*);
template __global__ void call_real(float const*, half16*, float*);
template __global__ void call_real(float const*, bfloat16*, float*);
template __global__ void call_tile_norm(float const*, std::uint64_t, tile_norm*);
template __global__ void call_tile_norm(half16 const*, std::uint64_t, tile_norm*);
template __global__ void call_tile_norm(bfloat16 const*, std::uint64_t, tile_norm*);
template __global__ void call_values<float>(float*, float*);
template __global__ void call_values<half16>(float*, float*);
template __global__ void call_values<bfloat16>(float*, float*);

}  // namespace bird::rule

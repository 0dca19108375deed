/// Turns lists of gradients into packets and packets into gradients.
///
/// The algorithm is BIRD (ICCD 2023) in the L1 form, and its neighbours: tiles of a tensor share one
/// index, are kept at random with probabilities that follow their norms, and are sent as one sign bit
/// an element or as their own values. See packet_format.md for what is sent.
///
/// Which unbiasedness holds:
///   - values::full and values::bf16 with systematic, uniform or bi_random: *element-wise*. The mean
///     decoded element equals the input's (bf16: equals the input's up to that rounding).
///   - values::sign with systematic, or with bi_random at gamma 1: *norm*. The mean decoded L1 (or L2,
///     see compressor_options::norm) norm of each tile equals its own, not each element.
///     With tiles of one element the two are the same.
///   - values::sign with uniform, or with bi_random at another gamma: the norm of each segment only.
///   - a companion's entry: as its tile, as long as that tile is not all zero; a zero tile is never sent.
///   - sampling::top: none; it is meant to be used with a residual.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "bird/api.h"
#include "bird/error.hpp"
#include "bird/packet.hpp"
#include "bird/span.hpp"
#include "bird/stream.hpp"
#include "bird/tensor.hpp"

namespace bird BIRD_API {

/// Everything that may be chosen. The defaults are the preset "tile".
struct compressor_options {
  bird::sampling sampling = sampling::systematic;
  bird::values values     = values::bf16;
  bird::index index       = index::elias_fano;
  bird::norm norm         = norm::l1;
  std::uint32_t tile      = 8;    ///< elements per tile; 0: a tile is a row (const_tensor_view::row)
  double ratio            = 0.1;  ///< share of each segment's tiles that is kept, 0 < ratio <= 1
  /// bi_random: tile j survives stage 1 with (a_j / max a)^gamma, 0 < gamma <= 16; with values that are not
  /// signs gamma <= 1, since the variance of a / q is unbounded above.
  double gamma = 1.0;
  /// uniform: never look at a tile that is not kept. Fastest there is, but an Inf or NaN elsewhere goes
  /// unseen.
  bool blind = false;
};

/// The presets of the documentation: "tile", "sign1", "paper", "block".
/// @throws invalid_argument naming an unknown preset
[[nodiscard]] BIRD_API compressor_options preset(std::string_view name);

/// Names one sample. Equal keys give equal samples on every rank, device and run.
struct sample_key {
  std::uint64_t seed      = 0;
  std::uint32_t step      = 0;
  std::uint32_t tensor_id = 0;  ///< tells apart lists that are compressed in the same step
};

/// Memory of an error-feedback compressor; the caller owns it and pays for it: 4 or 8 bytes an element.
/// Each inner pointer addresses the fp32 buffer of one tensor of the list, with as many elements, where the
/// tensors are: on the host or on the device. The lists of pointers themselves are read during the call.
struct feedback {
  span<float* const> residual;  ///< what earlier packets left behind; one pointer a tensor
  span<float* const> velocity;  ///< momentum correction (DGC, section 3.1); empty: none
  float momentum = 0.0F;        ///< factor of the velocity, 0 <= momentum < 1

  [[nodiscard]] bool active() const noexcept { return !residual.empty(); }
};

/// What a compress() call did. Host calls fill it before they return.
struct compress_report {
  std::uint64_t dense_bytes  = 0;  ///< of the input
  std::uint64_t packet_bytes = 0;  ///< of the packet as written
  std::uint64_t kept_slots   = 0;  ///< draws that the packet carries
  std::uint64_t tiles        = 0;
  bool non_finite            = false;  ///< an Inf or NaN somewhere in the input, sampled or not
  double seconds             = 0;      ///< spent in the codec (host)

  /// Relative variance of the sample, E|decoded - g|^2 / |g|^2, estimated from what was kept
  /// (Horvitz-Thompson) and therefore free. 0 for a lossless packet. For sampling::top it is the
  /// error of this very packet.
  double omega = 0;
};

/// Learning rate for gradients that carry sampling noise: lr_dense / (1 + omega / workers).
/// A rule of thumb on the high side; start at half of it.
[[nodiscard]] BIRD_API double noise_adjusted_learning_rate(double lr_dense, double omega, int workers);

/// Turns gradients into packets and packets into gradients. Holds options only: no memory, no stream,
/// no state. One object may serve many threads and streams at once.
class compressor {
 public:
  /// @throws invalid_argument naming the option and its value
  explicit compressor(compressor_options options);

  [[nodiscard]] compressor_options const& options() const noexcept { return options_; }

  /// Bytes that no packet of such a list exceeds, whatever the data. Depends on counts, rows, roles,
  /// dtype and options alone.
  [[nodiscard]] std::size_t packet_capacity(span<const_tensor_view const> tensors) const;

  /// Scratch that compress() needs for such a list, on the host or on a device.
  [[nodiscard]] std::size_t compress_scratch_bytes(span<const_tensor_view const> tensors) const;

  /// Scratch that decompress() (one packet) and apply() need on a device, for packets that a compressor of
  /// these options made of such a list. The host needs none.
  [[nodiscard]] std::size_t decode_scratch_bytes(span<const_tensor_view const> tensors,
                                                 std::size_t packets = 1) const;

  /// tensors -> packet. With a CUDA stream all buffers are in memory of the current device (residuals and
  /// velocities too), the work is enqueued in two kernels, five with error feedback, without allocation or
  /// waiting, and may be captured in a graph; the report then tells only what is known beforehand
  /// (dense_bytes, tiles), and the rest is in the packet.
  /// @param packet  16-byte aligned, at least packet_capacity(tensors) bytes
  /// @param scratch 16-byte aligned, at least compress_scratch_bytes(tensors) bytes; contents are lost
  /// @param memory  error feedback; only with sampling::top, since a sampler with a residual diverges
  /// @returns what was done; packet.first(report.packet_bytes) is the packet
  /// @throws invalid_argument before anything is written
  compress_report compress(span<const_tensor_view const> tensors, sample_key key, span<std::byte> packet,
                           span<std::byte> scratch, feedback memory, stream_ref stream) const;
  compress_report compress(span<const_tensor_view const> tensors, sample_key key, span<std::byte> packet,
                           span<std::byte> scratch, stream_ref stream) const;

  /// compress() for CUDA graphs: `step_counter` is a number in memory of the current device that is added to
  /// key.step, and that the call raises by one when it is done. So each replay of the captured call draws a
  /// sample of its own. Only with a CUDA stream.
  compress_report compress_replayable(span<const_tensor_view const> tensors, sample_key key,
                                      std::uint32_t* step_counter, span<std::byte> packet,
                                      span<std::byte> scratch, stream_ref stream) const;

 private:
  compressor_options options_;
};

/// packet -> tensors: overwrites every element; what was not kept becomes zero. A segment that held an
/// Inf or NaN, sampled or not, decodes to NaN in its first element, so that loss scalers see it.
///
/// The packet says how it was made, so no compressor is needed. The tensors may have another dtype
/// than the packet.
/// @throws bad_packet       when the bytes are not a sound packet; nothing is written then
/// @throws invalid_argument when the tensors are not those of the packet, naming the segment
///
/// With a CUDA stream everything is in memory of the current device. The packet is checked there, before the
/// first write: a bad one leaves the tensors as they are, and check_decoded() tells of it. `packet` may be
/// longer than what it holds.
/// @param scratch 16-byte aligned, compressor::decode_scratch_bytes(tensors); unused on the host
BIRD_API void decompress(span<std::byte const> packet, span<tensor_view const> tensors,
                         span<std::byte> scratch, stream_ref stream);
BIRD_API void decompress(span<std::byte const> packet, span<tensor_view const> tensors, stream_ref stream);

/// One packet's share of a sum.
struct weighted_packet {
  span<std::byte const> packet;
  float weight = 1.0F;
};

/// tensors += weight * packet, for all packets in the order given (the server's stage). Each element
/// sees the packets in that order, so the sum's bits depend on neither threads nor arrival.
/// Same errors as decompress(); all packets are checked before the first write.
/// On a device at most 128 packets in a call, and their checks are those of decompress().
/// @param scratch 16-byte aligned, compressor::decode_scratch_bytes(tensors, packets); unused on the host
BIRD_API void apply(span<weighted_packet const> packets, span<tensor_view const> tensors,
                    span<std::byte> scratch, stream_ref stream);
BIRD_API void apply(span<weighted_packet const> packets, span<tensor_view const> tensors, stream_ref stream);

/// Waits for the stream, and tells how the last decompress() or apply() with this scratch ended. Nothing on
/// the host, where those calls throw themselves.
/// @throws bad_packet naming the packet and what is wrong with it
BIRD_API void check_decoded(span<std::byte const> scratch, stream_ref stream);

}  // namespace bird

/// Calls of the codec as a careful user makes them: buffers of exactly the size asked for, poisoned first.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "bird/compressor.hpp"
#include "packet/reference_decoder.hpp"
#include "real.cuh"

namespace codec_test {

static_assert(__STDCPP_DEFAULT_NEW_ALIGNMENT__ >= 16, "a vector's memory serves as packet and scratch");
inline constexpr std::byte poison{0xA5};

/// Elements rounded to a dtype, as their bytes.
inline std::vector<std::byte> stored(std::vector<float> const& elements, bird::dtype type)
{
  std::vector<std::byte> bytes(elements.size() * bird::element_bytes(type));
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (type == bird::dtype::float32) {
      std::memcpy(bytes.data() + 4 * i, &elements[i], 4);
    } else {
      std::uint16_t const bits = type == bird::dtype::float16
                                   ? bird::rule::narrow_to<bird::rule::half16>::from(elements[i]).bits
                                   : bird::rule::narrow_to<bird::rule::bfloat16>::from(elements[i]).bits;
      std::memcpy(bytes.data() + 2 * i, &bits, 2);
    }
  }
  return bytes;
}

inline std::vector<float> widened(std::vector<std::byte> const& bytes, bird::dtype type)
{
  std::vector<float> elements(bytes.size() / bird::element_bytes(type));
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (type == bird::dtype::float32) {
      std::memcpy(&elements[i], bytes.data() + 4 * i, 4);
    } else {
      std::uint16_t bits = 0;
      std::memcpy(&bits, bytes.data() + 2 * i, 2);
      elements[i] = type == bird::dtype::float16 ? bird::rule::widen(bird::rule::half16{bits})
                                                 : bird::rule::widen(bird::rule::bfloat16{bits});
    }
  }
  return elements;
}

/// A tensor that owns its elements.
struct tensor {
  std::vector<std::byte> bytes;
  bird::const_tensor_view shape;

  explicit tensor(std::vector<float> const& elements, bird::dtype type = bird::dtype::float32,
                  bird::segment_role role = bird::segment_role::sampled, std::uint32_t row = 0)
    : bytes{stored(elements, type)}, shape{nullptr, elements.size(), type, row, role}
  {
  }
  [[nodiscard]] bird::const_tensor_view view() const
  {
    bird::const_tensor_view view = shape;
    view.data                    = bytes.data();
    return view;
  }
};

inline std::vector<bird::const_tensor_view> views_of(std::vector<tensor> const& tensors)
{
  std::vector<bird::const_tensor_view> views;
  for (tensor const& one : tensors) {
    views.push_back(one.view());
  }
  return views;
}

struct compressed {
  std::vector<std::byte> packet;  ///< exactly the packet
  bird::compress_report report;

  [[nodiscard]] bird::packet_view view() const { return bird::parse_packet(packet); }
  [[nodiscard]] reference::decoded_packet decoded() const
  {
    return reference::decode(reinterpret_cast<std::uint8_t const*>(packet.data()));
  }
};

inline compressed compress(bird::compressor_options const& options,
                           std::vector<bird::const_tensor_view> const& views, bird::sample_key key,
                           bird::feedback memory = {})
{
  bird::compressor const codec{options};
  std::vector<std::byte> packet(codec.packet_capacity(views), poison);
  std::vector<std::byte> scratch(codec.compress_scratch_bytes(views), poison);
  compressed result;
  result.report = codec.compress(views, key, packet, scratch, memory, bird::on_host);
  packet.resize(result.report.packet_bytes);
  packet.shrink_to_fit();
  result.packet = std::move(packet);
  return result;
}

inline compressed compress(bird::compressor_options const& options, std::vector<tensor> const& tensors,
                           bird::sample_key key, bird::feedback memory = {})
{
  return compress(options, views_of(tensors), key, memory);
}

inline compressed compress(bird::compressor_options const& options, std::vector<float> const& elements,
                           bird::sample_key key)
{
  return compress(options, std::vector<tensor>{tensor{elements}}, key);
}

/// What the library decodes, widened to float.
inline std::vector<std::vector<float>> decompress(std::vector<std::byte> const& packet,
                                                  bird::dtype type = bird::dtype::float32)
{
  std::vector<std::vector<std::byte>> outputs;
  std::vector<bird::tensor_view> views;
  bird::packet_view const view = bird::parse_packet(packet);
  for (bird::segment_entry const& segment : view.segments) {
    outputs.emplace_back(segment.count * bird::element_bytes(type), poison);
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    views.push_back({outputs[i].data(), view.segments[i].count, type});
  }
  bird::decompress(packet, views, bird::on_host);
  std::vector<std::vector<float>> elements;
  for (std::vector<std::byte> const& output : outputs) {
    elements.push_back(widened(output, type));
  }
  return elements;
}

inline bird::compressor_options options_of(bird::sampling how, bird::values what, std::uint32_t tile,
                                           double ratio, double gamma = 1.0, bird::norm norm = bird::norm::l1,
                                           bird::index names = bird::index::elias_fano)
{
  bird::compressor_options options;
  options.sampling = how;
  options.values   = what;
  options.index    = names;
  options.norm     = norm;
  options.tile     = tile;
  options.ratio    = ratio;
  options.gamma    = gamma;
  return options;
}

inline constexpr bird::sampling all_samplings[] = {bird::sampling::bi_random, bird::sampling::systematic,
                                                   bird::sampling::uniform, bird::sampling::top};
inline constexpr bird::values all_values[] = {bird::values::sign, bird::values::full, bird::values::bf16};
inline constexpr bird::index all_indices[] = {bird::index::u32, bird::index::bitmap, bird::index::elias_fano};
inline constexpr bird::dtype all_dtypes[]  = {bird::dtype::float32, bird::dtype::float16,
                                              bird::dtype::bfloat16};

/// "systematic sign elias_fano tile 8 ratio 0.1", to say which case of a loop failed.
inline std::string name_of(bird::compressor_options const& options)
{
  return std::string{bird::to_string(options.sampling)} + ' ' + bird::to_string(options.values) + ' ' +
         bird::to_string(options.index) + ' ' + bird::to_string(options.norm) + " tile " +
         std::to_string(options.tile) + " ratio " + std::to_string(options.ratio) + " gamma " +
         std::to_string(options.gamma);
}

/// `text` must stand in the message, so that a test knows which check refused.
#define EXPECT_INVALID(statement, text)                                                 \
  try {                                                                                 \
    static_cast<void>(statement);                                                       \
    ADD_FAILURE() << "nothing was thrown; expected \"" << (text) << '"';                \
  } catch (bird::invalid_argument const& error) {                                       \
    EXPECT_NE(std::string{error.what()}.find(text), std::string::npos) << error.what(); \
  }

}  // namespace codec_test

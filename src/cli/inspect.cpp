/// bird inspect: what is in a packet, or in a dump of gradients.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bird/packet.hpp"
#include "commands.hpp"
#include "report_text.hpp"

namespace bird::cli {
namespace {

constexpr std::uint64_t largest_file = std::uint64_t{1} << 33;  ///< refuses to load what is no packet or dump

/// A file, aligned as parse_packet asks for.
struct file_bytes {
  std::vector<std::uint64_t> words;
  std::size_t size = 0;

  [[nodiscard]] span<std::byte const> bytes() const
  {
    return {reinterpret_cast<std::byte const*>(words.data()), size};
  }
};

file_bytes read_file(std::filesystem::path const& file)
{
  std::error_code error;
  std::uint64_t const size = std::filesystem::file_size(file, error);
  if (error) {
    throw invalid_argument{fmt::format("{} cannot be read: {}", file.string(), error.message())};
  }
  if (size > largest_file) {
    throw invalid_argument{fmt::format("{} has {} bytes, more than a packet or dump", file.string(), size)};
  }
  file_bytes content;
  content.size = static_cast<std::size_t>(size);
  content.words.resize(content.size / 8 + 2);
  std::ifstream in{file, std::ios::binary};
  in.read(reinterpret_cast<char*>(content.words.data()), static_cast<std::streamsize>(content.size));
  if (!in) {
    throw invalid_argument{fmt::format("{} cannot be read: {}", file.string(), std::strerror(errno))};
  }
  return content;
}

std::string share(std::uint64_t part, std::uint64_t whole)
{
  return whole == 0 ? "-"
                    : fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

void print_packet(packet_view const& packet)
{
  packet_header const& header = packet.header;
  std::uint64_t const size    = packet.bytes.size();
  std::uint64_t const dense   = header.element_count * element_bytes(header.type);
  fmt::print("packet      version {}, {}, {} elements in {} segments{}\n", header.version,
             to_string(header.type), header.element_count, header.segment_count,
             (header.flags & header_flag::non_finite) != 0 ? ", NON-FINITE input" : "");
  fmt::print("codec       {}, {}, {}, norm {}, tile {}\n", to_string(header.sampling),
             to_string(header.values), to_string(header.index), to_string(header.norm),
             header.tile == 0 ? std::string{"row"} : std::to_string(header.tile));
  fmt::print("key         seed {}, step {}, tensor id {}\n", header.seed, header.step, header.tensor_id);
  fmt::print("kept        {} slots of {} tiles ({})\n", header.slot_count, packet.tile_count,
             share(header.slot_count, packet.tile_count));
  fmt::print("size        {} B of at most {}, {} of plain elements; checksum {:08x}\n", size, header.capacity,
             trainer::fraction_text(static_cast<double>(size), static_cast<double>(dense)), header.checksum);
  auto const section = [&](char const* name, std::size_t from, std::size_t to) {
    fmt::print("  {:<9} {:>12} B  {:>7}\n", name, to - from, share(to - from, size));
  };
  section("header", 0, sizeof(packet_header));
  section("segments", sizeof(packet_header), packet.index_offset);
  section("index", packet.index_offset, packet.starts_offset);
  section("starts", packet.starts_offset, packet.values_offset);
  section("values", packet.values_offset, size);
  fmt::print("\nsegment       elements  role          tile       slots         scale\n");
  for (std::size_t i = 0; i < packet.segments.size(); ++i) {
    segment_entry const& entry = packet.segments[i];
    fmt::print("{:>7}  {:>13}  {:<9}  {:>7}  {:>10}  {:>12.6g}{}\n", i, entry.count, to_string(entry.role),
               entry.tile, entry.slots, entry.scale,
               (entry.flags & header_flag::non_finite) != 0 ? "  NON-FINITE" : "");
  }
}

/// One tensor of a dump, all of it inside the file.
struct dumped_tensor {
  std::string name, shape;
  span<std::byte const> bytes;
};

/// @throws invalid_argument unless the bytes are a safetensors file of floats
std::vector<dumped_tensor> tensors_of(span<std::byte const> bytes)
{
  std::uint64_t length = 0;
  if (bytes.size() >= 8) {
    std::memcpy(&length, bytes.data(), 8);
  }
  if (bytes.size() < 8 || length > bytes.size() - 8) {
    throw invalid_argument{"neither a packet nor a safetensors file"};
  }
  auto const* const text = reinterpret_cast<char const*>(bytes.data()) + 8;
  auto const header      = nlohmann::ordered_json::parse(text, text + length, nullptr, false);
  if (!header.is_object()) {
    throw invalid_argument{"neither a packet nor a safetensors file"};
  }
  auto const data = bytes.subspan(8 + static_cast<std::size_t>(length));
  std::vector<dumped_tensor> tensors;
  for (auto const& [name, entry] : header.items()) {
    if (name == "__metadata__") {
      continue;
    }
    try {
      auto const first = entry.at("data_offsets").at(0).get<std::uint64_t>();
      auto const end   = entry.at("data_offsets").at(1).get<std::uint64_t>();
      if (entry.at("dtype") != "F32" || first > end || end > data.size() ||
          (end - first) % sizeof(float) != 0) {
        throw invalid_argument{fmt::format("tensor \"{}\" is not float32 or lies outside the file", name)};
      }
      tensors.push_back({name, entry.at("shape").dump(), data.subspan(first, end - first)});
    } catch (nlohmann::json::exception const&) {
      throw invalid_argument{fmt::format("tensor \"{}\" lacks its dtype, shape or data_offsets", name)};
    }
  }
  return tensors;
}

constexpr int decades = 8;  ///< bars of the histogram: below the largest by so many powers of ten

struct magnitude_counts {
  std::uint64_t count = 0, zeros = 0, non_finite = 0;
  double sum = 0, squares = 0, largest = 0;
  std::array<std::uint64_t, decades>
    histogram{};  ///< [i]: largest * 10^-i down to a tenth of it; last: all below
};

magnitude_counts count_magnitudes(span<std::byte const> bytes)
{
  magnitude_counts counts;
  counts.count        = bytes.size() / sizeof(float);
  auto const value_at = [&](std::uint64_t i) {
    float value = 0;
    std::memcpy(&value, bytes.data() + i * sizeof(float), sizeof value);
    return std::fabs(static_cast<double>(value));
  };
  for (std::uint64_t i = 0; i < counts.count; ++i) {
    double const value = value_at(i);
    if (!std::isfinite(value)) {
      ++counts.non_finite;
      continue;
    }
    counts.zeros += value == 0 ? 1 : 0;
    counts.sum += value;
    counts.squares += value * value;
    counts.largest = std::max(counts.largest, value);
  }
  for (std::uint64_t i = 0; i < counts.count; ++i) {
    double const value = value_at(i);
    if (std::isfinite(value) && value > 0) {
      double const below = std::floor(std::log10(counts.largest / value));
      ++counts.histogram[static_cast<std::size_t>(std::clamp(below, 0.0, decades - 1.0))];
    }
  }
  return counts;
}

void print_tensors(std::vector<dumped_tensor> const& tensors)
{
  fmt::print(
    "{:<16} {:<14} {:>9} {:>8} {:>11} {:>11} {:>8}  share of elements a factor 10, 100, ... below the "
    "largest\n",
    "tensor", "shape", "elements", "zeros", "mean |x|", "largest", "L1^2/nL2");
  for (dumped_tensor const& tensor : tensors) {
    magnitude_counts const counts = count_magnitudes(tensor.bytes);
    auto const n                  = static_cast<double>(counts.count);
    // 1 for equal magnitudes, 0.64 for Gauss, 0.5 for Laplace: what a norm-proportional sampler's noise
    // follows.
    std::string const flatness =
      counts.squares > 0 ? fmt::format("{:.3f}", counts.sum * counts.sum / (n * counts.squares)) : "-";
    std::string bars;
    for (std::uint64_t const bar : counts.histogram) {
      bars += fmt::format(" {:>6}", share(bar, counts.count));
    }
    fmt::print("{:<16} {:<14} {:>9} {:>8} {:>11.4g} {:>11.4g} {:>8} {}{}\n", tensor.name, tensor.shape,
               counts.count, share(counts.zeros, counts.count), n > 0 ? counts.sum / n : 0.0, counts.largest,
               flatness, bars,
               counts.non_finite > 0 ? fmt::format("  {} NON-FINITE", counts.non_finite) : "");
  }
}

int run(std::filesystem::path const& file)
{
  file_bytes const content = read_file(file);
  auto const bytes         = content.bytes();
  std::uint32_t magic      = 0;
  std::memcpy(&magic, bytes.data(), std::min(sizeof magic, bytes.size()));
  try {
    if (magic == packet_magic) {
      print_packet(parse_packet(bytes));
    } else {
      print_tensors(tensors_of(bytes));
    }
  } catch (std::exception const& error) {
    throw invalid_argument{fmt::format("{}: {}", file.string(), error.what())};
  }
  return 0;
}

}  // namespace

void add_inspect_command(CLI::App& app, int& exit_code)
{
  CLI::App* const command = app.add_subcommand("inspect", "Show what is in a packet or a dump of gradients");
  auto const file         = std::make_shared<std::filesystem::path>();
  command->add_option("FILE", *file, "a packet, or a safetensors file of --dump-gradients")->required();
  command->callback([file, &exit_code] { exit_code = run(*file); });
}

}  // namespace bird::cli

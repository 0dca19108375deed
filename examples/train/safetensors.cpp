#include "safetensors.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace bird::trainer {

void write_safetensors(std::filesystem::path const& file, span<named_array const> arrays)
{
  auto header          = nlohmann::ordered_json::object();
  std::uint64_t offset = 0;
  for (named_array const& array : arrays) {
    std::uint64_t const end = offset + array.values.size_bytes();
    header[array.name]      = {{"dtype", "F32"}, {"shape", array.extents}, {"data_offsets", {offset, end}}};
    offset                  = end;
  }
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');  // the format's way to align the data

  std::ofstream out{file, std::ios::binary};
  std::uint8_t length[8];
  for (unsigned i = 0; i < 8; ++i) {
    length[i] = static_cast<std::uint8_t>(text.size() >> (8 * i));
  }
  out.write(reinterpret_cast<char const*>(length), 8);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  for (named_array const& array : arrays) {
    out.write(reinterpret_cast<char const*>(array.values.data()),
              static_cast<std::streamsize>(array.values.size_bytes()));
  }
  out.flush();
  if (!out) {
    throw std::runtime_error{fmt::format("{}: cannot be written", file.string())};
  }
}

}  // namespace bird::trainer

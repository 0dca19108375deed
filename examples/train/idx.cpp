#include "idx.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <cstddef>
#include <cstring>
#include <memory>

#include "dataset.hpp"

namespace bird::trainer {
namespace {

constexpr std::uint8_t unsigned_byte_code = 0x08;
/// More than any file of this format that we know; keeps a damaged header from asking for the moon.
constexpr std::uint64_t largest_array = 1ULL << 30;

[[noreturn]] void refuse(std::filesystem::path const& file, std::string const& what)
{
  throw bad_dataset{fmt::format("{}: {}", file.string(), what)};
}

struct close_gzip {
  void operator()(gzFile handle) const { gzclose_r(handle); }
};

class gzip_reader {
 public:
  explicit gzip_reader(std::filesystem::path const& file) : file_{file}
  {
    std::error_code error;
    if (!std::filesystem::exists(file, error)) {
      refuse(
        file,
        "no such file; install the data with `apt-get install dataset-fashion-mnist` or name their folder "
        "with --data");
    }
    handle_.reset(std::filesystem::is_regular_file(file, error) ? gzopen(file.c_str(), "rb") : nullptr);
    if (!handle_) {
      refuse(file, "cannot be opened for reading");
    }
    gzbuffer(handle_.get(), 1U << 17);
    if (gzdirect(handle_.get()) != 0) {
      refuse(file, "is not a gzip file");
    }
  }

  /// Up to `size` bytes; fewer at the end of the data.
  std::size_t read(void* target, std::size_t size)
  {
    int const got = gzread(handle_.get(), target, static_cast<unsigned>(size));
    int code      = Z_OK;
    gzerror(handle_.get(), &code);
    if (got < 0 || (code != Z_OK && code != Z_STREAM_END)) {
      refuse(file_, code == Z_BUF_ERROR ? "is cut off: the gzip stream has no end"
                                        : "is damaged: the gzip stream does not decode");
    }
    return static_cast<std::size_t>(got);
  }

 private:
  std::filesystem::path const& file_;
  std::unique_ptr<gzFile_s, close_gzip> handle_;
};

std::uint32_t big_endian(std::uint8_t const* bytes)
{
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 |
         std::uint32_t{bytes[3]};
}

}  // namespace

idx_array read_idx(std::filesystem::path const& file, std::uint32_t dimensions)
{
  gzip_reader reader{file};
  std::uint8_t magic[4];
  if (reader.read(magic, 4) != 4 || magic[0] != 0 || magic[1] != 0) {
    refuse(file, "is not an IDX file: its first two bytes are not zero");
  }
  if (magic[2] != unsigned_byte_code) {
    refuse(file, fmt::format("has element type 0x{:02X}, expected 0x08 (unsigned bytes)", magic[2]));
  }
  if (magic[3] != dimensions) {
    refuse(file, fmt::format("has {} dimensions, expected {}", magic[3], dimensions));
  }

  idx_array array;
  std::uint64_t size = 1;
  for (std::uint32_t i = 0; i < dimensions; ++i) {
    std::uint8_t extent[4];
    if (reader.read(extent, 4) != 4) {
      refuse(file, "ends inside its header");
    }
    array.extents.push_back(big_endian(extent));
    size *= array.extents.back();
    if (size == 0 || size > largest_array) {
      refuse(file,
             fmt::format("has an extent of {} in dimension {}, which cannot be", array.extents.back(), i));
    }
  }

  array.bytes.resize(size);
  std::size_t const got = reader.read(array.bytes.data(), size);
  if (got != size) {
    refuse(file, fmt::format("holds {} bytes of data, its header says {}", got, size));
  }
  std::uint8_t more = 0;
  if (reader.read(&more, 1) != 0) {
    refuse(file, fmt::format("holds more data than the {} bytes that its header says", size));
  }
  return array;
}

}  // namespace bird::trainer

/// Writes the golden packets and what they decode to: PACKETS/NAME.bird, and DECODED/NAME.f32 as binary32
/// numbers.
///
/// For a new version of the format only. A change that makes this program write other bytes for a version
/// that has been released is a mistake.
#include <cstdio>
#include <exception>
#include <stdexcept>

#include "golden_packets.hpp"

namespace {

void write_file(std::string const& path, void const* data, std::size_t bytes)
{
  std::ofstream file{path, std::ios::binary};
  file.write(static_cast<char const*>(data), static_cast<std::streamsize>(bytes));
  if (!file.flush()) {
    throw std::runtime_error{"cannot write " + path};
  }
}

}  // namespace

int main(int argc, char** argv)
{
  if (argc != 3) {
    std::fprintf(stderr, "usage: write_golden_packets PACKETS DECODED\n");
    return 2;
  }
  try {
    for (reference::golden_packet const& golden : reference::golden_packets()) {
      auto const packet  = reference::encode(golden);
      auto const decoded = reference::decode_with_library(packet.bytes());
      write_file(std::string{argv[1]} + "/" + golden.name + ".bird", packet.bytes().data(),
                 packet.bytes().size());
      write_file(std::string{argv[2]} + "/" + golden.name + ".f32", decoded.data(),
                 decoded.size() * sizeof(float));
    }
  } catch (std::exception const& error) {
    std::fprintf(stderr, "write_golden_packets: %s\n", error.what());
    return 2;
  }
  return 0;
}

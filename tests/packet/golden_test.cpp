/// Golden packets: what was written once is written and read the same way for ever.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <set>
#include <sstream>

#include "golden_packets.hpp"
#include "packet_builder.hpp"

namespace {

class Golden : public testing::TestWithParam<reference::golden_packet> {
 protected:
  std::string const path         = std::string{BIRD_GOLDEN_FOLDER} + "/" + GetParam().name;
  std::string const decoded_path = std::string{BIRD_GOLDEN_FOLDER} + "_decoded/" + GetParam().name + ".f32";
};

TEST_P(Golden, IsWhatTheEncoderWrites)
{
  reference::bytes const golden = reference::read_file(path + ".bird");
  ASSERT_FALSE(golden.empty()) << path;
  auto const packet = reference::encode(GetParam());
  auto const* bytes = reinterpret_cast<std::uint8_t const*>(packet.bytes().data());
  EXPECT_EQ(reference::bytes(bytes, bytes + packet.bytes().size()), golden);
}

TEST_P(Golden, DecodesToWhatWasRecorded)
{
  reference::bytes const recorded = reference::read_file(decoded_path);
  reference::aligned_bytes const golden{reference::read_file(path + ".bird")};
  std::vector<float> const decoded = reference::decode_with_library(golden.span());
  ASSERT_EQ(decoded.size() * sizeof(float), recorded.size());
  EXPECT_EQ(std::memcmp(decoded.data(), recorded.data(), recorded.size()), 0);
}

TEST_P(Golden, IsDecodedAlikeFromTheSpecificationAlone)
{
  reference::bytes const golden   = reference::read_file(path + ".bird");
  reference::bytes const recorded = reference::read_file(decoded_path);
  std::vector<float> decoded;
  for (auto const& elements : reference::decode(golden.data()).elements) {
    decoded.insert(decoded.end(), elements.begin(), elements.end());
  }
  ASSERT_EQ(decoded.size() * sizeof(float), recorded.size());
  EXPECT_EQ(std::memcmp(decoded.data(), recorded.data(), recorded.size()), 0);
}

INSTANTIATE_TEST_SUITE_P(Version1, Golden, testing::ValuesIn(reference::golden_packets()),
                         [](auto const& test) { return test.param.name; });

/// Bytes of the lines that look like "0010  08 00 ...  explanation".
reference::bytes bytes_of_dump(std::string const& path)
{
  constexpr std::size_t bytes_at = 6, bytes_width = 47;
  reference::bytes bytes;
  std::ifstream file{path};
  for (std::string line; std::getline(file, line);) {
    char expected[8];
    std::snprintf(expected, sizeof expected, "%04zx  ", bytes.size());
    if (line.compare(0, bytes_at, expected) == 0) {
      std::istringstream row{line.substr(bytes_at, bytes_width)};
      for (unsigned byte; row >> std::hex >> byte;) {
        bytes.push_back(static_cast<std::uint8_t>(byte));
      }
    }
  }
  return bytes;
}

TEST(Specification, ShowsTheBytesOfItsExample)
{
  EXPECT_EQ(bytes_of_dump(BIRD_FORMAT_FILE),
            reference::read_file(std::string{BIRD_GOLDEN_FOLDER} + "/example.bird"));
}

TEST(GoldenPackets, HaveEachCodeOfTheFormat)
{
  std::set<int> samplings, values, indices, norms, types;
  for (reference::golden_packet const& golden : reference::golden_packets()) {
    samplings.insert(static_cast<int>(golden.options.sampling));
    values.insert(static_cast<int>(golden.options.values));
    indices.insert(static_cast<int>(golden.options.index));
    norms.insert(static_cast<int>(golden.options.norm));
    types.insert(static_cast<int>(golden.type));
  }
  EXPECT_EQ(samplings, (std::set<int>{1, 2, 3, 4}));
  EXPECT_EQ(values, (std::set<int>{1, 2, 3}));
  EXPECT_EQ(indices, (std::set<int>{1, 2, 3}));
  EXPECT_EQ(norms, (std::set<int>{1, 2}));
  EXPECT_EQ(types, (std::set<int>{1, 2, 3}));
}

}  // namespace

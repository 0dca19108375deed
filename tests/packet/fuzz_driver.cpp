/// Runs the fuzz target without libFuzzer: packet_fuzz [-runs=N] [-seed=S] FILE_OR_FOLDER...
///
/// Every file once as it is, then N mutations of files chosen at random. The same arguments give the same
/// inputs.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "packet_fuzz.hpp"

namespace {

using bytes = std::vector<std::uint8_t>;

bytes read_file(std::filesystem::path const& path)
{
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
}

/// All files of a folder, in the order of their names.
std::vector<bytes> read_corpus(std::vector<std::string> const& paths)
{
  std::vector<std::filesystem::path> files;
  for (std::string const& path : paths) {
    if (std::filesystem::is_directory(path)) {
      for (auto const& entry : std::filesystem::directory_iterator{path}) {
        files.push_back(entry.path());
      }
    } else {
      files.emplace_back(path);
    }
  }
  std::sort(files.begin(), files.end());
  std::vector<bytes> corpus;
  for (auto const& file : files) {
    corpus.push_back(read_file(file));
  }
  return corpus;
}

class mutator {
 public:
  explicit mutator(std::uint32_t seed) : random_{seed} {}

  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : random_() % bound; }
  std::uint32_t word() { return static_cast<std::uint32_t>(random_()); }

  void mutate(bytes& packet)
  {
    for (std::size_t changes = 1 + below(3); changes > 0 && !packet.empty(); --changes) {
      change(packet);
    }
  }

 private:
  void change(bytes& packet)
  {
    std::size_t const at = below(below(2) == 0 ? packet.size() : std::min<std::size_t>(packet.size(), 300));
    switch (below(7)) {
      case 0:
        packet[at] = static_cast<std::uint8_t>(packet[at] ^ 1U << below(8));
        return;
      case 1:
        packet[at] = static_cast<std::uint8_t>(word());
        return;
      case 2:
        packet[at] = static_cast<std::uint8_t>(packet[at] + below(7) - 3);
        return;
      case 3: {  // an extreme number
        constexpr std::uint8_t extremes[] = {0, 1, 0x7F, 0x80, 0xFF};
        std::fill_n(packet.begin() + static_cast<std::ptrdiff_t>(at),
                    std::min<std::size_t>(4, packet.size() - at), extremes[below(5)]);
        return;
      }
      case 4: {  // one part over another
        std::size_t const from  = below(packet.size());
        std::size_t const count = std::min({below(40), packet.size() - from, packet.size() - at});
        bytes const part(packet.begin() + static_cast<std::ptrdiff_t>(from),
                         packet.begin() + static_cast<std::ptrdiff_t>(from + count));
        std::copy(part.begin(), part.end(), packet.begin() + static_cast<std::ptrdiff_t>(at));
        return;
      }
      case 5:
        packet.resize(below(packet.size() + 1));
        return;
      default:
        packet.resize(packet.size() + 4 * below(16), 0);
        return;
    }
  }

  std::mt19937 random_;
};

}  // namespace

int main(int argc, char** argv)
{
  unsigned long runs = 100'000;
  unsigned long seed = 1;
  std::vector<std::string> paths;
  for (int i = 1; i < argc; ++i) {
    std::string const argument = argv[i];
    if (argument.rfind("-runs=", 0) == 0) {
      runs = std::strtoul(argument.c_str() + 6, nullptr, 10);
    } else if (argument.rfind("-seed=", 0) == 0) {
      seed = std::strtoul(argument.c_str() + 6, nullptr, 10);
    } else {
      paths.push_back(argument);
    }
  }
  std::vector<bytes> const corpus = read_corpus(paths);
  if (corpus.empty()) {
    std::fprintf(stderr, "usage: packet_fuzz [-runs=N] [-seed=S] FILE_OR_FOLDER...\n");
    return 2;
  }
  for (bytes const& input : corpus) {
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  mutator mutate{static_cast<std::uint32_t>(seed)};
  for (unsigned long run = 0; run < runs; ++run) {
    bytes input = corpus[mutate.below(corpus.size())];
    mutate.mutate(input);
    repair(input.data(), input.size(), mutate.word());
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::printf("packet_fuzz: %zu files and %lu mutations of them, seed %lu; %lu parsed\n", corpus.size(), runs,
              seed, static_cast<unsigned long>(parsed_inputs()));
  return 0;
}

/// The device of a build without CUDA: there is none.
#include "device/front.hpp"

namespace bird::device {
namespace {

[[noreturn]] void refuse()
{
  throw invalid_argument{
    "stream: a CUDA stream was given, but this build of the library has no device code; use bird::on_host"};
}

}  // namespace

std::size_t compress_scratch_bytes(list_plan const&, compressor_options const&) { return 0; }
std::size_t decode_scratch_bytes(list_plan const&, compressor_options const&, std::size_t) { return 0; }
int current_device() { refuse(); }
void check_device_memory(void const*, std::string const&, int) { refuse(); }
void compress(list_plan const&, compressor_options const&, sample_key const&, std::uint32_t*, feedback const&,
              std::uint64_t, std::byte*, std::byte*, stream_ref)
{
  refuse();
}
void decompress(span<std::byte const>, span<tensor_view const>, span<std::byte>, stream_ref) { refuse(); }
void apply(span<weighted_packet const>, span<tensor_view const>, span<std::byte>, stream_ref) { refuse(); }
void check_decoded(span<std::byte const>, stream_ref) { refuse(); }

}  // namespace bird::device

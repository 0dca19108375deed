/// compress_tensor: a gradient becomes a packet and a gradient again, in host memory.
#include <bird/compressor.hpp>
#include <cstdio>
#include <vector>

int main()
{
  std::vector<float> gradient(1 << 20), decoded(gradient.size());
  gradient[7] = 1.5F;

  bird::compressor const compressor{bird::preset("tile")};
  bird::const_tensor_view const tensors[] = {{gradient.data(), gradient.size()}};
  std::vector<std::byte> packet(compressor.packet_capacity(tensors));
  std::vector<std::byte> scratch(compressor.compress_scratch_bytes(tensors));
  bird::sample_key const key{/*seed*/ 42, /*step*/ 0, /*tensor_id*/ 0};
  auto const report = compressor.compress(tensors, key, packet, scratch, bird::on_host);

  bird::tensor_view const outputs[] = {{decoded.data(), decoded.size()}};
  bird::decompress(packet, outputs, bird::on_host);
  std::printf("%zu bytes of %zu, and element 7 is %g\n", std::size_t{report.packet_bytes},
              std::size_t{report.dense_bytes}, static_cast<double>(decoded[7]));
}

/// consumer: a user of the installed C++ interface. Exits 0 if a packet comes back, and errors can be caught.
#include <bird/compressor.hpp>
#include <vector>

int main()
{
  std::vector<float> gradient(1000), decoded(1000, -1.0F);
  gradient[7] = 1.5F;
  bird::compressor const compressor{bird::preset("tile")};
  bird::const_tensor_view const tensors[] = {{gradient.data(), gradient.size()}};
  bird::tensor_view const outputs[]       = {{decoded.data(), decoded.size()}};
  std::vector<std::byte> packet(compressor.packet_capacity(tensors));
  std::vector<std::byte> scratch(compressor.compress_scratch_bytes(tensors));
  compressor.compress(tensors, {}, packet, scratch, bird::on_host);
  bird::decompress(packet, outputs, bird::on_host);
  try {
    bird::decompress({packet.data(), 10}, outputs, bird::on_host);
  } catch (bird::bad_packet const&) {
    return decoded == gradient ? 0 : 1;
  }
  return 1;
}

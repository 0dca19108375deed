#include "operation.hpp"

#include <array>

namespace loopback {

char const* name_of(kind what)
{
  static constexpr std::array<char const*, kinds> names{
    "ncclAllReduce", "ncclAllGather", "ncclReduceScatter", "ncclBroadcast", "ncclReduce",
    "ncclAlltoAll",  "ncclGather",    "ncclScatter",       "ncclSend",      "ncclRecv"};
  return names.at(static_cast<std::size_t>(what));
}

std::size_t size_of(ncclDataType_t type)
{
  static constexpr std::array<std::size_t, ncclNumTypes> sizes{1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return sizes.at(static_cast<std::size_t>(type));
}

char const* name_of(ncclDataType_t type)
{
  static constexpr std::array<char const*, ncclNumTypes> names{
    "ncclInt8",    "ncclUint8",   "ncclInt32",   "ncclUint32",   "ncclInt64",      "ncclUint64",
    "ncclFloat16", "ncclFloat32", "ncclFloat64", "ncclBfloat16", "ncclFloat8e4m3", "ncclFloat8e5m2"};
  return names.at(static_cast<std::size_t>(type));
}

bool match(call_record const& a, call_record const& b)
{
  return a.what == b.what && a.count == b.count && a.type == b.type && a.op == b.op && a.root == b.root;
}

std::string text_of(call_record const& call)
{
  static constexpr std::array<char const*, 6> operators{"ncclSum", "ncclProd", "ncclMax",
                                                        "ncclMin", "ncclAvg",  "a PreMulSum"};
  std::string text = std::string(name_of(call.what)) + "(count " + std::to_string(call.count) + ", " +
                     name_of(static_cast<ncclDataType_t>(call.type));
  switch (call.what) {
    case kind::all_reduce:
    case kind::reduce_scatter:
      text += std::string(", ") + operators.at(static_cast<std::size_t>(call.op));
      break;
    case kind::reduce:
      text += std::string(", ") + operators.at(static_cast<std::size_t>(call.op)) + ", root " +
              std::to_string(call.root);
      break;
    case kind::broadcast:
    case kind::gather:
    case kind::scatter:
      text += ", root " + std::to_string(call.root);
      break;
    case kind::send:
    case kind::recv:
      text += ", peer " + std::to_string(call.root);
      break;
    default:
      break;
  }
  return text + ")";
}

bool operation::reduces() const
{
  return call.what == kind::all_reduce || call.what == kind::reduce_scatter || call.what == kind::reduce;
}

std::uint64_t wire_bytes(operation const& op, int rank, int nranks)
{
  std::uint64_t const bytes = op.call.count * op.element();
  auto const n              = static_cast<std::uint64_t>(nranks);
  bool const is_root        = rank == op.call.root;
  bool const ends_broadcast = (rank + 1) % nranks == op.call.root;
  switch (op.call.what) {
    case kind::all_reduce:
      return 2 * (n - 1) * bytes / n;
    case kind::all_gather:
    case kind::reduce_scatter:
    case kind::all_to_all:
      return (n - 1) * bytes;
    case kind::broadcast:
      return ends_broadcast ? 0 : bytes;
    case kind::reduce:
      return is_root ? 0 : bytes;
    case kind::gather:
      return is_root ? 0 : bytes;
    case kind::scatter:
      return is_root ? (n - 1) * bytes : 0;
    case kind::send:
      return is_root ? 0 : bytes;  // to itself: nothing
    case kind::recv:
      return 0;
  }
  return 0;
}

}  // namespace loopback

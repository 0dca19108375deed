/// One call of a collective, a send or a receive: what was asked, checked and copied at the call, since it
/// runs later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include <nccl.h>

namespace loopback {

/// Becomes the result code of a call or the asynchronous error of a communicator.
struct failure : std::runtime_error {
  failure(ncclResult_t c, std::string const& message) : std::runtime_error(message), code(c) {}
  ncclResult_t code;
};

enum class kind : std::uint32_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  broadcast,
  reduce,
  all_to_all,
  gather,
  scatter,
  send,
  recv
};
constexpr int kinds = 10;
char const* name_of(kind what);
std::size_t size_of(ncclDataType_t type);
char const* name_of(ncclDataType_t type);

/// Operator numbers in call records: NCCL's five, then this one for all that a program made.
constexpr int pre_mul_sum = ncclNumOps;

/// What must be equal on all ranks.
struct call_record {
  std::uint64_t number = 0;  ///< 1 for the communicator's first; 0: none yet
  kind what            = kind::all_reduce;
  std::uint64_t count  = 0;
  int type             = 0;
  int op               = 0;
  int root             = 0;  ///< or the peer of a send or a receive
};
bool match(call_record const& a, call_record const& b);
/// "ncclAllReduce(count 8, ncclFloat32, ncclSum)"
std::string text_of(call_record const& call);

/// How the operands of a reduction are scaled before they are added.
struct scaling {
  enum class source { none, host, device } from = source::none;
  alignas(8) unsigned char value[8]             = {};  ///< host: sizeof(type) bytes
  void const* pointer                           = nullptr;
};

struct operation {
  call_record call;
  void const* send = nullptr;
  void* recv       = nullptr;
  scaling scale;
  cudaStream_t stream = nullptr;

  ncclDataType_t type() const { return static_cast<ncclDataType_t>(call.type); }
  std::size_t element() const { return size_of(type()); }
  bool is_collective() const { return call.what != kind::send && call.what != kind::recv; }
  bool reduces() const;
};

/// Bytes that this rank sends to others by a ring, or straight where there is no ring.
std::uint64_t wire_bytes(operation const& op, int rank, int nranks);

}  // namespace loopback

/// The C interface: checks what C cannot express, calls the C++ one, and turns exceptions into results.
#include "bird/bird.h"

#include <cstdio>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "bird/compressor.hpp"
#include "dlpack.hpp"

struct bird_compressor {
  bird::compressor codec;
};

namespace {

using bird::invalid_argument;

constexpr std::size_t largest_config = 4096;  // a config that claims more is not one
constexpr std::size_t message_bytes  = 512;

// A plain array, since a string's assignment may itself run out of memory.
thread_local char last_error[message_bytes] = "";

char host_stream_tag = 0;  ///< its address is the host stream

bird_result report(bird_result result, char const* message) noexcept
{
  std::snprintf(last_error, sizeof last_error, "%s", message);
  return result;
}

/// Runs a call; its exception becomes a result and this thread's last error.
template <class Call>
bird_result guarded(Call&& call) noexcept
{
  try {
    call();
    return BIRD_SUCCESS;
  } catch (invalid_argument const& error) {
    return report(BIRD_INVALID_ARGUMENT, error.what());
  } catch (bird::bad_packet const& error) {
    return report(BIRD_BAD_PACKET, error.what());
  } catch (bird::cuda_error const& error) {
    return report(BIRD_CUDA_ERROR, error.what());
  } catch (std::bad_alloc const&) {
    return report(BIRD_OUT_OF_MEMORY, "out of memory");
  } catch (std::exception const& error) {
    return report(BIRD_INTERNAL_ERROR, error.what());
  } catch (...) {
    return report(BIRD_INTERNAL_ERROR, "unknown exception");
  }
}

void check_not_null(void const* pointer, std::string const& name)
{
  if (pointer == nullptr) {
    throw invalid_argument{name + " is NULL"};
  }
}

/// An enum of the C++ interface from C's integer.
template <class Enum>
Enum code(std::int32_t value, std::int32_t largest, std::string const& name)
{
  if (value < 1 || value > largest) {
    throw invalid_argument{name + " is " + std::to_string(value) + "; it must be 1 to " +
                           std::to_string(largest)};
  }
  return static_cast<Enum>(value);
}

bird::compressor_options options_of(bird_config const* config)
{
  check_not_null(config, "config");
  if (config->magic != BIRD_CONFIG_MAGIC) {
    throw invalid_argument{"config.magic is " + std::to_string(config->magic) +
                           "; start from BIRD_CONFIG_INITIALIZER or bird_config_preset()"};
  }
  if (config->version != BIRD_CONFIG_VERSION) {
    throw invalid_argument{"config.version is " + std::to_string(config->version) +
                           "; this library knows version 1"};
  }
  if (config->size < sizeof(bird_config) || config->size > largest_config) {
    throw invalid_argument{"config.size is " + std::to_string(config->size) + "; version 1 has " +
                           std::to_string(sizeof(bird_config)) + " bytes"};
  }
  auto const* bytes = reinterpret_cast<unsigned char const*>(config);
  for (std::size_t i = sizeof(bird_config); i < config->size; ++i) {
    if (bytes[i] != 0) {
      throw invalid_argument{"config byte " + std::to_string(i) + " is " + std::to_string(bytes[i]) +
                             "; this library does not know the option there, so it must be 0"};
    }
  }
  if (config->blind > 1) {
    throw invalid_argument{"config.blind is " + std::to_string(config->blind) + "; it must be 0 or 1"};
  }
  bird::compressor_options options;
  options.sampling = code<bird::sampling>(config->sampling, 4, "config.sampling");
  options.values   = code<bird::values>(config->values, 3, "config.values");
  options.index    = code<bird::index>(config->index, 3, "config.index");
  options.norm     = code<bird::norm>(config->norm, 2, "config.norm");
  options.tile     = config->tile;
  options.ratio    = config->ratio;
  options.gamma    = config->gamma;
  options.blind    = config->blind != 0;
  return options;
}

bird::const_tensor_view view_of(bird_tensor const& tensor, bool with_role)
{
  if (tensor.ndim < 0) {
    throw invalid_argument{"ndim is " + std::to_string(tensor.ndim) + "; it is not negative"};
  }
  if (tensor.reserved != 0) {
    throw invalid_argument{"reserved is " + std::to_string(tensor.reserved) + "; it must be 0"};
  }
  auto const dimensions = static_cast<std::size_t>(tensor.ndim);
  if (dimensions != 0) {
    check_not_null(tensor.shape, "shape");
  }
  bird::span<std::int64_t const> const shape{tensor.shape, dimensions};
  bird::span<std::int64_t const> const strides{tensor.strides, tensor.strides == nullptr ? 0 : dimensions};
  auto view = bird::contiguous(tensor.data, code<bird::dtype>(tensor.dtype, 3, "dtype"), shape, strides);
  if (with_role) {
    view.role = code<bird::segment_role>(tensor.role, 3, "role");
  }
  return view;
}

/// All tensors of a list; a message says which one is wrong.
std::vector<bird::const_tensor_view> views_of(bird_tensor const* tensors, std::size_t count, bool with_role)
{
  if (count != 0) {
    check_not_null(tensors, "tensors");
  }
  std::vector<bird::const_tensor_view> views;
  for (std::size_t i = 0; i < count; ++i) {
    try {
      views.push_back(view_of(tensors[i], with_role));
    } catch (invalid_argument const& error) {
      throw invalid_argument{"tensors[" + std::to_string(i) + "]: " + error.what()};
    }
  }
  return views;
}

std::vector<bird::tensor_view> written_views_of(bird_tensor const* tensors, std::size_t count)
{
  std::vector<bird::tensor_view> written;
  for (bird::const_tensor_view const& view : views_of(tensors, count, false)) {
    written.push_back({tensors[written.size()].data, view.count, view.type});
  }
  return written;
}

bird::stream_ref stream_of(bird_stream stream)
{
  return stream == &host_stream_tag ? bird::on_host : bird::stream_ref{static_cast<CUstream_st*>(stream)};
}

bird::span<std::byte const> packet_of(void const* packet, std::size_t bytes)
{
  return {static_cast<std::byte const*>(packet), bytes};
}

bird::span<std::byte> bytes_of(void* memory, std::size_t bytes)
{
  return {static_cast<std::byte*>(memory), bytes};
}

std::vector<bird::weighted_packet> packets_of(void const* const* packets, std::size_t const* packet_bytes,
                                              float const* weights, std::size_t packet_count)
{
  if (packet_count != 0) {
    check_not_null(packets, "packets");
    check_not_null(packet_bytes, "packet_bytes");
  }
  std::vector<bird::weighted_packet> weighted;
  for (std::size_t i = 0; i < packet_count; ++i) {
    check_not_null(packets[i], "packets[" + std::to_string(i) + "]");
    weighted.push_back({packet_of(packets[i], packet_bytes[i]), weights == nullptr ? 1.0F : weights[i]});
  }
  return weighted;
}

void compress(bird_compressor const* compressor, bird_tensor const* tensors, std::size_t tensor_count,
              bird_key key, void* packet, std::size_t packet_bytes, void* scratch, std::size_t scratch_bytes,
              bird::feedback const& memory, bird_report* report, bird_stream stream)
{
  check_not_null(compressor, "compressor");
  auto const views = views_of(tensors, tensor_count, true);
  check_not_null(packet, "packet");
  if (scratch_bytes != 0) {
    check_not_null(scratch, "scratch");
  }
  auto const done =
    compressor->codec.compress(views, {key.seed, key.step, key.tensor_id}, bytes_of(packet, packet_bytes),
                               bytes_of(scratch, scratch_bytes), memory, stream_of(stream));
  if (report != nullptr) {
    *report = {done.dense_bytes, done.packet_bytes, done.kept_slots, done.tiles, done.non_finite, 0,
               done.seconds,     done.omega};
  }
}

}  // namespace

bird_stream bird_host_stream(void) { return &host_stream_tag; }

char const* bird_version(void) { return BIRD_VERSION; }

char const* bird_result_string(bird_result result)
{
  switch (result) {
    case BIRD_SUCCESS:
      return "success";
    case BIRD_INVALID_ARGUMENT:
      return "invalid argument";
    case BIRD_BAD_PACKET:
      return "bad packet";
    case BIRD_OUT_OF_MEMORY:
      return "out of memory";
    case BIRD_INTERNAL_ERROR:
      return "internal error";
    case BIRD_CUDA_ERROR:
      return "CUDA error";
  }
  return "unknown result";
}

char const* bird_last_error(void) { return last_error; }

bird_result bird_tensor_from_dlpack(void const* dl_tensor, bird_stream stream, bird_tensor* tensor)
{
  return guarded([&] {
    check_not_null(tensor, "tensor");
    bird::dlpack::parts const given = bird::dlpack::take_apart(dl_tensor, stream_of(stream));
    bird_tensor filled{};
    filled.data    = given.data;
    filled.shape   = given.shape.data();
    filled.strides = given.strides.data();
    filled.ndim    = static_cast<std::int32_t>(given.shape.size());
    filled.dtype   = static_cast<std::int32_t>(given.type);
    filled.role    = BIRD_SAMPLED;
    (void)view_of(filled, true);
    *tensor = filled;
  });
}

bird_result bird_config_preset(char const* name, bird_config* config)
{
  return guarded([&] {
    check_not_null(name, "name");
    check_not_null(config, "config");
    auto const options = bird::preset(name);
    bird_config filled = BIRD_CONFIG_INITIALIZER;
    filled.sampling    = static_cast<std::int32_t>(options.sampling);
    filled.values      = static_cast<std::int32_t>(options.values);
    filled.index       = static_cast<std::int32_t>(options.index);
    filled.norm        = static_cast<std::int32_t>(options.norm);
    filled.tile        = options.tile;
    filled.ratio       = options.ratio;
    filled.gamma       = options.gamma;
    *config            = filled;
  });
}

bird_result bird_compressor_create(bird_config const* config, bird_compressor** compressor)
{
  return guarded([&] {
    check_not_null(compressor, "compressor");
    *compressor = new bird_compressor{bird::compressor{options_of(config)}};
  });
}

bird_result bird_compressor_destroy(bird_compressor* compressor)
{
  delete compressor;
  return BIRD_SUCCESS;
}

bird_result bird_packet_capacity(bird_compressor const* compressor, bird_tensor const* tensors,
                                 size_t tensor_count, size_t* bytes)
{
  return guarded([&] {
    check_not_null(compressor, "compressor");
    check_not_null(bytes, "bytes");
    *bytes = compressor->codec.packet_capacity(views_of(tensors, tensor_count, true));
  });
}

bird_result bird_compress_scratch_bytes(bird_compressor const* compressor, bird_tensor const* tensors,
                                        size_t tensor_count, size_t* bytes)
{
  return guarded([&] {
    check_not_null(compressor, "compressor");
    check_not_null(bytes, "bytes");
    *bytes = compressor->codec.compress_scratch_bytes(views_of(tensors, tensor_count, true));
  });
}

bird_result bird_compress(bird_compressor const* compressor, bird_tensor const* tensors, size_t tensor_count,
                          bird_key key, void* packet, size_t packet_bytes, void* scratch,
                          size_t scratch_bytes, bird_report* report, bird_stream stream)
{
  return guarded([&] {
    compress(compressor, tensors, tensor_count, key, packet, packet_bytes, scratch, scratch_bytes, {}, report,
             stream);
  });
}

bird_result bird_compress_with_feedback(bird_compressor const* compressor, bird_tensor const* tensors,
                                        size_t tensor_count, bird_key key, void* packet, size_t packet_bytes,
                                        void* scratch, size_t scratch_bytes, float* const* residual,
                                        float* const* velocity, float momentum, bird_report* report,
                                        bird_stream stream)
{
  return guarded([&] {
    check_not_null(residual, "residual");
    bird::feedback memory;
    memory.residual = {residual, tensor_count};
    memory.velocity = {velocity, velocity == nullptr ? 0 : tensor_count};
    memory.momentum = momentum;
    compress(compressor, tensors, tensor_count, key, packet, packet_bytes, scratch, scratch_bytes, memory,
             report, stream);
  });
}

bird_result bird_decompress(void const* packet, size_t packet_bytes, bird_tensor const* tensors,
                            size_t tensor_count, bird_stream stream)
{
  return guarded([&] {
    check_not_null(packet, "packet");
    bird::decompress(packet_of(packet, packet_bytes), written_views_of(tensors, tensor_count),
                     stream_of(stream));
  });
}

bird_result bird_apply(void const* const* packets, size_t const* packet_bytes, float const* weights,
                       size_t packet_count, bird_tensor const* tensors, size_t tensor_count,
                       bird_stream stream)
{
  return guarded([&] {
    auto const weighted = packets_of(packets, packet_bytes, weights, packet_count);
    bird::apply(weighted, written_views_of(tensors, tensor_count), stream_of(stream));
  });
}

bird_result bird_decode_scratch_bytes(bird_compressor const* compressor, bird_tensor const* tensors,
                                      size_t tensor_count, size_t packet_count, size_t* bytes)
{
  return guarded([&] {
    check_not_null(compressor, "compressor");
    check_not_null(bytes, "bytes");
    *bytes = compressor->codec.decode_scratch_bytes(views_of(tensors, tensor_count, true), packet_count);
  });
}

bird_result bird_decompress_enqueue(void const* packet, size_t packet_bytes, bird_tensor const* tensors,
                                    size_t tensor_count, void* scratch, size_t scratch_bytes,
                                    bird_stream stream)
{
  return guarded([&] {
    check_not_null(packet, "packet");
    bird::decompress(packet_of(packet, packet_bytes), written_views_of(tensors, tensor_count),
                     bytes_of(scratch, scratch_bytes), stream_of(stream));
  });
}

bird_result bird_apply_enqueue(void const* const* packets, size_t const* packet_bytes, float const* weights,
                               size_t packet_count, bird_tensor const* tensors, size_t tensor_count,
                               void* scratch, size_t scratch_bytes, bird_stream stream)
{
  return guarded([&] {
    bird::apply(packets_of(packets, packet_bytes, weights, packet_count),
                written_views_of(tensors, tensor_count), bytes_of(scratch, scratch_bytes), stream_of(stream));
  });
}

bird_result bird_check_decoded(void const* scratch, size_t scratch_bytes, bird_stream stream)
{
  return guarded([&] {
    check_not_null(scratch, "scratch");
    bird::check_decoded({static_cast<std::byte const*>(scratch), scratch_bytes}, stream_of(stream));
  });
}

bird_result bird_compress_replayable(bird_compressor const* compressor, bird_tensor const* tensors,
                                     size_t tensor_count, bird_key key, uint32_t* step_counter, void* packet,
                                     size_t packet_bytes, void* scratch, size_t scratch_bytes,
                                     bird_stream stream)
{
  return guarded([&] {
    check_not_null(compressor, "compressor");
    compressor->codec.compress_replayable(
      views_of(tensors, tensor_count, true), {key.seed, key.step, key.tensor_id}, step_counter,
      bytes_of(packet, packet_bytes), bytes_of(scratch, scratch_bytes), stream_of(stream));
  });
}

bird_result bird_packet_bytes(void const* packet, size_t available, size_t* bytes)
{
  return guarded([&] {
    check_not_null(packet, "packet");
    check_not_null(bytes, "bytes");
    *bytes = bird::packet_bytes(packet_of(packet, available));
  });
}

double bird_noise_adjusted_learning_rate(double lr_dense, double omega, int workers)
{
  double result = std::numeric_limits<double>::quiet_NaN();
  guarded([&] { result = bird::noise_adjusted_learning_rate(lr_dense, omega, workers); });
  return result;
}

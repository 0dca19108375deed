/// The rows of the device's table, one file a stage.
///
/// Work is counted in bytes that must move (the roofline), so a row over the copy limit is the share of the
/// roofline that is reached.
#pragma once

#include <cstddef>
#include <string>

#include "bird/compressor.hpp"
#include "gpu/device_inputs.hpp"
#include "suite.hpp"

namespace bird::bench {

/// Sizes in elements.
struct device_axes {
  std::size_t large  = 256U << 20U;  ///< 1 GiB of fp32
  std::size_t medium = 16U << 20U;
  std::size_t bucket = 6'553'600;  ///< 25 MiB of fp32: a bucket of data-parallel training
  std::size_t share  = 1;          ///< models' tensors are divided by it
};

void add_device_limits(suite& rows, device_inputs& data, device_axes const& over);
void add_device_compress(suite& rows, device_inputs& data, device_axes const& over);
void add_device_top_k(suite& rows, device_inputs& data, device_axes const& over);
void add_device_decode(suite& rows, device_inputs& data, device_axes const& over);
void add_device_lists(suite& rows, device_inputs& data, device_axes const& over);

/// "what, 256M"
std::string device_label(std::string const& what, std::size_t count);

/// Measurements of add_device_limits(), in bytes read and written, and in bytes written.
std::string copy_limit(std::size_t count);
std::string fill_limit(std::size_t count);

/// Adds the measurement of compress(), counted as `bytes_an_element` that must move. @returns its name
std::string measure_device_compress(suite& rows, device_inputs& data, std::size_t count, dtype type,
                                    compressor_options options);

/// Bytes an element that compress() must move: every element, the kept ones again, their values; norms
/// written and read. (tests/device/traffic_test.cpp counts them.)
double compress_bytes(compressor_options const& options, dtype type);

}  // namespace bird::bench

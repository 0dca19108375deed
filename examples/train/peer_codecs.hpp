/// peer_codecs: the methods that bird is compared with, as messages that are really coded.
///
///   topk     the k elements of largest magnitude; the rest is lost
///   topk_ef  the same of update + residual; the rest is kept for the next message (error feedback)
///   randomk  k elements at random without repeats, times n / k: element-wise unbiased
///   sbc      sparse binary compression: of each array, the k largest or the k smallest elements, whichever
///            have the larger mean, sent as positions and that one mean; the rest is kept
///
/// Messages, little-endian, k = ceil(ratio * n) and at least 1:
///
///   topk*    [ kind 4 | n 4 | k 4 | factor 4 ] [ Elias-Fano index, 8 * words ] [ k values, fp16 ]
///   randomk  [ kind 4 | n 4 | k 4 | factor 4 ] [ seed 8 | step 4 | tensor id 4 ] [ k values, fp16 ]
///   sbc      [ kind 4 | n 4 | arrays 4 | 0 4 ] [ k 4 | signed mean 4 ] per array [ Rice-coded gaps ]
///
/// `factor` is a power of two that brings the largest value near the top of fp16's range, so that a value
/// is off by at most 2^-11 of itself or 2^-39 of the largest; topk_ef's residual takes that error up.
/// Zeros are never sent: an update with fewer than k other elements makes a shorter message (not randomk).
/// randomk sends no index: both ends draw the same positions from the key. sbc codes the gaps between
/// positions with the divisor that is best for positions at random (Sattler, Wiedemann, Mueller, Samek:
/// "Sparse binary compression", 2018, section III).
///
/// A non-finite update is not hidden: an Inf or NaN anywhere makes a bare header that decodes to NaN in
/// the first element, and the residual stays as it was.
#pragma once

#include <memory>

#include "options.hpp"
#include "update_codec.hpp"

namespace bird::trainer {

/// Codec of one sender for method topk, topk_ef, randomk or sbc. The ratio is options.codec.ratio, for
/// direction::down options.reply_ratio where that is given.
/// @throws invalid_argument for another method, a ratio outside (0, 1] or an empty network
[[nodiscard]] std::unique_ptr<update_codec> make_peer_codec(train_options const& options,
                                                            network_shape const& shape, direction way);

}  // namespace bird::trainer

/// Lists of tensors with the shapes of real models.
#pragma once

#include <cstddef>
#include <vector>

namespace bird::bench {

/// Elements of ResNet-50's 161 parameters: 53 convolutions, each with a scale and a shift, and one linear
/// layer.
std::vector<std::size_t> resnet50();

/// Elements of BERT-Large's 391 parameters: embeddings, 24 layers of width 1024, and the pooler.
std::vector<std::size_t> bert_large();

/// All counts divided by `share`, at least 1.
std::vector<std::size_t> shrunk(std::vector<std::size_t> counts, std::size_t share);

std::size_t elements_of(std::vector<std::size_t> const& counts);

}  // namespace bird::bench

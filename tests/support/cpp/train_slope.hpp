// The gradient of a whole model, one array at a time, against the slope of its exact loss.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compare.hpp"
#include "qkv/train/trainer.hpp"
#include "random.hpp"

namespace qkv::test {

/// Holds the gradient of one array to the slope of the exact loss along a random direction of that array. A central difference
/// over h errs by h^2 times a third derivative; two of them, at h and 2 h, leave h^4 (Richardson).
template <class Loss>
void check_slope(std::map<std::string, std::vector<double>>& arrays, const Loss& loss,
                 const train::TrainedArray& array, Random& random, Quantity& quantity) {
  std::vector<double>& at = arrays[array.name];
  const std::vector<double> before = at;
  std::vector<double> direction(before.size());
  for (double& d : direction) {
    d = static_cast<double>(random.uniform(1.0F));
  }
  const auto loss_at = [&](double h) {
    for (std::size_t i = 0; i < before.size(); ++i) {
      at[i] = before[i] + h * direction[i];
    }
    return loss();
  };
  constexpr double kStep = 1e-4;
  const double near = (loss_at(kStep) - loss_at(-kStep)) / (2 * kStep);
  const double far = (loss_at(2 * kStep) - loss_at(-2 * kStep)) / (4 * kStep);
  at = before;
  const double exact_slope = (4 * near - far) / 3;
  double slope = 0.0;
  double size = 0.0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const double of_it = static_cast<double>(array.gradient.data[i]) * direction[i];
    slope += of_it;
    size += std::abs(of_it);
  }
  CAPTURE(array.name);
  // Some two dozen products of up to 20 terms lie between a weight and the loss, each with 2^-24 (n + 2) of its size; the
  // difference of losses, of size 3, is exact to 1e-15 / 1e-4.
  quantity.add(slope, exact_slope, bounds::kU * 24 * 22 * (size + 0.005) + 1e-10, size + 0.005);
}

/// What a trainer trains, in double precision.
template <class Trainer>
std::map<std::string, std::vector<double>> exact_arrays(const Trainer& trainer) {
  std::map<std::string, std::vector<double>> arrays;
  for (Index i = 0; i < trainer.array_count(); ++i) {
    const train::TrainedArray a = trainer.array(i);
    arrays[a.name] = {a.value.data, a.value.data + a.value.size()};
  }
  return arrays;
}

/// Moves gains beside 1 and biases beside 0, so that their gradients are those of a model in use.
template <class Trainer>
void shake(Trainer& trainer, std::uint64_t seed) {
  Random random(seed);
  for (Index i = 0; i < trainer.array_count(); ++i) {
    const TensorView<float> value = trainer.array(i).value;
    for (Index j = 0; value.rank == 1 && j < value.size(); ++j) {
      value.data[j] += random.uniform(0.3F);
    }
  }
}

}  // namespace qkv::test

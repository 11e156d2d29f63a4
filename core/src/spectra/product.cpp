#include "spectra/product.hpp"

namespace qkv {

void add_product(const ConstBlock& x, const ConstBlock& y, Block to) noexcept {
  to.noalias() += x.transpose() * y;
}

void reflect(const qkv_eigen::Ref<const Vector>& essential, double tau, Block to) noexcept {
  Vector scratch(to.cols());
  to.applyHouseholderOnTheLeft(essential, tau, scratch.data());
}

}  // namespace qkv

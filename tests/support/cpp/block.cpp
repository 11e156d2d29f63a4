#include "block.hpp"

#include <algorithm>

namespace qkv::test {

void BlockProblem::create(const TransformerBlockWeights& from) {
  require_ok(TransformerBlock::create(config, from, block));
  created = true;
}

const std::vector<float>& BlockProblem::run() & {
  if (!created) {
    create(weights());
  }
  require_ok(block.forward(args(), workspace));
  return y;
}

oracle::Block BlockProblem::exact(const TransformerBlockWeights& w) const {
  oracle::Block exact;
  exact.c = config;
  exact.c.attention = cross.resolved;
  exact.attention = w.attention;
  exact.cross = w.cross;
  const auto parameters = [&](const NormWeights& norm) {
    const auto values = [](const TensorView<const float>& view) {
      return view.absent() ? std::vector<float>() : values_of(view);
    };
    return oracle::NormParameters{config.norm_type == NormType::kLayer,
                                  static_cast<double>(config.epsilon), values(norm.gamma),
                                  values(norm.beta)};
  };
  exact.norm1 = parameters(w.norm1);
  exact.norm_cross = parameters(w.norm_cross);
  exact.norm2 = parameters(w.norm2);
  exact.feed_forward = w.feed_forward;
  exact.options = options;
  exact.cross_options = cross_options;
  exact.batch = shape.batch;
  exact.tq = shape.tq;
  exact.tk = shape.tk;
  return exact;
}

void BlockProblem::check(const TransformerBlockWeights& as_created) {
  if (!created) {
    create(as_created);
  }
  run();
  require_close("block y", y,
                exact(as_created)({x.begin(), x.end()}, {context.begin(), context.end()}));
}

void require_close(const char* name, const std::vector<float>& computed,
                   const std::vector<double>& exact, double limit) {
  Quantity quantity(name);
  for (std::size_t i = 0; i < computed.size(); ++i) {
    quantity.add(static_cast<double>(computed[i]), exact[i],
                 limit * std::max(1.0, std::abs(exact[i])));
  }
  require_within(quantity);
}

}  // namespace qkv::test

// Every argument and option of attention(), wrong in every way its header lists.
#include <catch2/catch_test_macros.hpp>

#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "problem.hpp"
#include "refusal.hpp"

namespace qkv::test {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

struct Case {
  const char* what;
  Spoil<AttentionArgs&> spoil;
  Refusal refusal;
};

/// A correct call with every optional argument given.
Problem correct() {
  Problem p({.batch = 2, .heads = 4, .kv_heads = 2, .tq = 3, .tk = 5, .dk = 6, .dv = 7}, 1);
  p.add_mask({3, 5});
  p.add_bias({2, 4, 3, 5});
  p.causal(2);
  return p;
}

/// Each case must be refused as it says, with nothing written and nothing allocated.
void require_all_refused(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    INFO(c.what);
    Problem p = correct();
    AttentionArgs args = p.args();
    c.spoil(args);
    const std::size_t allocations = allocation_count();
    require_refused(attention(args, p.workspace), "attention", c.refusal);
    CHECK(attention_scratch_bytes(args) == 0);
    CHECK(allocation_count() == allocations);
    for (const auto* written :
         {&p.result.out, &p.result.weights, &p.result.lse, &p.result.entropy}) {
      CHECK(*written == std::vector<float>(written->size(), kUntouched));
    }
  }
}

TEST_CASE("attention: the call that the cases below spoil is correct", "[attention][bad-input]") {
  correct().check();
}

TEST_CASE("attention: arrays of a wrong shape are refused", "[attention][bad-input]") {
  require_all_refused({
      {"q absent", [](auto& a) { a.q = {}; }, {kShapeError, "q is", "[]", "[*,*,*,*]"}},
      {"q of rank 3", [](auto& a) { a.q.rank = 3; }, {kShapeError, "q is", "[2,4,3]", "[*,*,*,*]"}},
      {"q of a negative extent",
       [](auto& a) { a.q.shape[2] = -3; },
       {kShapeError, "q is", "[2,4,-3,6]", "[*,*,*,*]"}},
      {"k absent", [](auto& a) { a.k = {}; }, {kShapeError, "k is", "[]", "[2,*,*,6]"}},
      {"k of rank 2", [](auto& a) { a.k.rank = 2; }, {kShapeError, "k is", "[2,2]", "[2,*,*,6]"}},
      {"k of another batch",
       [](auto& a) { a.k.shape[0] = 1; },
       {kShapeError, "k is", "[1,2,5,6]", "[2,*,*,6]"}},
      {"k of another width",
       [](auto& a) { a.k.shape[3] = 5; },
       {kShapeError, "k is", "[2,2,5,5]", "[2,*,*,6]"}},
      {"k of a negative extent",
       [](auto& a) { a.k.shape[2] = -5; },
       {kShapeError, "k is", "[2,2,-5,6]", "[2,*,*,6]"}},
      {"v absent", [](auto& a) { a.v = {}; }, {kShapeError, "v is", "[]", "[2,2,5,*]"}},
      {"v of rank 3", [](auto& a) { a.v.rank = 3; }, {kShapeError, "v is", "[2,2,5]", "[2,2,5,*]"}},
      {"v of another batch",
       [](auto& a) { a.v.shape[0] = 3; },
       {kShapeError, "v is", "[3,2,5,7]", "[2,2,5,*]"}},
      {"v of other heads",
       [](auto& a) { a.v.shape[1] = 4; },
       {kShapeError, "v is", "[2,4,5,7]", "[2,2,5,*]"}},
      {"v of another length",
       [](auto& a) { a.v.shape[2] = 6; },
       {kShapeError, "v is", "[2,2,6,7]", "[2,2,5,*]"}},
      {"v of a negative extent",
       [](auto& a) { a.v.shape[3] = -7; },
       {kShapeError, "v is", "[2,2,5,-7]", "[2,2,5,*]"}},
      {"out absent", [](auto& a) { a.out = {}; }, {kShapeError, "out is", "[]", "[2,4,3,7]"}},
      {"out of rank 3",
       [](auto& a) { a.out.rank = 3; },
       {kShapeError, "out is", "[2,4,3]", "[2,4,3,7]"}},
      {"out of another batch",
       [](auto& a) { a.out.shape[0] = 1; },
       {kShapeError, "out is", "[1,4,3,7]", "[2,4,3,7]"}},
      {"out of other heads",
       [](auto& a) { a.out.shape[1] = 2; },
       {kShapeError, "out is", "[2,2,3,7]", "[2,4,3,7]"}},
      {"out of another length",
       [](auto& a) { a.out.shape[2] = 5; },
       {kShapeError, "out is", "[2,4,5,7]", "[2,4,3,7]"}},
      {"out of the width of q",
       [](auto& a) { a.out.shape[3] = 6; },
       {kShapeError, "out is", "[2,4,3,6]", "[2,4,3,7]"}},
      {"d_k of 0",
       [](auto& a) { a.q.shape[3] = a.k.shape[3] = 0; },
       {kShapeError, "d_k", "0", "at least 1"}},
      {"d_v of 0",
       [](auto& a) { a.v.shape[3] = a.out.shape[3] = 0; },
       {kShapeError, "d_v", "0", "at least 1"}},
      {"heads that are not a multiple",
       [](auto& a) { a.k.shape[1] = a.v.shape[1] = 3; },
       {kShapeError, "q has 4 heads", "k has 3", "a multiple"}},
      {"more key heads than query heads",
       [](auto& a) { a.k.shape[1] = a.v.shape[1] = 8; },
       {kShapeError, "q has 4 heads", "k has 8", "a multiple"}},
      {"query heads without key heads",
       [](auto& a) { a.k.shape[1] = a.v.shape[1] = 0; },
       {kShapeError, "q has 4 heads", "k has 0", "a multiple"}},
  });
}

TEST_CASE("attention: null pointers are refused where elements exist", "[attention][bad-input]") {
  require_all_refused({
      {"q", [](auto& a) { a.q.data = nullptr; }, {kInvalid, "q has no data", "[2,4,3,6]", "elem"}},
      {"k", [](auto& a) { a.k.data = nullptr; }, {kInvalid, "k has no data", "[2,2,5,6]", "elem"}},
      {"v", [](auto& a) { a.v.data = nullptr; }, {kInvalid, "v has no data", "[2,2,5,7]", "elem"}},
      {"out",
       [](auto& a) { a.out.data = nullptr; },
       {kInvalid, "out has no data", "[2,4,3,7]", "elem"}},
      {"mask",
       [](auto& a) { a.options.mask.data = nullptr; },
       {kInvalid, "mask has no data", "[3,5]", "elem"}},
      {"bias",
       [](auto& a) { a.options.bias.data = nullptr; },
       {kInvalid, "bias has no data", "[2,4,3,5]", "elem"}},
      {"weights",
       [](auto& a) { a.extras.weights.data = nullptr; },
       {kInvalid, "weights has no data", "[2,4,3,5]", "elem"}},
      {"lse",
       [](auto& a) { a.extras.lse.data = nullptr; },
       {kInvalid, "lse has no data", "[2,4,3]", "elem"}},
      {"entropy",
       [](auto& a) { a.extras.entropy.data = nullptr; },
       {kInvalid, "entropy has no data", "[2,4,3]", "elem"}},
  });
}

TEST_CASE("attention: a strided last axis is refused", "[attention][bad-input]") {
  require_all_refused({
      {"q", [](auto& a) { a.q.strides[3] = 2; }, {kInvalid, "of q", "stride 2", "expected 1"}},
      {"k", [](auto& a) { a.k.strides[3] = 0; }, {kInvalid, "of k", "stride 0", "expected 1"}},
      {"v", [](auto& a) { a.v.strides[3] = 3; }, {kInvalid, "of v", "stride 3", "expected 1"}},
      {"out",
       [](auto& a) { a.out.strides[3] = 2; },
       {kInvalid, "of out", "stride 2", "expected 1"}},
      {"weights",
       [](auto& a) { a.extras.weights.strides[3] = 2; },
       {kInvalid, "of weights", "stride 2", "expected 1"}},
      {"lse",
       [](auto& a) { a.extras.lse.strides[2] = 2; },
       {kInvalid, "of lse", "stride 2", "expected 1"}},
      {"entropy",
       [](auto& a) { a.extras.entropy.strides[2] = 4; },
       {kInvalid, "of entropy", "stride 4", "expected 1"}},
  });
}

TEST_CASE("attention: a scale that is not finite is refused", "[attention][bad-input]") {
  require_all_refused({
      {"NaN", [](auto& a) { a.options.scale = kNan; }, {kInvalid, "scale is", "nan", "finite"}},
      {"inf", [](auto& a) { a.options.scale = kInf; }, {kInvalid, "scale is", "inf", "finite"}},
      {"-inf", [](auto& a) { a.options.scale = -kInf; }, {kInvalid, "scale is", "-inf", "finite"}},
  });
}

TEST_CASE("attention: a temperature that is not a positive normal float is refused",
          "[attention][bad-input]") {
  require_all_refused({
      {"0",
       [](auto& a) { a.options.temperature = 0.0F; },
       {kInvalid, "temperature is", "0", "1.18e-38"}},
      {"negative",
       [](auto& a) { a.options.temperature = -1.5F; },
       {kInvalid, "temperature is", "-1.5", "1.18e-38"}},
      {"subnormal",
       [](auto& a) { a.options.temperature = 1e-40F; },
       {kInvalid, "temperature is", "e-41", "1.18e-38"}},
      {"NaN",
       [](auto& a) { a.options.temperature = kNan; },
       {kInvalid, "temperature is", "nan", "1.18e-38"}},
      {"inf",
       [](auto& a) { a.options.temperature = kInf; },
       {kInvalid, "temperature is", "inf", "1.18e-38"}},
  });
}

TEST_CASE("attention: a causal offset is asked for, and asked to mean something",
          "[attention][bad-input][causal]") {
  require_all_refused({
      {"offset without causal",
       [](auto& a) { a.options.causal = false; },
       {kInvalid, "causal_offset is", "2", "causal = true"}},
      {"causal without offset",
       [](auto& a) { a.options.causal_offset.reset(); },
       {kInvalid, "causal with", "3 queries and 5 keys", "expected a causal_offset"}},
  });
}

/// An option that keeps its data and gets another shape.
template <class T>
auto shaped(TensorView<const T> AttentionOptions::* option, std::initializer_list<Index> shape) {
  return [option, view = TensorView<const T>(nullptr, shape)](AttentionArgs& a) {
    const T* data = (a.options.*option).data;
    a.options.*option = view;
    (a.options.*option).data = data;
  };
}

TEST_CASE("attention: a mask that does not broadcast is refused", "[attention][bad-input][mask]") {
  const auto mask_shape = [](std::initializer_list<Index> shape) {
    return shaped(&AttentionOptions::mask, shape);
  };
  const char* target = "[2,4,3,5]";
  require_all_refused({
      {"keys", mask_shape({4}), {kShapeError, "mask is", "[4]", target}},
      {"queries", mask_shape({2, 5}), {kShapeError, "mask is", "[2,5]", target}},
      {"transposed", mask_shape({5, 3}), {kShapeError, "mask is", "[5,3]", target}},
      {"heads", mask_shape({2, 3, 5}), {kShapeError, "mask is", "[2,3,5]", target}},
      {"batch", mask_shape({4, 4, 3, 5}), {kShapeError, "mask is", "[4,4,3,5]", target}},
      {"empty", mask_shape({0}), {kShapeError, "mask is", "[0]", target}},
  });
}

TEST_CASE("attention: a bias that does not broadcast is refused", "[attention][bad-input][bias]") {
  const auto bias_shape = [](std::initializer_list<Index> shape) {
    return shaped(&AttentionOptions::bias, shape);
  };
  const char* target = "[2,4,3,5]";
  require_all_refused({
      {"keys", bias_shape({3}), {kShapeError, "bias is", "[3]", target}},
      {"queries", bias_shape({5, 5}), {kShapeError, "bias is", "[5,5]", target}},
      {"heads", bias_shape({2, 1, 1}), {kShapeError, "bias is", "[2,1,1]", target}},
      {"batch", bias_shape({3, 1, 1, 5}), {kShapeError, "bias is", "[3,1,1,5]", target}},
      {"negative", bias_shape({-1, 5}), {kShapeError, "bias is", "[-1,5]", target}},
  });
}

TEST_CASE("attention: weight rows outside the queries are refused", "[attention][bad-input]") {
  const auto rows = [](Index begin, Index end) {
    return [begin, end](AttentionArgs& a) {
      a.extras.row_begin = begin;
      a.extras.row_end = end;
    };
  };
  require_all_refused({
      {"before the first", rows(-1, 2), {kRange, "rows are", "[-1, 2)", "[0, 3)"}},
      {"past the last", rows(0, 4), {kRange, "rows are", "[0, 4)", "[0, 3)"}},
      {"backwards", rows(2, 1), {kRange, "rows are", "[2, 1)", "[0, 3)"}},
      {"from past the last", rows(4, -1), {kRange, "rows are", "[4, 3)", "[0, 3)"}},
  });
}

TEST_CASE("attention: extras of a wrong shape are refused", "[attention][bad-input]") {
  require_all_refused({
      {"weights of rank 3",
       [](auto& a) { a.extras.weights.rank = 3; },
       {kShapeError, "weights is", "[2,4,3]", "[2,4,3,5]"}},
      {"weights of all rows for some",
       [](auto& a) { a.extras.row_begin = 1; },
       {kShapeError, "weights is", "[2,4,3,5]", "[2,4,2,5]"}},
      {"weights of key heads",
       [](auto& a) { a.extras.weights.shape[1] = 2; },
       {kShapeError, "weights is", "[2,2,3,5]", "[2,4,3,5]"}},
      {"weights of other keys",
       [](auto& a) { a.extras.weights.shape[3] = 3; },
       {kShapeError, "weights is", "[2,4,3,3]", "[2,4,3,5]"}},
      {"lse of rank 2",
       [](auto& a) { a.extras.lse.rank = 2; },
       {kShapeError, "lse is", "[2,4]", "[2,4,3]"}},
      {"lse of another length",
       [](auto& a) { a.extras.lse.shape[2] = 5; },
       {kShapeError, "lse is", "[2,4,5]", "[2,4,3]"}},
      {"entropy of another batch",
       [](auto& a) { a.extras.entropy.shape[0] = 1; },
       {kShapeError, "entropy is", "[1,4,3]", "[2,4,3]"}},
      {"entropy of rank 1",
       [](auto& a) { a.extras.entropy.rank = 1; },
       {kShapeError, "entropy is", "[2]", "[2,4,3]"}},
  });
}

std::string message_after(const Spoil<AttentionArgs&>& spoil) {
  Problem p = correct();
  AttentionArgs args = p.args();
  spoil(args);
  return attention(args, p.workspace).message();
}

TEST_CASE("attention: refusals read as one sentence", "[attention][bad-input]") {
  CHECK(message_after([](auto& a) { a.k.shape[3] = 5; }) ==
        "attention: k is [2,2,5,5], expected [2,*,*,6]");
  CHECK(message_after([](auto& a) { a.v.data = nullptr; }) ==
        "attention: v has no data, expected [2,2,5,7] elements");
  CHECK(message_after([](auto& a) { a.out.strides[3] = 4; }) ==
        "attention: the last axis of out has stride 4, expected 1");
  CHECK(message_after([](auto& a) { a.k.shape[1] = a.v.shape[1] = 3; }) ==
        "attention: q has 4 heads and k has 3, expected a multiple");
  CHECK(message_after([](auto& a) { a.options.temperature = -1.0F; }) ==
        "attention: temperature is -1, expected a number of at least 1.18e-38");
  CHECK(message_after([](auto& a) { a.options.scale = kInf; }) ==
        "attention: scale is inf, expected a finite number");
  CHECK(message_after([](auto& a) { a.options.causal_offset.reset(); }) ==
        "attention: causal with 3 queries and 5 keys, expected a causal_offset (0 aligns the first "
        "query with the first key, 2 the last with the last)");
  CHECK(message_after([](auto& a) { a.options.mask = {a.options.mask.data, {4}}; }) ==
        "attention: mask is [4], expected a shape that broadcasts to [2,4,3,5]");
  CHECK(message_after([](auto& a) { a.extras.row_end = 9; }) ==
        "attention: rows are [0, 9), expected a range within [0, 3)");
}

TEST_CASE("attention: after a refusal the workspace still serves", "[attention][bad-input]") {
  Problem p = correct();
  AttentionArgs args = p.args();
  args.options.temperature = 0.0F;
  CHECK(!attention(args, p.workspace).ok());
  p.check();
}

}  // namespace
}  // namespace qkv::test

#include "train/tape/tape.hpp"

#include <algorithm>

#include "base/float_count.hpp"
#include "base/message.hpp"
#include "rows/over_rows.hpp"

namespace qkv::train {

namespace {

/// Whether there is a number for the size of an array: where an Index has 32 bits, a batch and a vocabulary that both fit
/// into memory have a product that does not.
Status check_size_of(const TapeArray& array) noexcept {
  return capped_product(array.rows, array.width) < kMostFloats
             ? Status{}
             : out_of_memory(
                   "out of memory: {} rows of {} numbers are larger than the address space",
                   array.rows, array.width);
}

}  // namespace

const TapeArray& Pass::in(int i) const noexcept {
  return tape[step.in[static_cast<std::size_t>(i)]];
}
bool Pass::has(int i) const noexcept { return step.in[static_cast<std::size_t>(i)] != kNoArray; }
const TapeArray& Pass::out() const noexcept { return tape[step.out]; }
const TapeArray& Pass::saved() const noexcept { return tape[step.saved]; }

Step::Write Pass::write(int i) const noexcept {
  const Step::Write planned = step.writes[static_cast<std::size_t>(i)];
  const bool left_out = inputs.activations_alone && planned != Step::Write::kSkip &&
                        in(i).kind == TapeArray::Kind::kParameter;
  return left_out ? Step::Write::kSkip : planned;
}

float* Pass::gradient(int i) const noexcept {
  switch (write(i)) {
    case Step::Write::kFirst:
      return in(i).gradient;
    case Step::Write::kAdd:
      return tape.scratch(step, i);
    default:
      return nullptr;
  }
}

TensorView<float> Pass::gradient_view(int i) const noexcept {
  float* data = gradient(i);
  return data ? TensorView<float>(data, {in(i).rows, in(i).width}) : TensorView<float>();
}

void Tape::clear() noexcept {
  arrays_.clear();
  steps_.clear();
  status_ = {};
}

ArrayId Tape::add(const TapeArray& array) noexcept {
  if (status_.ok()) {
    status_ = check_size_of(array);
  }
  if (status_.ok()) {
    status_ = arrays_.push(array);
  }
  return status_.ok() ? arrays_.size() - 1 : kNoArray;
}

ArrayId Tape::parameter(Index rows, Index width, float* value, float* gradient) noexcept {
  TapeArray array;
  array.kind = TapeArray::Kind::kParameter;
  array.rows = rows;
  array.width = width;
  array.value = value;
  array.gradient = gradient;
  return add(array);
}

ArrayId Tape::borrowed(Index rows, Index width, const float* value) noexcept {
  TapeArray array;
  array.kind = TapeArray::Kind::kBorrowed;
  array.rows = rows;
  array.width = width;
  array.value = const_cast<float*>(value);  // no step writes it
  return add(array);
}

ArrayId Tape::constant(Index rows, Index width) noexcept {
  TapeArray array;
  array.kind = TapeArray::Kind::kConstant;
  array.rows = rows;
  array.width = width;
  return add(array);
}

ArrayId Tape::record(Step step, Index rows, Index width, Index saved) noexcept {
  TapeArray array;
  array.rows = rows;
  array.width = width;
  array.made_by = steps_.size();
  step.out = add(array);
  step.saved = saved > 0 ? constant(1, saved) : kNoArray;
  if (status_.ok()) {
    status_ = steps_.push(step);
  }
  return status_.ok() ? step.out : kNoArray;
}

Status Tape::plan(ArrayId seed) noexcept {
  QKV_RETURN_IF_ERROR(status_);
  plan_gradients(seed);
  return take_memory();
}

/// Whether an input of step `at`, a sum, may use the gradient memory of the sum. What comes later (earlier steps, that is)
/// adds to the gradient of input 0. Input 1 shares only if its own step reads that memory before.
bool Tape::may_share(Index at, int input) const noexcept {
  const Step& sum = steps_[at];
  if (input == 0) {
    return true;
  }
  const Index first = arrays_[sum.in[0]].made_by;
  const Index made = arrays_[sum.in[1]].made_by;
  if (made <= first) {
    return false;
  }
  for (Index i = 0; i < at; ++i) {
    for (const ArrayId id : steps_[i].in) {
      if (id == sum.in[1] || (i > made && id == sum.in[0])) {
        return false;
      }
    }
  }
  return true;
}

Step::Write Tape::plan_input(Index at, int input) noexcept {
  const Step& step = steps_[at];
  const ArrayId id = step.in[static_cast<std::size_t>(input)];
  if (id == kNoArray || arrays_[id].kind == TapeArray::Kind::kConstant ||
      arrays_[id].kind == TapeArray::Kind::kBorrowed) {
    return Step::Write::kSkip;
  }
  TapeArray& array = arrays_[id];
  if (array.touched) {
    return Step::Write::kAdd;
  }
  array.touched = true;
  const bool sum = step.operation->passes_gradient && array.kind == TapeArray::Kind::kValue;
  if (sum && step.in[0] != step.in[1] && may_share(at, input)) {
    array.gradient_of = arrays_[step.out].gradient_of;
    return Step::Write::kShared;
  }
  array.gradient_of = id;
  return Step::Write::kFirst;
}

/// From the last step to the first, as the backward pass goes.
void Tape::plan_gradients(ArrayId seed) noexcept {
  for (TapeArray& array : arrays_) {
    array.touched = false;
  }
  arrays_[seed].touched = true;
  arrays_[seed].gradient_of = seed;
  for (Index at = steps_.size() - 1; at >= 0; --at) {
    steps_[at].reached = arrays_[steps_[at].out].touched;
    for (int input = 0; steps_[at].reached && input < Step::kMostInputs; ++input) {
      steps_[at].writes[static_cast<std::size_t>(input)] = plan_input(at, input);
    }
  }
}

Status Tape::take_memory() noexcept {
  std::size_t of_values = 0;
  std::size_t of_gradients = 0;
  const auto place = [](std::size_t& end, Index size) {
    const std::size_t begin = end;
    end = capped_sum({end, Workspace::padded(static_cast<std::size_t>(size))});
    return static_cast<Index>(begin);
  };
  for (TapeArray& array : arrays_) {
    if (array.is_own()) {
      array.offset = place(of_values, array.size());
    }
  }
  QKV_RETURN_IF_ERROR(values_.reserve(of_values));
  for (Index id = 0; id < arrays_.size(); ++id) {
    TapeArray& array = arrays_[id];
    if (!array.is_own()) {
      continue;
    }
    array.value = values_.data() + array.offset;
    if (array.kind == TapeArray::Kind::kValue && array.gradient_of == id) {
      array.offset = place(of_gradients, array.size());
    }
  }
  std::size_t of_scratch = 0;
  for (const Step& step : steps_) {
    std::size_t sum = 0;
    for (const ArrayId id : step.in) {
      const Index size = id == kNoArray ? 0 : arrays_[id].size();
      sum = capped_sum({sum, Workspace::padded(static_cast<std::size_t>(size))});
    }
    const bool adds =
        std::find(step.writes.begin(), step.writes.end(), Step::Write::kAdd) != step.writes.end();
    of_scratch = std::max(of_scratch, adds ? sum : 0);
  }
  QKV_RETURN_IF_ERROR(gradients_.reserve(of_gradients));
  QKV_RETURN_IF_ERROR(scratch_.reserve(of_scratch));
  for (TapeArray& array : arrays_) {
    if (array.kind == TapeArray::Kind::kValue && array.gradient_of != kNoArray) {
      array.gradient = gradients_.data() + arrays_[array.gradient_of].offset;
    }
  }
  return {};
}

float* Tape::scratch(const Step& step, int input) const noexcept {
  float* at = scratch_.data();
  for (int i = 0; i < input; ++i) {
    const ArrayId id = step.in[static_cast<std::size_t>(i)];
    at += id == kNoArray ? 0 : Workspace::padded(static_cast<std::size_t>(arrays_[id].size()));
  }
  return at;
}

Status Tape::forward(const TrainKernels& kernels, const TapeInputs& inputs,
                     Workspace& workspace) const noexcept {
  for (const Step& step : steps_) {
    QKV_RETURN_IF_ERROR(step.operation->forward({*this, step, inputs, kernels, workspace}));
  }
  return {};
}

Status Tape::step_back(const Step& step, const Pass& pass) const noexcept {
  QKV_RETURN_IF_ERROR(step.operation->backward(pass));
  for (int i = 0; i < Step::kMostInputs; ++i) {
    if (pass.write(i) == Step::Write::kAdd) {
      const TapeArray& array = pass.in(i);
      add_rows(
          *pass.kernels.forward, pass.workspace.pool(),
          {.n = array.size(), .x = array.gradient, .y = scratch(step, i), .out = array.gradient});
    }
  }
  return {};
}

}  // namespace qkv::train

// Language models for inference: their arrays, sessions, and one crossing for each pass.
#include <cstdint>
#include <memory>
#include <new>
#include <span>

#include "models/config.hpp"
#include "models/conversation.hpp"
#include "support.hpp"

namespace qkv::wasm {
namespace {

/// The readings and heads of a call, as the core takes them.
class Readings {
 public:
  explicit Readings(const ModelReadingsFields& given) noexcept {
    const TensorView<const std::int32_t> layers = given.layers;
    const TensorView<const std::int32_t> ablated = given.ablated;
    count_ = layers.absent() ? 0 : layers.size();
    heads_count_ = ablated.absent() ? 0 : ablated.size() / 2;
    readings_ = new (std::nothrow) ModelReading[static_cast<std::size_t>(count_)];
    heads_ = new (std::nothrow) ModelHead[static_cast<std::size_t>(heads_count_)];
    if (!made()) {
      return;
    }
    for (Index i = 0; i < count_; ++i) {
      readings_[i] = {.layer = layers.data[i],
                      .weights = part(given.weights, i),
                      .row_begin = given.row_begin,
                      .row_end = given.row_end,
                      .entropy = part(given.entropy, i),
                      .residual = part(given.residual, i),
                      .logits = part(given.logits, i),
                      .q = part(given.q, i),
                      .k = part(given.k, i),
                      .v = part(given.v, i)};
    }
    for (Index i = 0; i < heads_count_; ++i) {
      heads_[i] = {.layer = ablated.data[2 * i], .head = ablated.data[2 * i + 1]};
    }
  }
  Readings(const Readings&) = delete;
  Readings& operator=(const Readings&) = delete;
  ~Readings() {
    delete[] readings_;
    delete[] heads_;
  }

  [[nodiscard]] bool made() const noexcept { return readings_ && heads_; }
  [[nodiscard]] std::span<const ModelReading> readings() const noexcept {
    return {readings_, static_cast<std::size_t>(count_)};
  }
  [[nodiscard]] std::span<const ModelHead> heads() const noexcept {
    return {heads_, static_cast<std::size_t>(heads_count_)};
  }

 private:
  /// Layer i's part of a result.
  [[nodiscard]] TensorView<float> part(const Array<float>& of, Index i) const noexcept {
    TensorView<float> view = of;
    if (!view.absent()) {
      view.shape[0] /= count_;
      view.data += i * view.shape[0] * view.strides[0];
    }
    return view;
  }

  Index count_ = 0;
  Index heads_count_ = 0;
  ModelReading* readings_ = nullptr;
  ModelHead* heads_ = nullptr;
};

Status no_memory() noexcept {
  return Status::error(StatusCode::kOutOfMemory,
                       "out of memory: the results of inspect could not be allocated");
}

ModelSession* session_of(Conversation* conversation) noexcept {
  return conversation ? &conversation->session : nullptr;
}

SamplingOptions sampling_options(const SamplingFields& given) noexcept {
  return {.temperature = static_cast<float>(given.temperature),
          .top_k = given.top_k,
          .top_p = static_cast<float>(given.top_p),
          .min_p = static_cast<float>(given.min_p),
          .repetition_penalty = static_cast<float>(given.repetition_penalty),
          .seed = static_cast<std::uint64_t>(given.seed),
          .step = static_cast<std::uint64_t>(given.step)};
}

}  // namespace

Status createModel(const CreateModelFields& given) noexcept {
  const TensorView<const std::int32_t> codes = given.formats;
  const auto count = static_cast<std::size_t>(codes.absent() ? 0 : codes.size());
  std::unique_ptr<WeightFormat[]> formats(new (std::nothrow) WeightFormat[count]);
  if (!formats) {
    return Status::error(StatusCode::kOutOfMemory,
                         "out of memory: the formats of arrays could not be allocated");
  }
  for (std::size_t i = 0; i < count; ++i) {
    formats[i] = static_cast<WeightFormat>(codes.data[i]);
  }
  return make<LanguageModel>([&](LanguageModel& model) noexcept {
    return LanguageModel::create(model_config(given.config), given.format, model,
                                 {formats.get(), count});
  });
}

Status destroyModel(const DestroyModelFields& given) noexcept {
  return destroy<LanguageModel>(given.object);
}

Status countModel(const CountModelFields& given) noexcept {
  const LanguageModel& model = *given.model;
  tell(given.found,
       {static_cast<double>(model.array_count()), static_cast<double>(model.parameter_count()),
        static_cast<double>(model.bytes())});
  return {};
}

Status describeModelArray(const DescribeModelArrayFields& given) noexcept {
  const ModelArray array = given.model->array(given.index);
  made() = address_of(array.name);
  tell(given.found, {static_cast<double>(array.rank), static_cast<double>(array.shape[0]),
                     static_cast<double>(array.shape[1]), static_cast<double>(array.type),
                     static_cast<double>(array.rows), static_cast<double>(array.row_bytes)});
  return {};
}

Status fillModel(const FillModelFields& given) noexcept {
  const ModelRows rows{.type = given.type,
                       .data = given.data.view().data,
                       .count = given.count,
                       .row_bytes = given.row_bytes,
                       .layout = given.layout,
                       .scales = given.scales.view().data,
                       .scale_stride = given.scale_stride,
                       .plus = given.plus,
                       .factor = given.factor};
  return given.model->fill(given.index, rows, scratch().pool());
}

Status readModel(const ReadModelFields& given) noexcept {
  return given.model->read(given.index, given.first, given.count, given.rows.view().data);
}

Status finishModel(const FinishModelFields& given) noexcept { return given.model->finish(); }

Status forwardModel(const ForwardModelFields& given) noexcept {
  const Readings chosen(given.readings);
  if (!chosen.made()) {
    return no_memory();
  }
  return given.model->forward({.ids = given.ids,
                               .token_types = given.token_types,
                               .key_lengths = given.key_lengths,
                               .session = session_of(given.session),
                               .logits = given.logits,
                               .hidden = given.hidden,
                               .surprisal = given.surprisal,
                               .readings = chosen.readings(),
                               .ablated = chosen.heads()},
                              scratch());
}

Status generateToken(const GenerateTokenFields& given) noexcept {
  const Readings chosen(given.readings);
  if (!chosen.made()) {
    return no_memory();
  }
  Conversation& conversation = *given.session;
  ModelSession& session = conversation.session;
  const Index vocabulary = given.model->config().vocabulary;
  if (Status status = conversation.logits.reserve(static_cast<std::size_t>(vocabulary));
      !status.ok()) {
    return status;
  }
  const Index length = session.length();
  float* const logits = conversation.logits.data();
  Status status = given.model->forward({.ids = given.ids,
                                        .session = &session,
                                        .logits = {logits, {1, 1, vocabulary}},
                                        .readings = chosen.readings(),
                                        .ablated = chosen.heads()},
                                       scratch());
  if (!status.ok()) {
    return status;
  }
  SampledToken token;
  status = sample({.logits = {logits, {vocabulary}},
                   .seen = given.seen,
                   .options = sampling_options(given.sampling)},
                  scratch(), token);
  if (!status.ok()) {
    // The session is as it was, like everything else after an error.
    const Status shortened = session.truncate(length);
    return shortened.ok() ? status : shortened;
  }
  tell(given.found, {static_cast<double>(token.id), static_cast<double>(token.log_probability)});
  return {};
}

Status createSession(const CreateSessionFields& given) noexcept {
  return make<Conversation>([&](Conversation& conversation) noexcept {
    Status status = ModelSession::create(*given.model,
                                         {.batch = given.batch,
                                          .capacity = given.capacity,
                                          .format = given.format,
                                          .source_capacity = given.source_capacity},
                                         conversation.session);
    if (status.ok()) {
      tell(given.found, {static_cast<double>(conversation.session.max_bytes())});
    }
    return status;
  });
}

Status encodeSource(const EncodeSourceFields& given) noexcept {
  return given.model->encode({.source = given.source, .session = session_of(given.session)},
                             scratch());
}

Status truncateSession(const TruncateSessionFields& given) noexcept {
  return given.session->session.truncate(given.length);
}

Status destroySession(const DestroySessionFields& given) noexcept {
  return destroy<Conversation>(given.object);
}

}  // namespace qkv::wasm

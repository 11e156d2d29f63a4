// Language models for inference: their arrays, sessions, and one crossing for each pass.
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>

#include "models/config.hpp"
#include "models/conversation.hpp"
#include "models/sites.hpp"
#include "support.hpp"

namespace qkv::wasm {
namespace {

ModelSession* session_of(Conversation* conversation) noexcept {
  return conversation ? &conversation->session : nullptr;
}

/// Results of two words each.
TensorView<double> doubles_in(const Array<float>& words,
                              std::initializer_list<Index> shape) noexcept {
  return {reinterpret_cast<double*>(words.view().data), shape};
}

/// Sessions whose addresses are listed.
class ListedSessions {
 public:
  explicit ListedSessions(const TensorView<const std::int32_t>& addresses) noexcept
      : list_(addresses.absent() ? 0 : addresses.size()) {
    for (std::size_t i = 0; list_.made() && i < list_.list().size(); ++i) {
      list_.list()[i] = session_of(conversation(addresses, i));
    }
  }
  static Conversation* conversation(const TensorView<const std::int32_t>& addresses,
                                    std::size_t i) noexcept {
    return pointer<Conversation>(static_cast<Address>(addresses.data[i]));
  }
  [[nodiscard]] bool made() const noexcept { return list_.made(); }
  [[nodiscard]] static Status refusal() noexcept {
    return Status::error(StatusCode::kOutOfMemory,
                         "out of memory: the sessions of a pass could not be listed");
  }
  [[nodiscard]] std::span<ModelSession* const> list() const noexcept {
    return {list_.list().data(), list_.list().size()};
  }

 private:
  Made<ModelSession*> list_;
};

SamplingOptions sampling_options(const SamplingFields& given) noexcept {
  return {.temperature = static_cast<float>(given.temperature),
          .top_k = given.top_k,
          .top_p = static_cast<float>(given.top_p),
          .min_p = static_cast<float>(given.min_p),
          .repetition_penalty = static_cast<float>(given.repetition_penalty),
          .frequency_penalty = static_cast<float>(given.frequency_penalty),
          .presence_penalty = static_cast<float>(given.presence_penalty),
          .seed = static_cast<std::uint64_t>(given.seed),
          .step = static_cast<std::uint64_t>(given.step)};
}

/// Chooses a token and tells it.
Status choose(const TensorView<const float>& logits, const SamplingFields& sampling,
              const ChoiceFields& given, const Array<float>& found) noexcept {
  TensorView<std::int32_t> top_ids;
  const TensorView<float> top = given.top_ids;
  if (!top.absent()) {
    top_ids = {reinterpret_cast<std::int32_t*>(top.data), {top.extent(0)}};
  }
  SampledToken token;
  const Status status = sample({.logits = logits,
                                .seen = given.seen,
                                .options = sampling_options(sampling),
                                .bias_ids = given.bias_ids,
                                .biases = given.biases,
                                .allowed = given.allowed,
                                .top_ids = top_ids,
                                .top_log_probabilities = given.top_log_probabilities},
                               scratch(), token);
  if (status.ok()) {
    tell(found, {static_cast<double>(token.id), static_cast<double>(token.log_probability)});
  }
  return status;
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
  Sites sites(given.sites);
  const ListedSessions sessions(given.sessions);
  if (!sessions.made()) {
    return sessions.refusal();
  }
  LanguageModel::ForwardArgs args{.ids = given.ids,
                                  .token_types = given.token_types,
                                  .key_lengths = given.key_lengths,
                                  .session = session_of(given.session),
                                  .sessions = sessions.list(),
                                  .logits = given.logits,
                                  .hidden = given.hidden,
                                  .surprisal = given.surprisal,
                                  .begin = {given.begin.fields.stream, given.begin.fields.layer}};
  Status status = sites.fill(*given.model, args);
  return status.ok() ? given.model->forward(args, scratch()) : status;
}

Status attributeModel(const AttributeModelFields& given) noexcept {
  const LanguageModelConfig& config = given.model->config();
  Sites sites(given.sites);
  LanguageModel::AttributeArgs args{
      .pass = {.ids = given.ids,
               .token_types = given.token_types,
               .key_lengths = given.key_lengths,
               .session = session_of(given.session),
               .begin = {given.begin.fields.stream, given.begin.fields.layer}},
      .batch = given.batch,
      .row = given.row,
      .answer = given.answer,
      .instead = given.instead,
      .parts = doubles_in(given.parts, {config.num_layers, config.num_heads + 3}),
      .rest = doubles_in(given.rest, {3})};
  Status status = sites.fill(*given.model, args.pass);
  return status.ok() ? given.model->attribute(args, scratch()) : status;
}

Status copyingModel(const CopyingModelFields& given) noexcept {
  return given.model->copying(
      {.layer = given.layer, .ids = given.ids, .stream = given.stream, .scores = given.scores},
      scratch());
}

Status generateToken(const GenerateTokenFields& given) noexcept {
  Conversation& conversation = *given.session;
  ModelSession& session = conversation.session;
  const Index vocabulary = given.model->config().vocabulary;
  if (Status status = conversation.logits.reserve(static_cast<std::size_t>(vocabulary));
      !status.ok()) {
    return status;
  }
  const Index length = session.length();
  float* const logits = conversation.logits.data();
  Sites sites(given.sites);
  LanguageModel::ForwardArgs args{
      .ids = given.ids, .session = &session, .logits = {logits, {1, 1, vocabulary}}};
  Status status = sites.fill(*given.model, args);
  if (status.ok()) {
    status = given.model->forward(args, scratch());
  }
  if (!status.ok()) {
    return status;
  }
  const TensorView<const float> row(logits, {vocabulary});
  status = choose(row, given.sampling, given.choice, given.found);
  if (!status.ok()) {
    // The session is as it was, like everything else after an error.
    const Status shortened = session.truncate(length);
    return shortened.ok() ? status : shortened;
  }
  return {};
}

namespace {

/// Part [begin, end) of a list of all rows; absent if it is empty.
template <class T>
TensorView<T> part_of(const TensorView<T>& all, Index begin, Index end) noexcept {
  return begin < end ? TensorView<T>(all.data + begin, {end - begin}) : TensorView<T>();
}
/// Row b of a table; absent without one.
template <class T>
TensorView<T> row_of(const TensorView<T>& table, Index b) noexcept {
  const Index width = table.extent(1);
  return table.absent() || width == 0 ? TensorView<T>()
                                      : TensorView<T>(table.data + b * width, {width});
}

/// Chooses the token of row b from its logits.
Status choose_row(const GenerateTokensFields& given, Index b,
                  const TensorView<const float>& logits) noexcept {
  constexpr Index kNumbers = 9;
  const TensorView<const float> words = given.sampling;
  double n[kNumbers];
  std::memcpy(n, words.data + 2 * kNumbers * b, sizeof n);
  const TensorView<const std::int32_t> seen_ends = given.seen_ends;
  const TensorView<const std::int32_t> bias_ends = given.bias_ends;
  const auto begin = [b](const TensorView<const std::int32_t>& ends) {
    return b > 0 ? Index{ends.data[b - 1]} : Index{0};
  };
  const TensorView<float> top_ids = row_of(given.top_ids.view(), b);
  SampledToken token;
  SamplingArgs args{.logits = logits,
                    .seen = part_of(given.seen.view(), begin(seen_ends), seen_ends.data[b]),
                    .options = {.temperature = static_cast<float>(n[0]),
                                .top_k = static_cast<Index>(n[1]),
                                .top_p = static_cast<float>(n[2]),
                                .min_p = static_cast<float>(n[3]),
                                .repetition_penalty = static_cast<float>(n[4]),
                                .frequency_penalty = static_cast<float>(n[5]),
                                .presence_penalty = static_cast<float>(n[6]),
                                .seed = static_cast<std::uint64_t>(n[7]),
                                .step = static_cast<std::uint64_t>(n[8])},
                    .bias_ids = part_of(given.bias_ids.view(), begin(bias_ends), bias_ends.data[b]),
                    .biases = part_of(given.biases.view(), begin(bias_ends), bias_ends.data[b]),
                    .allowed = row_of(given.allowed.view(), b),
                    .top_log_probabilities = row_of(given.top_log_probabilities.view(), b),
                    .top_after_changes = given.top_after_changes};
  if (!top_ids.absent()) {
    args.top_ids = {reinterpret_cast<std::int32_t*>(top_ids.data), {top_ids.extent(0)}};
  }
  const Status status = sample(args, scratch(), token);
  if (status.ok()) {
    const double found[] = {static_cast<double>(token.id),
                            static_cast<double>(token.log_probability)};
    std::memcpy(given.found.view().data + 4 * b, found, sizeof found);
  }
  return status;
}

}  // namespace

Status generateTokens(const GenerateTokensFields& given) noexcept {
  const ListedSessions sessions(given.sessions);
  if (!sessions.made()) {
    return ListedSessions::refusal();
  }
  const Index batch = given.ids.view().extent(0);
  const Index vocabulary = given.model->config().vocabulary;
  // The logits of all rows, in the memory of the first session.
  AlignedBuffer& buffer = ListedSessions::conversation(given.sessions, 0)->logits;
  if (Status status = buffer.reserve(static_cast<std::size_t>(batch * vocabulary)); !status.ok()) {
    return status;
  }
  float* const logits = buffer.data();
  Status status = given.model->forward(
      {.ids = given.ids, .sessions = sessions.list(), .logits = {logits, {batch, 1, vocabulary}}},
      scratch());
  if (!status.ok()) {
    return status;
  }
  for (Index b = 0; status.ok() && b < batch; ++b) {
    status = choose_row(given, b, {logits + b * vocabulary, {vocabulary}});
  }
  if (!status.ok()) {
    // All sessions are as they were.
    for (ModelSession* session : sessions.list()) {
      const Status shortened = session->truncate(session->length() - given.ids.view().extent(1));
      status = shortened.ok() ? status : shortened;
    }
  }
  return status;
}

Status sampleToken(const SampleTokenFields& given) noexcept {
  return choose(given.logits, given.sampling, given.choice, given.found);
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
  Sites sites(given.sites);
  LanguageModel::ForwardArgs args{.ids = given.source};
  Status status = sites.fill(*given.model, args);
  return status.ok() ? given.model->encode({.source = given.source,
                                            .session = session_of(given.session),
                                            .readings = args.readings,
                                            .edits = args.edits},
                                           scratch())
                     : status;
}

Status forkSession(const ForkSessionFields& given) noexcept {
  return make<Conversation>([&](Conversation& conversation) noexcept {
    Status status = given.session->session.fork(conversation.session);
    if (status.ok()) {
      tell(given.found, {static_cast<double>(conversation.session.max_bytes())});
    }
    return status;
  });
}

Status removeTokens(const RemoveTokensFields& given) noexcept {
  return given.session->session.remove(*given.model, {given.begin, given.end}, scratch());
}

Status measureSession(const MeasureSessionFields& given) noexcept {
  tell(given.found, {static_cast<double>(given.session->session.saved_bytes())});
  return {};
}

Status saveSession(const SaveSessionFields& given) noexcept {
  const TensorView<float> words = given.bytes;
  const auto count = static_cast<std::size_t>(words.size()) * sizeof(float);
  return given.session->session.save(*given.model,
                                     {reinterpret_cast<std::byte*>(words.data), count});
}

Status restoreSession(const RestoreSessionFields& given) noexcept {
  const TensorView<const std::uint8_t> bytes = given.from;
  return make<Conversation>([&](Conversation& conversation) noexcept {
    ModelSession& session = conversation.session;
    Status status = ModelSession::restore(
        *given.model,
        {reinterpret_cast<const std::byte*>(bytes.data), static_cast<std::size_t>(bytes.size())},
        given.capacity, session);
    if (status.ok()) {
      const ModelSessionConfig& config = session.config();
      tell(given.found,
           {static_cast<double>(session.max_bytes()), static_cast<double>(config.batch),
            static_cast<double>(config.capacity), static_cast<double>(session.length())});
    }
    return status;
  });
}

Status truncateSession(const TruncateSessionFields& given) noexcept {
  return given.session->session.truncate(given.length);
}

Status destroySession(const DestroySessionFields& given) noexcept {
  return destroy<Conversation>(given.object);
}

}  // namespace qkv::wasm

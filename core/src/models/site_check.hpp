// Sites of a pass: their shapes, and the checks of what is read and changed there.
#pragma once

#include <span>

#include "base/message.hpp"
#include "check/memory_check.hpp"
#include "qkv/language_model_config.hpp"
#include "qkv/model_sites.hpp"
#include "qkv/status.hpp"

namespace qkv {

/// What a site has beside rows of tokens.
struct SiteAxes {
  Index heads;  ///< 0: the site has no heads
  Index width;  ///< of the last axis; 0: rows are the last
};

/// `c` as check_model_config() left it. `keys`: the Tk of the call.
[[nodiscard]] SiteAxes site_axes(const LanguageModelConfig& c, ModelSite site, Index keys) noexcept;

/// The dense view of `rows` rows of a site.
[[nodiscard]] TensorView<float> site_view(const SiteAxes& axes, Index batch, Index rows,
                                          float* to) noexcept;

/// What sites are checked against.
struct SiteCall {
  const LanguageModelConfig& config;
  Index batch, length, keys;
  Index first_layer;  ///< that is computed
};

/// Readings alone fit the model and the call, each site of a layer once. `name`: what the caller calls the list.
Status check_readings(const Caller& caller, const SiteCall& call,
                      std::span<const ModelReading> readings, const char* name) noexcept;

/// What a reading writes, by the name of its site.
[[nodiscard]] NamedSpan span_of(const ModelReading& reading) noexcept;

/// The name of a site for messages.
[[nodiscard]] const char* site_name(ModelSite site) noexcept;

/// What a call reads and changes at its sites.
struct SiteWishes {
  std::span<const ModelReading> readings;
  std::span<const ModelEdit> edits;
  std::span<const ModelLens> lenses;
};

/// What readings ask for, edits change and lenses tell fits the model and the call. Memory that is shared is not looked for.
Status check_sites(const Caller& caller, const SiteCall& call, const SiteWishes& wishes) noexcept;

/// What readings and lenses write lies apart from each other, from results, from inputs and from what edits read; and results do
/// from what edits read.
Status check_sites_apart(const Caller& caller, const SiteWishes& wishes, NamedSpans results,
                         NamedSpans inputs) noexcept;

}  // namespace qkv

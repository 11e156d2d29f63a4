/// @file
/// Everything of the library but what needs Eigen (qkv/eigen.hpp) and what starts threads (qkv/threads.hpp).

/// @namespace qkv
/// Scaled dot-product attention, the layers that use it, and positional encodings.

#pragma once

#include "qkv/activation.hpp"
#include "qkv/analysis.hpp"
#include "qkv/attention.hpp"
#include "qkv/circuits.hpp"
#include "qkv/embedding.hpp"
#include "qkv/feed_forward.hpp"
#include "qkv/isa.hpp"
#include "qkv/kv_cache.hpp"
#include "qkv/language_model.hpp"
#include "qkv/language_model_config.hpp"
#include "qkv/linear.hpp"
#include "qkv/model_session.hpp"
#include "qkv/model_sites.hpp"
#include "qkv/multi_head_attention.hpp"
#include "qkv/norm.hpp"
#include "qkv/number_format.hpp"
#include "qkv/parallel.hpp"
#include "qkv/positional.hpp"
#include "qkv/relative_bias.hpp"
#include "qkv/rotary.hpp"
#include "qkv/sampling.hpp"
#include "qkv/softmax.hpp"
#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"
#include "qkv/transformer.hpp"
#include "qkv/version.hpp"
#include "qkv/workspace.hpp"

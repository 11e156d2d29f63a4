/// @file
/// Everything but the Eigen maps (qkv/eigen.hpp).
#pragma once

#include "qkv/attention.hpp"
#include "qkv/isa.hpp"
#include "qkv/multi_head_attention.hpp"
#include "qkv/positional.hpp"
#include "qkv/status.hpp"
#include "qkv/tensor_view.hpp"
#include "qkv/version.hpp"
#include "qkv/workspace.hpp"

// Steps whose numbers are computed one by one.
#pragma once

#include "base/share.hpp"
#include "train/tape/tape.hpp"

namespace qkv::train {

/// Calls piece(begin, end) for pieces of the numbers of the output, on the threads of the pool.
template <class Piece>
void for_pieces(const Pass& pass, const Piece& piece) noexcept {
  share(pass.workspace.pool(), pass.out().size(), kShareElements, piece);
}

}  // namespace qkv::train

;; The relaxed build uses exactly one relaxed opcode. Engines have shipped parts of that proposal, so
;; the probe is that very opcode and not another one.
(module
  (func (param v128 v128 v128) (result v128)
    (f32x4.relaxed_madd (local.get 0) (local.get 1) (local.get 2))))

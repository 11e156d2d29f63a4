;; The plain build uses SIMD128 throughout; one splat is enough to ask for all of it, because the
;; proposal shipped whole everywhere.
(module
  (func (param f32) (result v128)
    (f32x4.splat (local.get 0))))

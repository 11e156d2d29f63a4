;; Memory that threads share, waiting on it, and copying within it.
(module
  (import "env" "memory" (memory 1 1 shared))
  (func (param i32)
    (memory.copy (local.get 0) (local.get 0) (i32.const 0))
    (drop (memory.atomic.notify (local.get 0)
      (memory.atomic.wait32 (local.get 0) (i32.const 0) (i64.const 0))))))

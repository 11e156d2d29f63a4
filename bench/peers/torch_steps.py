"""The training step of train_model.js in PyTorch, on one thread. A line of JSON in, a line out.

{"entry", "ids", "targets", "weights": {name: {"shape", "data"}}, "adam", "compared"} answers with the losses of the first
steps; {"milliseconds"} makes steps for so long and answers with the milliseconds of one.
"""
import json
import math
import sys
import time

import torch
from torch.nn import functional as F

torch.set_num_threads(1)


def affine(x, w, at, which):
    return torch.addmm(w[f"{at}.b{which}"], x, w[f"{at}.w{which}"])


def norm(x, w, at):
    return F.layer_norm(x, x.shape[-1:], w[f"{at}.gamma"], w[f"{at}.beta"], 1e-5)


def loss_of(entry, w, ids, targets, mask):
    batch, tokens, model, heads = (entry[k] for k in ("batch", "tokens", "model", "heads"))
    rows = batch * tokens

    def split(x):
        return x.view(batch, tokens, heads, model // heads).transpose(1, 2)

    h = (F.embedding(ids, w["embedding"]) + w["positions"]).view(rows, model)
    for layer in range(entry["layers"]):
        at = f"layers.{layer}."
        x = norm(h, w, f"{at}norm1")
        q, k, v = (split(affine(x, w, f"{at}attention", which)) for which in "qkv")
        scores = q @ k.transpose(2, 3) / math.sqrt(model / heads) + mask
        attended = (torch.softmax(scores, -1) @ v).transpose(1, 2).reshape(rows, model)
        h = h + affine(attended, w, f"{at}attention", "o")
        if entry["hidden"]:
            active = torch.relu(affine(norm(h, w, f"{at}norm2"), w, f"{at}feedForward", "1"))
            h = h + affine(active, w, f"{at}feedForward", "2")
    return F.cross_entropy(norm(h, w, "norm") @ w["head"], targets)


class Run:
    def __init__(self, request):
        self.entry = entry = request["entry"]
        self.weights = {
            name: torch.tensor(array["data"]).view(array["shape"]).requires_grad_()
            for name, array in request["weights"].items()
        }
        self.ids = torch.tensor(request["ids"]).view(entry["batch"], entry["tokens"])
        self.targets = torch.tensor(request["targets"])
        self.mask = torch.full([entry["tokens"]] * 2, -1e9).triu(1)
        adam = request["adam"]
        self.optimizer = torch.optim.Adam(
            self.weights.values(), adam["rate"], (adam["beta1"], adam["beta2"]), adam["epsilon"]
        )

    def step(self):
        self.optimizer.zero_grad()
        loss = loss_of(self.entry, self.weights, self.ids, self.targets, self.mask)
        loss.backward()
        self.optimizer.step()
        return loss.item()


run = None
for line in sys.stdin:
    request = json.loads(line)
    if "entry" in request:
        run = Run(request)
        answer = {"losses": [run.step() for _ in range(request["compared"])], "version": torch.__version__}
    else:
        begin, steps = time.perf_counter(), 0
        while steps == 0 or (time.perf_counter() - begin) * 1e3 < request["milliseconds"]:
            run.step()
            steps += 1
        answer = {"ms": (time.perf_counter() - begin) * 1e3 / steps}
    print(json.dumps(answer), flush=True)

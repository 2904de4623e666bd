#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The decode loop of a small transformer, in PyTorch with a CUDA graph, with and without barmap.

    python3 examples/python_step_loop.py [--steps 400]      needs PyTorch and a GPU

Each step takes 48 small inputs of 256 bytes from the CPU and gives a token for each sequence back to
it. Without barmap, the inputs are 48 copies from pinned memory, and the token is waited for by cpu().
With it, one call publishes all inputs, which the graph itself loads, and the graph's end publishes
the tokens. Both must choose the same tokens. Prints a line of JSON: medians in microseconds.
"""

import argparse
import json
import statistics
import sys
import time

BATCH, WIDTH, HEADS, LAYERS, WORDS, LONGEST = 32, 256, 4, 4, 1024, 128
INPUTS, WIDE = 48, 32  # so many inputs, of so many 64-bit integers: 256 bytes


def block(torch, generator, device):
    """The weights of one layer."""
    def weights(*shape):
        return torch.randn(*shape, generator=generator, device=device) / shape[0] ** 0.5

    return {"qkv": weights(WIDTH, 3 * WIDTH), "out": weights(WIDTH, WIDTH),
            "up": weights(WIDTH, 4 * WIDTH), "down": weights(4 * WIDTH, WIDTH)}


class Model:
    """A transformer of random weights that decodes one token of each sequence per step.

    Of its inputs, the first is each sequence's last token, the second its position, and the others
    shift the logits a little, so that a wrong byte in any of them changes what is chosen.
    """

    def __init__(self, torch, device):
        self.torch = torch
        generator = torch.Generator(device=device).manual_seed(1)
        self.embedding = torch.randn(WORDS, WIDTH, generator=generator, device=device)
        self.places = torch.randn(LONGEST, WIDTH, generator=generator, device=device)
        self.layers = [block(torch, generator, device) for _ in range(LAYERS)]
        shape = (LAYERS, BATCH, HEADS, LONGEST, WIDTH // HEADS)
        self.keys = torch.zeros(shape, device=device)
        self.values = torch.zeros(shape, device=device)
        self.inputs = {f"x{i}": torch.zeros(WIDE, dtype=torch.int64, device=device)
                       for i in range(INPUTS)}
        self.tokens = torch.zeros(BATCH, dtype=torch.int64, device=device)
        self.columns = torch.arange(LONGEST, device=device)
        self.shifts = torch.randn(INPUTS - 2, WORDS, generator=generator, device=device) / 50

    def forget(self):
        self.keys.zero_()
        self.values.zero_()

    def step(self):
        """Reads the inputs, and leaves the chosen tokens in `tokens`."""
        functional = self.torch.nn.functional
        last, position = self.inputs["x0"], self.inputs["x1"]
        x = self.embedding[last] + self.places[position]
        is_seen = (self.columns[None] <= position[:, None])[:, None, None]
        for i, layer in enumerate(self.layers):
            mixed = functional.layer_norm(x, (WIDTH,)) @ layer["qkv"]
            q, k, v = mixed.view(BATCH, 3, HEADS, WIDTH // HEADS).unbind(1)
            self.store(i, position, k, v)
            seen = functional.scaled_dot_product_attention(
                q[:, :, None], self.keys[i], self.values[i], attn_mask=is_seen)
            x = x + seen.reshape(BATCH, WIDTH) @ layer["out"]
            x = x + functional.gelu(functional.layer_norm(x, (WIDTH,)) @ layer["up"]) @ layer["down"]
        shift = self.torch.stack([self.inputs[f"x{i}"] for i in range(2, INPUTS)]).sum(1)
        logits = functional.layer_norm(x, (WIDTH,)) @ self.embedding.T
        logits = logits + (shift % 97).to(logits.dtype) @ self.shifts
        self.tokens.copy_(logits.argmax(-1))

    def store(self, layer, position, keys, values):
        where = position[:, None, None, None].expand(BATCH, HEADS, 1, WIDTH // HEADS)
        self.keys[layer].scatter_(2, where, keys[:, :, None])
        self.values[layer].scatter_(2, where, values[:, :, None])


def captured(torch, model, work):
    """A graph of the work, after some steps so that all libraries have what they need."""
    aside = torch.cuda.Stream()
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):
        for _ in range(3):
            model.step()
    torch.cuda.current_stream().wait_stream(aside)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    return graph


def fill(host, number, tokens):
    """Fills the inputs that the CPU gives the model before a step."""
    host["x0"][:] = tokens
    host["x1"][:] = number % LONGEST
    for i in range(2, INPUTS):
        host[f"x{i}"][:] = number * i


class Plain:
    """Inputs by copies from pinned memory, tokens by cpu()."""

    def __init__(self, torch, model):
        self.model, self.graph = model, captured(torch, model, model.step)
        self.pinned = {name: torch.zeros(WIDE, dtype=torch.int64, pin_memory=True)
                       for name in model.inputs}
        self.host = {name: each.numpy() for name, each in self.pinned.items()}

    def send(self, arrays):
        for name, each in self.pinned.items():
            self.model.inputs[name].copy_(each, non_blocking=True)

    def receive(self):
        return self.model.tokens.cpu()


class Barmap:
    """Inputs by one push, tokens out of a ring: no copy and no synchronisation by CUDA."""

    def __init__(self, torch, model):
        import barmap.torch

        self.model = model
        self.inputs = barmap.torch.step_inputs(model.inputs)
        self.ring = barmap.torch.token_ring(model.tokens)

        def work():
            self.inputs.enqueue_load()
            model.step()
            self.ring.push()

        self.graph = captured(torch, model, work)
        self.host = {name: each.numpy().copy() for name, each in self.inputs.host.items()}

    def send(self, arrays):
        assert self.inputs.push(arrays), "no version is free"

    def receive(self):
        if not self.ring.wait_for(10):
            raise RuntimeError("no tokens came: a load or a store may have given up")
        return self.ring.pop()


def decode(way, steps):
    """The tokens of all steps, and three times of each in ns: inputs, launch to token, both."""
    way.model.forget()
    tokens, found, times = [1] * WIDE, [], []
    for number in range(steps):
        fill(way.host, number, tokens)
        begin = time.perf_counter_ns()
        way.send(way.host)
        sent = time.perf_counter_ns()
        way.graph.replay()
        tokens = way.receive().numpy()
        end = time.perf_counter_ns()
        found.append(tokens.tolist())
        times.append((sent - begin, end - sent, end - begin))
    return found, times


def main(torch, steps, warm_up=50):
    torch.backends.cuda.matmul.allow_tf32 = False
    result = {"gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "steps": steps,
              "inputs": INPUTS, "bytes_of_each": WIDE * 8}
    chosen = {}
    with torch.no_grad(), torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        ways = {name: kind(torch, Model(torch, "cuda")) for name, kind in
                (("plain", Plain), ("barmap", Barmap))}
        for name, way in ways.items():
            chosen[name], times = decode(way, warm_up + steps)
            for what, values in zip(("inputs_us", "launch_to_token_us", "step_us"),
                                    zip(*times[warm_up:])):
                result[f"{name}_{what}"] = round(statistics.median(values) / 1000, 2)
    result["equal"] = chosen["plain"] == chosen["barmap"]
    print(json.dumps(result))
    if not result["equal"]:
        first = next(i for i, (a, b) in enumerate(zip(*chosen.values())) if a != b)
        raise RuntimeError(f"the tokens differ from step {first} on")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=400, help="how many are measured, 200 at least")
    arguments = parser.parse_args()
    try:
        import torch

        if not torch.cuda.is_available():
            raise RuntimeError("needs a GPU that PyTorch can use")
        main(torch, max(arguments.steps, 200))
    except (ImportError, OSError, RuntimeError) as refusal:
        sys.exit(f"python_step_loop.py: {refusal}")

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A DataLoader whose workers put images straight into the GPU memory that the model reads.

    python3 examples/python_dataloader.py [--workers 8] [--batches 400]     needs PyTorch and a GPU

Beside the same loader with pin_memory=True and non_blocking copies, for images of uint8 and of
float32. The workers of both crop, mirror and normalise the same images. The workers of barmap write
each image to its place in a slot, a batch of GPU memory, and tell the main process the slot's
number alone: they need no CUDA. Checks every byte of the first batches, then measures. Prints a
line of JSON for each way: images per second; the time that the main thread spends on a batch, from
its arrival until the model is started; the CPU time per image of the main process, and of all.
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import statistics
import sys
import time

import numpy as np

BATCH, SHAPE, STORED = 64, (3, 224, 224), 256  # so many images that the workers keep
MEAN = np.array([0.485, 0.456, 0.406], "f4")[:, None, None]
DEVIATION = np.array([0.229, 0.224, 0.225], "f4")[:, None, None]


class Images:
    """A data set: image `i` is a crop of a stored one, mirrored or not."""

    def __init__(self, dtype):
        self.dtype, self.stored = np.dtype(dtype), None

    def __len__(self):
        return sys.maxsize

    def __getitem__(self, i):
        if self.stored is None:  # in each worker, so that no process sends it
            self.stored = np.random.default_rng(1).integers(256, size=(STORED, 3, 256, 256),
                                                            dtype=np.uint8)
        top, left = i * 7 % 33, i * 13 % 33
        image = self.stored[i % STORED, :, top:top + 224, left:left + 224]
        if i % 2:
            image = image[:, :, ::-1]
        if self.dtype == np.uint8:
            return np.ascontiguousarray(image)
        return (image * np.float32(1 / 255) - MEAN) / DEVIATION


class InSlots:
    """The same, for a loader that asks for `[slot, *images]` and gets the slot's number."""

    def __init__(self, images, slots):
        self.images, self.slots = images, slots

    def __getitems__(self, asked):
        slot, *numbers = asked
        for place, i in enumerate(numbers):
            image = self.images[i]
            self.slots[slot].write(image, offset=place * image.nbytes)
        return slot


def unchanged(batch):
    return batch


class Free:
    """Which slot the workers fill next, with which images: in order, when the model has read it."""

    def __init__(self, batches, read):
        self.batches, self.read = batches, read

    def __iter__(self):
        for k in range(self.batches):
            slot = k % len(self.read)
            self.read[slot].synchronize()
            yield [slot, *range(k * BATCH, (k + 1) * BATCH)]


class Plain:
    name = "pin_memory"

    def __init__(self, torch, dtype, workers, batches):
        self.loader = torch.utils.data.DataLoader(
            Images(dtype), num_workers=workers, pin_memory=True,
            multiprocessing_context="spawn",
            batch_sampler=[range(k * BATCH, (k + 1) * BATCH) for k in range(batches)])

    def on_gpu(self, batch):
        return batch.to("cuda", non_blocking=True)

    def is_read(self, batch):
        pass


class Barmap:
    name = "barmap"

    def __init__(self, torch, dtype, workers, batches, ahead=2):
        import barmap

        # Batches that workers fill ahead, the one that the model reads, and the next one.
        count = ahead * workers + 2
        kind = torch.uint8 if dtype == "uint8" else torch.float32
        self.slots = [torch.empty((BATCH, *SHAPE), dtype=kind, device="cuda") for _ in range(count)]
        self.read = [torch.cuda.Event() for _ in self.slots]
        mappings = [barmap.map(slot, backend="rm") for slot in self.slots]
        self.loader = torch.utils.data.DataLoader(
            InSlots(Images(dtype), mappings), batch_sampler=Free(batches, self.read),
            collate_fn=unchanged, num_workers=workers, prefetch_factor=ahead,
            multiprocessing_context="spawn")

    def on_gpu(self, slot):
        return self.slots[slot]

    def is_read(self, slot):
        self.read[slot].record()


def model(torch, images):
    """Reads all of the images; a few per cent of a real one's time."""
    return torch.nn.functional.avg_pool2d(images.half(), 16).float().sum(0)


def check(torch, way, images, batches):
    for k, batch in zip(range(batches), way.loader):
        expected = np.stack([images[i] for i in range(k * BATCH, (k + 1) * BATCH)])
        if not torch.equal(way.on_gpu(batch).cpu(), torch.from_numpy(expected)):
            raise RuntimeError(f"{way.name}: batch {k} is wrong")
        way.is_read(batch)


def workers_cpu_seconds():
    """Of the workers that run now; Linux counts in steps of 10 ms."""
    ticks = 0
    for worker in multiprocessing.active_children():
        fields = pathlib.Path(f"/proc/{worker.pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def measure(torch, way, batches, warm_up):
    spent = []
    for k, batch in enumerate(way.loader):
        if k == warm_up:
            torch.cuda.synchronize()
            begin = time.perf_counter(), time.process_time(), workers_cpu_seconds()
        arrived = time.perf_counter()
        model(torch, way.on_gpu(batch))
        way.is_read(batch)
        spent.append(time.perf_counter() - arrived)
        if k == batches - 1:  # before the workers end
            torch.cuda.synchronize()
            end = time.perf_counter(), time.process_time(), workers_cpu_seconds()
    elapsed, main, others = (after - before for before, after in zip(begin, end))
    images = (batches - warm_up) * BATCH
    return {"images_per_s": round(images / elapsed),
            "main_us_per_batch": round(statistics.median(spent[warm_up:]) * 1e6, 1),
            "main_cpu_us_per_image": round(main / images * 1e6, 2),
            "cpu_us_per_image": round((main + others) / images * 1e6, 1)}


def main(torch, workers, batches, warm_up=50, checked=20):
    for dtype in ("uint8", "float32"):
        for kind in (Plain, Barmap):
            check(torch, kind(torch, dtype, workers, checked), Images(dtype), checked)
            found = measure(torch, kind(torch, dtype, workers, batches + warm_up),
                            batches + warm_up, warm_up)
            print(json.dumps({"way": kind.name, "dtype": dtype, "workers": workers,
                              "batch": BATCH, **found}), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--workers", type=int, default=8)
    parser.add_argument("--batches", type=int, default=400, help="how many are measured")
    arguments = parser.parse_args()
    try:
        import torch

        if not torch.cuda.is_available():
            raise RuntimeError("needs a GPU that PyTorch can use")
        main(torch, arguments.workers, arguments.batches)
    except (ImportError, OSError, RuntimeError) as refusal:
        sys.exit(f"python_dataloader.py: {refusal}")

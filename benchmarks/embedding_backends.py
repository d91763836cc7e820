"""Ways of running the model of `minilm` on one batch without padding, in turns, in float32."""

from __future__ import annotations

import importlib.util
import shutil
import statistics
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.embedding import timed
from harness.embedding.packed import in_threads, portions
from harness.runs.pipeline import load_embedder

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS, ROWS, WIDTH = 7, 16, 168


def _packed(ids: Any, threads: int) -> Callable[[], Any]:
    import torch

    packed = load_embedder("minilm").loaded.packed  # type: ignore[attr-defined]
    parts = portions([WIDTH] * ROWS, ROWS, threads)

    def work(numbers: list[int]) -> list[Any]:
        with torch.inference_mode():
            return [states.numpy() for states in packed.states([ids[n].tolist() for n in numbers])]

    return lambda: np.stack([one for part in in_threads(work, parts, threads) for one in part])


def _openvino(network: Any, inputs: Any, threads: int) -> Callable[[], Any]:
    import openvino

    options = {"INFERENCE_NUM_THREADS": threads, "INFERENCE_PRECISION_HINT": "f32"}
    model = openvino.convert_model(network, example_input=inputs)
    compiled = openvino.compile_model(model, "CPU", options)
    arrays = [tensor.numpy() for tensor in inputs]
    return lambda: compiled(arrays)[0]


def _onnxruntime(network: Any, inputs: Any, threads: int) -> Callable[[], Any]:
    import onnxruntime
    import torch

    names = ["ids", "mask"]
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model.onnx")
        torch.onnx.export(network, inputs, path, input_names=names, dynamo=False, opset_version=17)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    feed = {name: tensor.numpy() for name, tensor in zip(names, inputs, strict=True)}
    return lambda: session.run(None, feed)[0]


def _compiled(network: Any, inputs: Any) -> Callable[[], Any]:
    import torch
    from torch._inductor import config

    config.freezing = True
    compiled = torch.compile(network)
    return lambda: compiled(*inputs).numpy()


def backends() -> dict[str, Callable[[], Any]]:
    """What computes the hidden states of a batch, by name; first the reference."""
    import torch
    from sentence_transformers import SentenceTransformer

    folder = load_embedder("minilm").folder  # type: ignore[attr-defined]
    transformer = SentenceTransformer(str(folder), device="cpu")[0].auto_model

    class Network(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.transformer = transformer  # registers its weights

        def forward(self, ids: Any, mask: Any) -> Any:
            return self.transformer(input_ids=ids, attention_mask=mask).last_hidden_state

    network, threads = Network().eval(), torch.get_num_threads()
    ids = torch.randint(
        1000, 20000, (ROWS, WIDTH), generator=torch.Generator().manual_seed(0), dtype=torch.long
    )
    inputs = (ids, torch.ones_like(ids))
    found = {"torch": lambda: network(*inputs).numpy(), "chunkmark": _packed(ids, threads)}
    if importlib.util.find_spec("openvino"):
        found["OpenVINO"] = _openvino(network, inputs, threads)
    if importlib.util.find_spec("onnxruntime") and importlib.util.find_spec("onnx"):
        found["ONNX Runtime"] = _onnxruntime(network, inputs, threads)
    if shutil.which("g++"):
        found["torch.compile, frozen"] = _compiled(network, inputs)
    return found


def main() -> None:
    """Print a table: milliseconds, the ratio to torch, the largest difference of a state."""
    import torch

    warnings.simplefilter("ignore")
    seconds: dict[str, list[float]] = {}
    with torch.no_grad():
        runs = backends()
        first = {name: run() for name, run in runs.items()}
        for _ in range(ROUNDS):
            for name, run in runs.items():
                seconds.setdefault(name, []).append(timed(run)[0])
    print("| back end | ms | ratio | largest difference |\n|---|---:|---:|---:|")
    for name, own in seconds.items():
        ratio = statistics.median(a / b for a, b in zip(own, seconds["torch"], strict=True))
        difference = np.abs(first[name] - first["torch"]).max()
        print(f"| {name} | {1000 * statistics.median(own):.0f} | {ratio:.2f} | {difference:.1e} |")


if __name__ == "__main__":
    main()

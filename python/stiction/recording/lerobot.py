"""LeRobot's data sets, version 3.0: parquet files of frames and episodes, JSON of features and statistics."""

import io
import json
from pathlib import Path

import numpy as np

from .._core import ArgumentError
from .._util.extras import remedy
from .._util.files import new_folder

VERSION = "v3.0"
CHUNK = 1000  # files of a folder
FILE_BYTES = 100 * 2**20
IMAGE = "observation.images.camera"
DATA = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
EPISODES = "meta/episodes/chunk-000/file-000.parquet"


def _arrow():
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError as e:
        if e.name.partition(".")[0] != "pyarrow":
            raise
        raise ModuleNotFoundError(f"pyarrow is not installed: {remedy('record')}", name="pyarrow") from None
    return pyarrow


def _png(picture):
    try:
        from PIL import Image
    except ModuleNotFoundError:
        raise ModuleNotFoundError("Pillow is not installed: pip install pillow", name="PIL") from None
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "PNG")
    return file.getvalue()


def _frames(episodes, fps):
    """Columns of all frames: numbers; pictures are added by `_table`."""
    length = np.array([len(e) for e in episodes])
    first = np.cumsum(length) - length
    episode = np.repeat(np.arange(len(episodes)), length)
    index = np.arange(length.sum())
    frame = index - first[episode]
    join = lambda name: np.concatenate([getattr(e, name) for e in episodes])
    return {
        "observation.state": join("obs").astype(np.float32),
        "observation.environment_state": join("states").astype(np.float32),
        "action": join("actions").astype(np.float32),
        "next.reward": join("rewards").astype(np.float32)[:, None],
        "next.done": join("dones")[:, None],
        "timestamp": (frame / fps).astype(np.float32)[:, None],
        "frame_index": frame[:, None], "episode_index": episode[:, None], "index": index[:, None],
        "task_index": np.zeros_like(index)[:, None],
    }  # fmt: skip


def _statistics(x):
    x = np.asarray(x, np.float64)
    found = {"min": x.min(0), "max": x.max(0), "mean": x.mean(0), "std": x.std(0), "count": np.array([len(x)])}
    found |= {f"q{q:02d}": np.quantile(x, q / 100, axis=0) for q in (1, 10, 50, 90, 99)}
    return {name: value.tolist() for name, value in found.items()}


def _picture_statistics(episodes):
    """Statistics of colours between 0 and 1, (3, 1, 1) as LeRobot has them; of at most 1000 frames."""
    frames = np.concatenate([e.pictures for e in episodes])
    colours = frames[:: max(1, len(frames) // 1000)].reshape(-1, 3) / 255
    of = _statistics(colours)
    of["count"] = [len(frames)]
    return {name: x if name == "count" else np.reshape(x, (3, 1, 1)).tolist() for name, x in of.items()}


def _column(arrow, x):
    if x.shape[1] == 1:
        return arrow.array(x[:, 0])
    flat = arrow.array(np.ascontiguousarray(x).reshape(-1))
    return arrow.FixedSizeListArray.from_arrays(flat, x.shape[1]).cast(arrow.list_(flat.type))


def _files(episodes, columns):
    """For each episode the file that holds it; an episode is not divided."""
    per_frame = sum(x.itemsize * x.shape[1] for x in columns.values())
    file, used, found = 0, 0, []
    for e in episodes:
        size = len(e) * (per_frame + (0 if e.pictures is None else e.pictures[0].size // 4))
        if used and used + size > FILE_BYTES:
            file, used = file + 1, 0
        used += size
        found.append(file)
    return found


def write(folder, recorder, task, robot_type):
    arrow = _arrow()
    episodes = recorder.episodes()
    drawn = [e for e in episodes if e.pictures is not None]
    episodes = drawn or episodes
    if not episodes:
        raise ArgumentError(f"{folder}: nothing is recorded; step first")
    Path(folder).parent.mkdir(parents=True, exist_ok=True)
    with new_folder(folder) as part:
        _write_files(arrow, part, recorder, episodes, drawn, task, robot_type)


def _write_files(arrow, part, recorder, episodes, drawn, task, robot_type):
    rate = 1 / recorder.env.dt
    fps = round(rate) if abs(rate - round(rate)) < 1e-6 * rate else rate
    columns = _frames(episodes, fps)
    features = {name: {"dtype": str(x.dtype), "shape": [x.shape[1]], "names": None} for name, x in columns.items()}
    statistics = {name: _statistics(x) for name, x in columns.items()}
    if drawn:
        shape = list(drawn[0].pictures.shape[1:])
        features[IMAGE] = {"dtype": "image", "shape": shape, "names": ["height", "width", "channels"]}
        statistics[IMAGE] = _picture_statistics(drawn)

    files = _files(episodes, columns)
    ends = np.cumsum([len(e) for e in episodes])
    for file in sorted(set(files)):
        mine = [k for k, f in enumerate(files) if f == file]
        rows = slice(int(ends[mine[0]] - len(episodes[mine[0]])), int(ends[mine[-1]]))
        table = {name: _column(arrow, x[rows]) for name, x in columns.items()}
        if drawn:
            pictures = [{"bytes": _png(p), "path": None} for k in mine for p in episodes[k].pictures]
            table[IMAGE] = arrow.array(pictures, arrow.struct([("bytes", arrow.binary()), ("path", arrow.string())]))
        path = part / DATA.format(chunk_index=file // CHUNK, file_index=file % CHUNK)
        path.parent.mkdir(parents=True, exist_ok=True)
        arrow.parquet.write_table(arrow.table(table), path)

    _write_meta(arrow, part, episodes, files, ends, task)
    info = {
        "codebase_version": VERSION, "robot_type": robot_type, "total_episodes": len(episodes), "total_frames": int(ends[-1]),
        "total_tasks": 1, "chunks_size": CHUNK, "data_files_size_in_mb": FILE_BYTES // 2**20, "video_files_size_in_mb": 200,
        "fps": fps, "splits": {"train": f"0:{len(episodes)}"}, "data_path": DATA, "video_path": None, "features": features,
    }  # fmt: skip
    (part / "meta/info.json").write_text(json.dumps(info, indent=4))
    (part / "meta/stats.json").write_text(json.dumps(statistics, indent=4))


def _write_meta(arrow, part, episodes, files, ends, task):
    numbers = np.arange(len(episodes))
    table = {
        "episode_index": numbers, "tasks": [[task]] * len(episodes), "length": [len(e) for e in episodes],
        "data/chunk_index": [f // CHUNK for f in files], "data/file_index": [f % CHUNK for f in files],
        "dataset_from_index": [int(end) - len(e) for end, e in zip(ends, episodes)], "dataset_to_index": ends.tolist(),
        "meta/episodes/chunk_index": 0 * numbers, "meta/episodes/file_index": 0 * numbers,
    }  # fmt: skip
    path = part / EPISODES
    path.parent.mkdir(parents=True, exist_ok=True)
    arrow.parquet.write_table(arrow.table({name: arrow.array(x) for name, x in table.items()}), path)
    # LeRobot reads it by pandas, with the tasks as index
    column = lambda name, kind, numpy: {"name": name, "field_name": name, "pandas_type": kind, "numpy_type": numpy, "metadata": None}
    pandas = {"index_columns": ["task"], "column_indexes": [], "pandas_version": "2.2.0",
              "columns": [column("task_index", "int64", "int64"), column("task", "unicode", "object")]}  # fmt: skip
    tasks = arrow.table({"task_index": arrow.array([0]), "task": arrow.array([task])})
    arrow.parquet.write_table(tasks.replace_schema_metadata({"pandas": json.dumps(pandas)}), part / "meta/tasks.parquet")

"""What docs/scaling.md shows for Slurm, Kubernetes and the command line can be read by those who get it."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from stiction.cli import build_parser

TEXT = (Path(__file__).parents[2] / "docs/scaling.md").read_text()


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("script", blocks("bash"), ids=["training", "cluster"])
def test_batch_scripts_are_bash(script):
    run = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True)
    assert run.returncode == 0 and not run.stderr, run.stderr
    options = re.findall(r"^#SBATCH --([a-z-]+)(=\S+)?$", script, re.MULTILINE)
    assert {"nodes", "ntasks-per-node", "cpus-per-task", "time"} <= {name for name, _ in options}


def calls():
    """`stiction train` and `sweep`, of every block, as argparse gets them."""
    everything = "\n".join(blocks("bash") + blocks("sh") + blocks("yaml")).replace("\\\n", " ")
    for line in everything.splitlines():
        if found := re.search(r"(?:-m |^|\s)stiction ((?:train|sweep) .*)", line):
            yield shlex.split(found[1], comments=True)


@pytest.mark.parametrize("call", list(calls()), ids=" ".join)
def test_commands_are_understood(call):
    choice = {"$resume": "--resume"}
    args = build_parser().parse_args([choice.get(word, word) for word in call])
    assert args.command in ("train", "sweep")


def test_there_are_commands_in_every_kind_of_block():
    assert len(list(calls())) == 7


def test_the_job_of_kubernetes_is_whole():
    yaml = pytest.importorskip("yaml", reason="yaml not installed: ./dev setup --train")
    (text,) = blocks("yaml")
    service, job = yaml.safe_load_all(text)
    spec = job["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    (script,) = container["args"]
    assert (service["kind"], job["kind"], spec["subdomain"]) == ("Service", "Job", service["metadata"]["name"])
    assert service["spec"]["selector"] == {"job-name": job["metadata"]["name"]}
    assert {v["name"] for v in spec["volumes"]} == {m["name"] for m in container["volumeMounts"]}
    pods = job["spec"]["completions"]
    assert job["spec"]["parallelism"] == pods and f"--nnodes {pods} " in script
    assert f"--nproc-per-node {container['resources']['limits']['nvidia.com/gpu']} " in script
    assert f"--master-addr {job['metadata']['name']}-0.{spec['subdomain']} " in script
    run = subprocess.run(["bash", "-n"], input=script, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr

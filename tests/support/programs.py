"""Programs in other languages that use the component package of this checkout."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import grpc
import pytest
import yaml
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc

from components.contract.component_package import PACKAGE
from infra.package.schema import SCHEMA
from workbench.system.paths import PROJECT_ROOT
from workbench.toolchain import ensure

EXAMPLES: Final = PROJECT_ROOT / "examples"
PLUGIN: Final = PROJECT_ROOT / "infra" / "package"
LANGUAGES: Final = ("pulumi-language-yaml", "pulumi-language-nodejs")
NAME: Final = "acme-clusters"
"""Name of the projects."""


class Pulumi(NamedTuple):
    """Plain ``pulumi`` with all of its variables, ``PULUMI_STACK`` among them."""

    program: str
    environment: Mapping[str, str]

    def __call__(self, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command in a project's folder."""
        return subprocess.run(
            [self.program, *arguments, "--non-interactive", "--color", "never"],
            cwd=folder,
            env=dict(self.environment),
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )

    def output(self, folder: Path, *arguments: str) -> str:
        """Run a command that succeeds, and return its standard output."""
        done = self(folder, *arguments)
        assert done.returncode == 0, f"pulumi {arguments}:\n{done.stdout[-5000:]}\n{done.stderr[-5000:]}"
        return done.stdout

    def planned(self, project: Path) -> list[dict[str, Any]]:
        """Return the resources that a first preview of a program plans."""
        steps = json.loads(self.output(project, "preview", "--json"))["steps"]
        assert {step["op"] for step in steps} == {"create"}
        return [step["newState"] for step in steps]

    def refused(self, project: Path) -> str:
        """Return what a preview prints that fails."""
        done = self(project, "preview")
        printed = done.stdout + done.stderr
        assert done.returncode != 0, printed[-5000:]
        # The program itself may have a traceback, since the engine ends under it.
        assert f'File "{PROJECT_ROOT / "infra"}' not in printed, printed[-5000:]
        return printed


def served_schema(python: Path, plugin: Path, folder: Path) -> dict[str, Any]:
    """Start a package in a folder as the engine does, and return the schema that it serves."""
    command = [str(python), str(plugin), "127.0.0.1:1"]  # the address of the engine, which a schema does not need
    variables = {"PATH": os.defpath, "HOME": str(folder)}
    with subprocess.Popen(command, cwd=folder, env=variables, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            with grpc.insecure_channel(f"127.0.0.1:{int(process.stdout.readline())}") as channel:
                asked = provider_pb2.GetSchemaRequest(version=0)
                answer = provider_pb2_grpc.ResourceProviderStub(channel).GetSchema(asked, timeout=60)
        finally:
            process.terminate()
    found: dict[str, Any] = json.loads(answer.schema)
    return found


def languages() -> Path:
    """Return the folder of the engine's programs for YAML and TypeScript."""
    return ensure(LANGUAGES, hermetic=True).path(LANGUAGES[0]).parent


def project(pulumi: Pulumi, folder: Path, settings: Mapping[str, Any]) -> Path:
    """Write a project that uses the package of this checkout, create its stack, and return its folder."""
    folder.mkdir(exist_ok=True)
    whole = {"name": NAME, **settings, "packages": {PACKAGE: str(PLUGIN)}}
    (folder / "Pulumi.yaml").write_text(yaml.safe_dump(whole))
    pulumi.output(folder, "stack", "init", pulumi.environment["PULUMI_STACK"], "--no-select")
    return folder


def in_yaml(pulumi: Pulumi, folder: Path) -> Path:
    """Make the example in YAML, which passes the stack file's settings on."""
    return project(pulumi, folder, yaml.safe_load((EXAMPLES / "yaml" / "Pulumi.yaml").read_text()))


def in_typescript(pulumi: Pulumi, folder: Path) -> Path:
    """Make the example in TypeScript with what `pulumi install` adds: the package's SDK, and npm packages."""
    if not shutil.which("npm"):
        pytest.skip("no Node.js on this machine")
    shutil.copytree(EXAMPLES / "typescript", folder, ignore=shutil.ignore_patterns("node_modules", "sdks"))
    made = project(pulumi, folder, yaml.safe_load((folder / "Pulumi.yaml").read_text()))
    pulumi.output(made, "package", "gen-sdk", str(SCHEMA), "--language", "nodejs", "--local", "--out", "sdks")
    (made / "sdks" / "nodejs").rename(made / "sdks" / PACKAGE)
    _correct_imports(made / "sdks" / PACKAGE / "types")
    subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=made, check=True, timeout=600)
    return made


def _correct_imports(types: Path) -> None:
    """Correct the SDK's imports of its own types.

    The pinned host takes ``filepath.Rel`` for what it was before Go 1.26, with which it is built. Pulumi corrected that
    by 3.223.0 (``getRelativePath`` in pkg/codegen/nodejs/gen.go), with which this host does not compile.
    """
    for file in types.glob("*.ts"):
        file.write_text(re.sub(r'from "\./(types/|utilities)', r'from "../\1', file.read_text()))

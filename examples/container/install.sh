#!/bin/sh
# Installs a release from the folder of its files into a new environment, by hashes alone:
#   examples/container/install.sh dist/v1.2.3 /opt/igz-clusters
# Verify SHA256SUMS.sig before: RELEASE.md says how.
set -eu
release=$1
environment=$2
(cd "$release" && sha256sum --check --quiet SHA256SUMS)
python3 -m venv "$environment"
pip() { "$environment/bin/python" -m pip --disable-pip-version-check --quiet "$@"; }
# --only-binary: no code of a package runs while it is installed. --no-compile: the SDKs have 15,000 modules.
pip install --no-compile --only-binary :all: --require-hashes --requirement "$release/requirements.txt"
pip install --no-compile --no-deps --no-index "$release"/igz_clusters-*-py3-none-any.whl

"""Static keys of cloud storage, in the spelling of the programs that read them."""

from collections.abc import Iterator
from typing import Final

from policies.values import Value

NAMES: Final = (
    *("ACCESS_KEY", "AZURE_STORAGE_KEY", "AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_CONNECTION_STRING"),
    *("AZURE_STORAGE_SAS_TOKEN", "AZURE_CLIENT_SECRET", "AZURE_STORAGE_CLIENT_SECRET", "GCP_CREDENTIALS"),
    *("AZURE_CLIENT_CERTIFICATE_PASSWORD", "GOOGLE_CREDENTIALS", "GOOGLE_APPLICATION_CREDENTIALS_JSON"),
)
ENDING: Final = "_ACCESS_KEY"
"""Variables that hold a secret: ``V3IO_ACCESS_KEY``, ``AWS_SECRET_ACCESS_KEY``, and those that MLRun's data stores read
for Azure and Google: ``mlrun/datastore/azure_blob.py`` and ``google_cloud_storage.py`` in
https://github.com/mlrun/mlrun. ``AZURE_STORAGE_KEY``:
https://learn.microsoft.com/azure/storage/blobs/authorize-data-operations-cli. ``AZURE_CLIENT_CERTIFICATE_PASSWORD``:
azure-sdk-for-python, ``sdk/identity/azure-identity``. The other two of Google's hold the key file's text:
terraform-provider-google, ``google/provider``, and vercel's and dbt's convention (assumed)."""

IN_A_CONNECTION_STRING: Final = "AccountKey="
"""The key in a connection string of Azure Storage, whatever the variable's name.

https://learn.microsoft.com/azure/storage/common/storage-configure-connection-string
"""

SPARK_ENDINGS: Final = ("fs.s3a.secret.key", "fs.s3a.session.token", "auth.service.account.private.key")
SPARK_PARTS: Final = ("fs.azure.account.key.", "fs.azure.account.oauth2.client.secret", "fs.azure.sas.")
"""Options of Spark and Hadoop that hold a secret, at their end or anywhere in them.

https://hadoop.apache.org/docs/current/hadoop-aws/tools/hadoop-aws/index.html, hadoop-azure/abfs.html, and
GoogleCloudDataproc/hadoop-connectors, ``gcs/CONFIGURATION.md``.
"""


def is_variable(name: str) -> bool:
    """Return whether a variable of this name holds a key."""
    return name in NAMES or name.endswith(ENDING)


def variables(container: Value) -> Iterator[tuple[str, Value]]:
    """Return the variables of a container that hold keys, by name."""
    for entry in container.at("env").elements():
        name = entry.at("name").text() or ""
        if is_variable(name):
            yield name, entry


def is_spark_option(name: str) -> bool:
    """Return whether an option of Spark holds a key."""
    return name.endswith(SPARK_ENDINGS) or any(part in name for part in SPARK_PARTS)

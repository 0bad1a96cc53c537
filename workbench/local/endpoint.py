"""A minimal HTTPS client for the supervisor: no proxy, full verification, client certificates."""

import http.client
import json
import ssl
from pathlib import Path
from typing import Any

from workbench.local.components import Health
from workbench.local.ports import LOOPBACK

_TIMEOUT = 5.0


class Endpoint:
    """A server on a loopback port.

    Parameters
    ----------
    port
        Where it listens.
    ca
        CA certificate that must have issued the server's certificate.
    client
        Path, without suffix, of the client certificate and key.
    """

    def __init__(self, port: int, ca: Path, client: Path) -> None:
        self._port = port
        self._tls = ssl.create_default_context(cafile=str(ca))
        self._tls.load_cert_chain(f"{client}.crt", f"{client}.key")

    @classmethod
    def of(cls, health: Health, pki: Path) -> "Endpoint":
        """Return the server of a health endpoint, with certificates from the folder ``pki``."""
        return cls(health.port, pki / f"{health.ca}.crt", pki / health.client)

    def request(
        self, method: str, path: str, body: object = None, content_type: str = "application/json"
    ) -> tuple[int, bytes]:
        """Send a request.

        Returns
        -------
        tuple[int, bytes]
            HTTP status and body. Status 0 if there is no answer: no listener, or a timeout.
        """
        connection = http.client.HTTPSConnection(LOOPBACK, self._port, timeout=_TIMEOUT, context=self._tls)
        try:
            data = None if body is None else json.dumps(body)
            connection.request(method, path, data, {"Content-Type": content_type})
            response = connection.getresponse()
            return response.status, response.read()
        except (OSError, http.client.HTTPException):
            return 0, b""
        finally:
            connection.close()

    def is_ok(self, path: str) -> bool:
        """Return whether a GET is answered with 200."""
        return self.request("GET", path)[0] == http.client.OK

    def get(self, path: str) -> Any:
        """Return the JSON body of a GET; None unless the status is 200."""
        status, body = self.request("GET", path)
        return json.loads(body) if status == http.client.OK else None

"""An emulator of GitHub's REST API on loopback: only what comments and issues need, with faults on demand.

It is not GitHub. Its answers follow https://docs.github.com/en/rest as far as the callers read them.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

REPOSITORY = "acme/clusters"
BOT = {"login": "github-actions[bot]", "type": "Bot"}
PERSON = {"login": "mallory", "type": "User"}
TOKEN = "a-token-for-the-emulator"  # noqa: S105 it opens nothing


@dataclass
class FakeGitHub:
    """What the emulator holds; tests read and change it."""

    address: str = ""
    pulls: list[dict[str, Any]] = field(default_factory=list)
    files: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    comments: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    issues: list[dict[str, Any]] = field(default_factory=list)
    labels: set[str] = field(default_factory=set)
    faults: list[tuple[int, dict[str, str], str]] = field(default_factory=list)
    """Answers to the next writes, instead of doing them: status, headers, message."""
    writes: list[tuple[str, str]] = field(default_factory=list)
    next_id: int = 1

    def url(self, path: str) -> str:
        return f"{self.address}/repos/{REPOSITORY}{path}"

    def pull(self, number: int, *, repository: str, branch: str, commit: str, base: str = "main") -> None:
        """Open a pull request."""
        head = {"ref": branch, "sha": commit, "repo": {"full_name": repository}}
        self.pulls.append(
            {
                "number": number,
                "state": "open",
                "url": self.url(f"/pulls/{number}"),
                "issue_url": self.url(f"/issues/{number}"),
                "head": head,
                "base": {"ref": base},
            }
        )
        self.comments[number] = []

    def say(self, number: int, body: str, user: dict[str, str]) -> dict[str, Any]:
        """Write a comment as a user."""
        identity, self.next_id = self.next_id, self.next_id + 1
        said = {"id": identity, "body": body, "user": user, "url": self.url(f"/issues/comments/{identity}")}
        self.comments[number].append(said)
        return said

    def open_issue(self, body: str, labels: list[str], user: dict[str, str]) -> dict[str, Any]:
        """Open an issue as a user."""
        number = 1000 + len(self.issues)
        issue = {
            "number": number,
            "state": "open",
            "body": body,
            "labels": [{"name": name} for name in labels],
            "user": user,
            "url": self.url(f"/issues/{number}"),
        }
        self.issues.append(issue)
        return issue

    def answer(  # noqa: PLR0911 one for each request that there is
        self, method: str, path: str, query: dict[str, str], given: dict[str, Any]
    ) -> tuple[int, Any]:
        """Return status and document of a request."""
        parts = path.removeprefix(f"/repos/{REPOSITORY}/").split("/")
        match method, parts:
            case "GET", ["pulls"]:
                return 200, [pull for pull in self.pulls if _matches(pull, query)]
            case "GET", ["pulls", number, "files"]:
                return 200, self.files.get(int(number), [])
            case (("GET" | "POST"), ["issues", number, "comments"]):
                return self._comments(method, int(number), given)
            case (("PATCH" | "DELETE"), ["issues", "comments", identity]):
                return self._comment(method, int(identity), given)
            case "GET", ["issues"]:
                return 200, [issue for issue in self.issues if _wanted(issue, query)]
            case "POST", ["issues"]:
                return 201, self.open_issue(given["body"], given["labels"], BOT) | {"title": given["title"]}
            case "PATCH", ["issues", number]:
                issue = next(issue for issue in self.issues if issue["number"] == int(number))
                issue.update(given)
                return 200, issue
            case "POST", ["labels"] if given["name"] in self.labels:
                return 422, {"message": "Validation Failed"}
            case "POST", ["labels"]:
                self.labels.add(given["name"])
                return 201, given
        return 404, {"message": "Not Found"}

    def _comments(self, method: str, number: int, given: dict[str, Any]) -> tuple[int, Any]:
        if number not in self.comments:
            return 404, {"message": "Not Found"}
        if method == "GET":
            return 200, self.comments[number]
        return 201, self.say(number, given["body"], BOT)

    def _comment(self, method: str, identity: int, given: dict[str, Any]) -> tuple[int, Any]:
        for said in self.comments.values():
            for comment in said:
                if comment["id"] == identity and method == "DELETE":
                    said.remove(comment)
                    return 204, None
                if comment["id"] == identity:
                    comment["body"] = given["body"]
                    return 200, comment
        return 404, {"message": "Not Found"}


def _matches(pull: dict[str, Any], query: dict[str, str]) -> bool:
    repository = pull["head"]["repo"]
    owner = repository["full_name"].partition("/")[0] if repository else query.get("head", "").partition(":")[0]
    return (
        pull["state"] == query.get("state", "open")
        and query.get("head", "") in {"", f"{owner}:{pull['head']['ref']}"}
        and query.get("base", "") in {"", pull["base"]["ref"]}
    )


def _wanted(issue: dict[str, Any], query: dict[str, str]) -> bool:
    labels = {label["name"] for label in issue["labels"]}
    return issue["state"] == query.get("state", "open") and set(query.get("labels", "").split(",")) - {""} <= labels


@contextmanager
def fake_github() -> Iterator[FakeGitHub]:
    """Serve an emulator until the end of the block."""
    github = FakeGitHub()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def serve(self) -> None:
            address = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.headers.get("Authorization") not in {f"token {TOKEN}", f"Bearer {TOKEN}"}:
                self.reply(401, {"message": "Bad credentials"}, {})
                return
            if self.command != "GET":
                if github.faults:
                    status, headers, message = github.faults.pop(0)
                    self.reply(status, {"message": message}, headers)
                    return
                github.writes.append((self.command, address.path.removeprefix(f"/repos/{REPOSITORY}")))
            query = {key: values[0] for key, values in parse_qs(address.query).items()}
            self.reply(*github.answer(self.command, address.path, query, json.loads(body or b"{}")), {})

        do_GET = do_POST = do_PATCH = do_DELETE = serve  # noqa: N815 the server asks for these names

        def reply(self, status: int, document: Any, headers: dict[str, str]) -> None:
            content = b"" if document is None else json.dumps(document).encode()
            self.send_response(status)
            for key, value in {
                **headers,
                "Content-Type": "application/json",
                "Content-Length": str(len(content)),
            }.items():
                self.send_header(key, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            """Stay silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    github.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield github
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

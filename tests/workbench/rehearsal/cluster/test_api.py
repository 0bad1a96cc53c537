import http.client
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from support.tiny_api_server import Reply, Seen, TinyServer, tiny_server
from workbench.rehearsal.cluster import watches
from workbench.rehearsal.cluster.api import KubeApi
from workbench.rehearsal.cluster.connection import Server
from workbench.rehearsal.cluster.simulated import ApiError, LostError

POD = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "one", "namespace": "jobs"}}
CORE = {
    "resources": [
        {"name": "nodes", "kind": "Node", "namespaced": False},
        {"name": "pods", "kind": "Pod", "namespaced": True},
        {"name": "pods/status", "kind": "Pod", "namespaced": True},
    ]
}
PODS = "/api/v1/namespaces/jobs/pods"

Serve = Callable[[Callable[[Seen], Reply]], tuple[KubeApi, TinyServer]]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    with ExitStack() as stack:

        def start(reply: Callable[[Seen], Reply]) -> tuple[KubeApi, TinyServer]:
            def answer(seen: Seen) -> Reply:
                return (200, CORE) if seen.path == "/api/v1" else reply(seen)

            server = stack.enter_context(tiny_server(answer))
            return KubeApi(server.kubeconfig(tmp_path), patience=0.3), server

        yield start


def once(*replies: Reply) -> Callable[[Seen], Reply]:
    """Return each of the replies once, and the last for ever."""
    left = list(replies)
    return lambda _: left.pop(0) if len(left) > 1 else left[0]


def status(code: int, reason: str, message: str = "") -> Reply:
    return code, {"kind": "Status", "reason": reason, "message": message}


def pod(name: str, version: int) -> dict[str, Any]:
    return {"metadata": {"name": name, "uid": f"uid-{name}", "resourceVersion": str(version)}}


def pods(version: int, *items: dict[str, Any], more: str = "") -> Reply:
    metadata = {"resourceVersion": str(version), "continue": more}
    return 200, {"apiVersion": "v1", "kind": "PodList", "metadata": metadata, "items": list(items)}


def test_discovery_decides_the_path_and_is_asked_once(serve: Serve) -> None:
    api, server = serve(once((200, {})))
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a/b", "namespace": "ignored"}}
    assert api.path_of(POD) == f"{PODS}/one"
    assert api.path_of(node) == "/api/v1/nodes/a%2Fb"
    assert api.path_of({**POD, "metadata": {"name": "x"}}) == "/api/v1/namespaces/default/pods/x"
    assert len(server.seen) == 1


def test_a_kind_that_the_server_does_not_know_is_refused(serve: Serve) -> None:
    api, _ = serve(once((200, {})))
    with pytest.raises(ApiError, match="the server has no kind Gang in v1"):
        api.create({"apiVersion": "v1", "kind": "Gang", "metadata": {"name": "x"}})


def test_create_acts_as_the_named_user_in_each_of_its_groups(serve: Serve) -> None:
    api, server = serve(once((201, POD)))
    assert api.create(POD, as_user="mlrun", as_groups=("a", "b")) == POD
    [made] = server.asked("POST", PODS)
    assert made.body == POD
    assert made.headers["Impersonate-User"] == ["mlrun"]
    assert made.headers["Impersonate-Group"] == ["a", "b"]


def test_apply_and_patch_say_which_kind_of_patch_they_send(serve: Serve) -> None:
    api, server = serve(once((200, POD)))
    api.apply(POD)
    api.patch(f"{PODS}/one", {"metadata": {}})
    applied, patched = server.asked("PATCH", "pods/one")
    assert applied.headers["Content-Type"] == ["application/apply-patch+yaml"]
    assert "force=true" in applied.path
    assert patched.headers["Content-Type"] == ["application/merge-patch+json"]


def test_an_eviction_is_created_below_its_pod_and_a_disruption_budget_is_no_busy_server(serve: Serve) -> None:
    api, server = serve(once(status(429, "TooManyRequests", "Cannot evict pod")))
    eviction = {**POD, "apiVersion": "policy/v1", "kind": "Eviction"}
    with pytest.raises(ApiError) as refused:
        api.create(eviction)
    assert refused.value.status == http.client.TOO_MANY_REQUESTS
    assert [each.path.partition("?")[0] for each in server.seen] == [f"{PODS}/one/eviction"]


@pytest.mark.parametrize(
    "first",
    [
        status(429, "TooManyRequests"),
        status(409, "Conflict", "Operation cannot be fulfilled on resourcequotas"),
        status(503, "ServiceUnavailable"),
        (0, None),
    ],
    ids=["busy", "a quota that another changed", "starting", "no answer"],
)
def test_a_request_is_repeated_after(serve: Serve, first: Reply) -> None:
    api, server = serve(once(first, (201, POD)))
    assert api.create(POD) == POD
    assert len(server.asked("POST", PODS)) == 2


def test_an_object_that_exists_is_refused_at_once(serve: Serve) -> None:
    api, server = serve(once(status(409, "AlreadyExists", 'pods "one" already exists')))
    with pytest.raises(ApiError, match='409: pods "one" already exists'):
        api.create(POD)
    assert len(server.asked("POST", PODS)) == 1


def test_an_answer_in_plain_text_is_the_message(serve: Serve) -> None:
    api, _ = serve(once((403, "no such path")))
    with pytest.raises(ApiError, match="403: no such path"):
        api.get("/x")


def test_what_is_not_there_is_none_and_deleting_it_says_so(serve: Serve) -> None:
    api, server = serve(once(status(404, "NotFound"), status(404, "NotFound"), (200, {}), (200, {"items": []})))
    assert api.get(f"{PODS}/one") is None
    assert not api.delete(f"{PODS}/one")
    assert api.delete(f"{PODS}/one", grace=0)
    assert not api.delete(PODS)
    assert [each.body.get("gracePeriodSeconds") for each in server.asked("DELETE", PODS)] == [None, 0, None]


def test_a_thread_keeps_its_connection(serve: Serve) -> None:
    api, server = serve(once((200, {})))

    def ask() -> None:
        for _ in range(3):
            api.get("/version")

    ask()
    other = threading.Thread(target=ask)
    other.start()
    other.join()
    assert len({each.peer for each in server.seen}) == 2


def test_a_server_that_is_gone_is_reported_with_what_is_known(tmp_path: Path) -> None:
    with tiny_server(once((200, {}))) as server:
        config = server.kubeconfig(tmp_path)
    unknown = KubeApi(config, patience=0.1)
    with pytest.raises(LostError, match=f"The API server http://127.0.0.1:{server.port} does not answer: "):
        unknown.get("/version")
    known = KubeApi(config, lambda: "etcd has ended", patience=0.1)
    with pytest.raises(LostError, match="etcd has ended"):
        next(known.watch(PODS))


def test_a_server_without_its_store_is_lost(serve: Serve) -> None:
    api, _ = serve(once(status(500, "InternalError", "connection refused")))
    with pytest.raises(LostError, match="connection refused"):
        api.get("/version")


def changes(*events: tuple[str, dict[str, Any]]) -> Reply:
    return 200, iter([{"type": kind, "object": each} for kind, each in events])


def names(watch: Iterator[Any], count: int) -> list[tuple[str, str]]:
    return [(each["type"], each["object"]["metadata"]["name"]) for _, each in zip(range(count), watch, strict=False)]


def test_a_watch_lists_all_pages_then_follows_and_resumes_where_it_was(serve: Serve) -> None:
    bookmark = {"metadata": {"resourceVersion": "9"}}
    replies = once(
        pods(5, pod("a", 1), more="m"),
        pods(5, pod("b", 2)),
        changes(("MODIFIED", pod("a", 7)), ("BOOKMARK", bookmark)),
        changes(("DELETED", pod("b", 11))),
        changes(),
    )
    api, server = serve(replies)
    watch = api.watch(PODS)
    assert names(watch, 4) == [("ADDED", "a"), ("ADDED", "b"), ("MODIFIED", "a"), ("DELETED", "b")]
    watch.close()
    paths = [each.path for each in server.seen if "watch=true" in each.path]
    assert "resourceVersion=5" in paths[0]
    assert "resourceVersion=9" in paths[1]
    assert "continue=m" in server.seen[1].path


def test_a_listed_object_says_its_kind(serve: Serve) -> None:
    api, _ = serve(once(pods(5, pod("a", 1))))
    found = next(api.watch(PODS))["object"]
    assert (found["apiVersion"], found["kind"]) == ("v1", "Pod")


@pytest.mark.parametrize(
    "forgotten",
    [changes(("ERROR", {"code": 410})), status(410, "Expired")],
    ids=["as an event", "as an answer"],
)
def test_a_version_that_the_server_forgot_makes_it_list_again_and_report_differences(
    serve: Serve, forgotten: Reply
) -> None:
    first = pods(5, pod("gone", 1), pod("same", 2), pod("changed", 3))
    api, _ = serve(once(first, forgotten, pods(9, pod("same", 2), pod("changed", 8), pod("new", 9)), changes()))
    expected = [("DELETED", "gone"), ("MODIFIED", "changed"), ("ADDED", "new")]
    assert names(api.watch(PODS), 6)[3:] == expected


def test_a_watch_goes_on_after_a_lost_connection(serve: Serve) -> None:
    api, _ = serve(once(pods(5), (0, None), changes(("ADDED", pod("a", 6)))))
    assert names(api.watch(PODS), 1) == [("ADDED", "a")]


def test_silence_longer_than_the_patience_ends_no_watch(monkeypatch: pytest.MonkeyPatch) -> None:
    class Silent:
        def read1(self, _: int) -> bytes:
            raise TimeoutError("The read operation timed out")

    asked: list[float] = []

    def stream(self: watches.Watch) -> Iterator[Any]:
        asked.append(0)
        if len(asked) > 3:
            yield {"type": "ADDED", "object": pod("a", 1)}
        yield from self._changes(cast("http.client.HTTPResponse", Silent()))

    def give_up(*_: object) -> None:
        raise AssertionError("silence counted as a failure")

    monkeypatch.setattr(watches.Watch, "_stream", stream)
    watch = watches.Watch(cast("Server", SimpleNamespace(give_up=give_up)), PODS)
    watch._version = "1"
    assert next(watch)["type"] == "ADDED"
    assert len(asked) == 4


def test_closing_ends_a_waiting_watch(serve: Serve) -> None:
    release = threading.Event()

    def hang() -> Iterator[Any]:
        yield {"type": "ADDED", "object": pod("a", 6)}
        release.wait(30)

    api, _ = serve(once(pods(5), (200, hang())))
    seen: list[Any] = []
    first = threading.Event()

    def follow() -> None:
        for each in api.watch(PODS):
            seen.append(each)
            first.set()

    thread = threading.Thread(target=follow)
    thread.start()
    assert first.wait(30)
    api.close()
    thread.join(30)
    release.set()
    assert not thread.is_alive()
    assert len(seen) == 1


def test_a_watch_that_is_refused_says_so(serve: Serve) -> None:
    api, _ = serve(once(status(403, "Forbidden", "not yours")))
    with pytest.raises(ApiError, match="not yours"):
        next(api.watch(PODS))

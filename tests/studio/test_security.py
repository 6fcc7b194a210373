"""Who is refused: other sites, other names, other files."""

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from starlette.testclient import TestClient

from mercer.studio.app import application
from mercer.studio.security import HEADERS, Guard
from mercer.studio.start import listen

from .conftest import signed_in

GETS = ["/", "/static/main.js", "/api/session", "/api/map", "/api/labels", "/api/answers", "/api/rows?ids=0"]
GETS += [
    "/api/find?q=a",
    "/api/queue",
    "/api/suspicious",
    "/api/accuracy",
    "/api/history",
    "/api/image/0",
    "/api/why/0",
]
POSTS = ["label", "undo", "redo", "class", "settings", "export", "cancel", "quit"]


@pytest.fixture
def stranger(offline):
    """(a client without the cookie, the guard)."""
    _, session = offline()
    guard = Guard(application(session), 8000)
    return TestClient(guard, base_url="http://127.0.0.1:8000", follow_redirects=False), guard


@pytest.fixture
def known(stranger):
    http, guard = stranger
    return signed_in(http, guard.token)


def test_nothing_without_the_cookie(stranger):
    http, guard = stranger
    for path in GETS:
        assert http.get(path).status_code == 401, path
    for path in POSTS:
        assert http.post(f"/api/{path}", json={}).status_code == 401, path
    assert http.get("/?token=wrong").status_code == 401
    assert http.get("/api/session", headers={"Cookie": f"{guard.name}=wrong"}).status_code == 401
    assert http.get(f"/api/session?token={guard.token}").status_code == 401  # the token opens the page alone


def test_the_token_becomes_a_cookie_that_scripts_and_other_sites_cannot_use(stranger):
    http, guard = stranger
    token = guard.token
    assert len(token) >= 43 and len(guard.key) >= 43  # 256 bits
    answer = http.get(f"/?token={token}")
    cookie = answer.headers["set-cookie"]
    assert answer.status_code == 303 and answer.headers["location"] == f"/#{guard.key}"
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and token not in cookie and guard.key not in cookie
    assert http.get("/").status_code == 200


def test_the_cookie_alone_opens_nothing_of_the_table(stranger):
    http, guard = stranger
    http.get(f"/?token={guard.token}")  # now the client has the cookie, as a server on another port would see it
    for path in GETS:
        if path.startswith("/api/"):
            assert http.get(path).status_code == 401, path
    for path in POSTS:
        assert http.post(f"/api/{path}", json={}).status_code == 401, path
    assert http.get("/api/session", headers={"X-Mercer-Key": "wrong"}).status_code == 401
    assert http.get(f"/api/session?key={guard.key}").status_code == 401  # in an address for the event stream alone
    assert http.get("/api/session", headers={"X-Mercer-Key": guard.key}).status_code == 200


def test_an_address_works_once(stranger, tmp_path):
    http, guard = stranger
    guard._on_used, told = lambda url: told.append(url), []
    first = guard.token
    assert http.get(f"/?token={first}").status_code == 303
    assert told == [guard.url] and guard.token != first
    other = TestClient(guard, base_url="http://127.0.0.1:8000", follow_redirects=False)
    refused = other.get(f"/?token={first}")
    assert refused.status_code == 401 and "used already" in refused.json()["error"]
    again = http.get(f"/?token={first}")  # the same browser
    assert again.status_code == 303 and again.headers["location"] == "/"
    assert other.get(f"/?token={guard.token}").status_code == 303  # the next one


def test_the_file_for_the_browser_is_for_this_user_alone(tmp_path):
    from mercer.studio.folder import Folder

    folder = Folder(tmp_path / "x.mercer")
    path = folder.door("http://127.0.0.1:5/?token=secret")
    assert path.stat().st_mode & 0o777 == 0o600 and "token=secret" in path.read_text()
    assert folder.door("http://127.0.0.1:5/?token=other") == path and "other" in path.read_text()
    folder.close()
    assert not path.exists()


def test_the_browser_is_started_without_the_token(tmp_path, monkeypatch):
    from mercer.studio import start
    from mercer.studio.process import Process

    from .conftest import iris

    opened = []
    monkeypatch.setattr(start.webbrowser, "open", opened.append)
    monkeypatch.setattr(start.Served, "run", lambda self: opened.append(self.guard.token))
    path, _ = iris(tmp_path)
    from mercer.cli.console import Console

    process = Process()
    try:
        start.serve(Console(quiet=True), process, path, "kind")
    finally:
        process.end()
    address, token = opened
    assert address.startswith("file://") and address.endswith("/open.html") and token not in address


@pytest.mark.parametrize("host", ["evil.example:8000", "127.0.0.1", "127.0.0.1:8001", "127.0.0.1.evil.example:8000"])
def test_another_host_is_not_ours(known, host):
    assert known.get("/api/session", headers={"Host": host}).status_code == 421
    assert known.post("/api/undo", json={}, headers={"Host": host}).status_code == 421


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:8001"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_what_another_site_causes_is_refused(known, headers):
    assert known.post("/api/label", json={"rows": [0], "class": None}, headers=headers).status_code == 403
    assert known.get("/api/session", headers=headers).status_code == 403


def test_our_own_page_may_post(known):
    headers = {"Origin": "http://127.0.0.1:8000", "Sec-Fetch-Site": "same-origin"}
    assert known.post("/api/class", json={"op": "add", "name": "a"}, headers=headers).status_code == 200


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_only_json_is_taken(known, kind):
    answer = known.post("/api/class", content='{"op": "add", "name": "a"}', headers={"Content-Type": kind})
    assert answer.status_code == 415


def test_what_is_no_json_object_is_refused(known):
    for content in ("{", "[1]", "null", ""):
        answer = known.post("/api/label", content=content, headers={"Content-Type": "application/json"})
        assert answer.status_code == 400
    long = known.post("/api/label", content=b" " * 9_000_000, headers={"Content-Type": "application/json"})
    assert long.status_code == 413


@pytest.mark.parametrize(
    "content",
    ["[" * 100_000, '{"rows": [1], "class": null, "ms": NaN}', '{"rows": [1], "class": null, "ms": 1e999}']
    + ['{"op": "add", "name": "\\ud800"}', '{"rows": [' + "9" * 5000 + "]}", '{"op": "add", "name": "a", "tab": {}}{']
    + ["\udcff".encode("utf-8", "surrogatepass")],
)
@pytest.mark.parametrize("path", ["label", "class", "settings", "skip", "undo"])
def test_bad_input_of_somebody_signed_in_gets_a_sentence(known, content, path):
    answer = known.post(f"/api/{path}", content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400 and answer.json()["error"]


@pytest.mark.parametrize(
    "path",
    ["labels?since=" + "9" * 5000, "rows?ids=" + "9" * 5000, "why/" + "9" * 5000, "image/²", "why/-1", "rows?ids=²"],
)
def test_numbers_that_are_none_get_a_sentence(known, path):
    answer = known.get(f"/api/{path}")
    assert answer.status_code == 400 and "whole number" in answer.json()["error"]
    assert known.get("/api/labels", headers={"Last-Event-ID": "9" * 5000}).status_code == 200


def test_every_answer_has_the_headers(known, stranger):
    for answer in (
        known.get("/"),
        known.get("/api/session"),
        known.get("/none"),
        stranger[0].get("/", headers={"Host": "x"}),
    ):
        for name, value in HEADERS.items():
            assert answer.headers[name] == value
    policy = HEADERS["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:")
    assert "unsafe" not in policy and "frame-ancestors 'none'" in policy


@pytest.mark.parametrize(
    "path",
    [
        "../start.py",
        "..%2fstart.py",
        "%2e%2e/start.py",
        "..\\start.py",
        "/etc/passwd",
        "main.js/../../start.py",
        "__init__.py",
    ],
)
def test_no_way_out_of_the_folder_of_the_page(known, path):
    assert known.get(f"/static/{path}").status_code == 404


def test_images_come_from_the_folder_of_the_table_and_are_images(offline, tmp_path):
    (tmp_path / "in").mkdir()
    Image.fromarray(np.zeros((8, 8), np.uint8)).save(tmp_path / "in" / "ok.png")
    Image.fromarray(np.zeros((8, 8), np.uint8)).save(tmp_path / "in" / "ok.jpg")
    Image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(tmp_path / "in" / "ok.webp")
    Image.fromarray(np.zeros((8, 8), np.uint8)).save(tmp_path / "secret.png")
    (tmp_path / "in" / "script.png").write_text("<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>")
    (tmp_path / "in" / "link.png").symlink_to(tmp_path / "secret.png")
    cells = ["ok.png", "ok.jpg", "ok.webp", "../secret.png", str(tmp_path / "secret.png"), "script.png", "link.png"]
    cells += ["none.png", "", "ok.png"]
    frame = pd.DataFrame({"picture": cells, "x": range(10), "kind": ""})
    frame.to_csv(tmp_path / "in" / "table.csv", index=False)
    client, _ = offline(tmp_path / "in" / "table.csv", id=None, image="picture", show=False)
    found = [client.get(f"image/{row}") for row in range(10)]
    assert [one.status_code for one in found] == [200, 200, 200, 404, 404, 404, 404, 404, 404, 200]
    assert [one.headers["content-type"] for one in found[:3]] == ["image/png", "image/jpeg", "image/webp"]
    assert client.get("image/10").status_code == 404


def test_large_pictures_are_sent_small_and_huge_ones_not_at_all(offline, tmp_path):
    import io
    import struct
    import zlib

    noise = np.random.default_rng(0).integers(0, 255, (900, 1600, 3), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "photo.jpg")
    Image.fromarray(noise[:40, :40]).save(tmp_path / "small.png")

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    rows = zlib.compress(bytes(13_001) * 13_000, 9)  # a file of 160 kB that claims 169 million pixels
    head = struct.pack(">IIBBBBB", 13_000, 13_000, 8, 0, 0, 0, 0)
    bomb = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    (tmp_path / "bomb.png").write_bytes(bomb)
    frame = pd.DataFrame({"picture": ["photo.jpg", "small.png", "bomb.png"] * 4, "x": range(12), "kind": ""})
    frame.to_csv(tmp_path / "table.csv", index=False)
    client, _ = offline(tmp_path / "table.csv", id=None, image="picture", show=False)
    whole, mini = client.get("image/0"), client.get("image/0?side=192")
    assert len(mini.content) < len(whole.content) / 10
    assert Image.open(io.BytesIO(mini.content)).size == (192, 108)
    assert client.get("image/1?side=192").content == (tmp_path / "small.png").read_bytes()
    assert client.get("image/2").status_code == 404 and client.get("image/2?side=192").status_code == 404
    assert client.get("image/0?side=7").status_code == 400


def test_the_learner_leaves_images_outside_the_folder_alone(tmp_path, monkeypatch):
    from mercer.inputs.tables import images

    (tmp_path / "in").mkdir()
    Image.fromarray(np.eye(8, dtype=np.uint8) * 255).save(tmp_path / "in" / "ok.png")
    Image.fromarray(np.eye(8, dtype=np.uint8) * 255).save(tmp_path / "secret.png")
    (tmp_path / "in" / "link.png").symlink_to(tmp_path / "secret.png")
    column = pd.Series(["ok.png", "../secret.png", str(tmp_path / "secret.png"), "link.png"])
    column.attrs["folder"] = str(tmp_path / "in")
    assert images.features(column)[1].tolist() == [True] * 4
    monkeypatch.setattr(images, "_inside", False)  # restored afterwards
    images.stay_inside()
    assert images.features(column)[1].tolist() == [True, False, False, False]
    assert images.opened(column, "link.png") is None and images.opened(column, "ok.png") is not None


@pytest.mark.parametrize("fixed", [True, False])
def test_the_server_listens_on_this_machine_alone(fixed):
    listening = listen(0, fixed)
    with listening:
        assert listening.getsockname()[0] == "127.0.0.1"

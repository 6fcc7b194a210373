"""Who is refused: other sites, other names, other files."""

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from starlette.testclient import TestClient

from mercer.studio.app import application
from mercer.studio.security import HEADERS, Guard
from mercer.studio.start import _listen

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
    http.get(f"/?token={guard.token}")
    return http


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
    assert len(guard.token) >= 43  # 256 bits
    answer = http.get(f"/?token={guard.token}")
    cookie = answer.headers["set-cookie"]
    assert answer.status_code == 303 and answer.headers["location"] == "/"
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and guard.token not in cookie
    assert http.get("/api/session").status_code == 200


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


@pytest.mark.parametrize("fixed", [True, False])
def test_the_server_listens_on_this_machine_alone(fixed):
    listening = _listen(0, fixed)
    with listening:
        assert listening.getsockname()[0] == "127.0.0.1"

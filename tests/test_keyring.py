"""Secrets in the keyring of the system: used when one answers, said where each lies, and never a reason to lose one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cormorant import settings as s
from cormorant.errors import NotConfigured
from cormorant.settings import vault

keyring = pytest.importorskip("keyring", reason="the extra `keyring` is not installed")
from keyring.backend import KeyringBackend  # noqa: E402
from keyring.errors import KeyringLocked, PasswordDeleteError  # noqa: E402

BACKEND = """
import json
from pathlib import Path
from keyring.backend import KeyringBackend

FILE = Path(__file__).with_name("kept.json")

class Box(KeyringBackend):
    priority = 5

    def _held(self):
        return json.loads(FILE.read_text()) if FILE.exists() else {}

    def get_password(self, service, username):
        return self._held().get(f"{service}/{username}")

    def set_password(self, service, username, password):
        FILE.write_text(json.dumps(self._held() | {f"{service}/{username}": password}))

    def delete_password(self, service, username):
        held = self._held()
        del held[f"{service}/{username}"]
        FILE.write_text(json.dumps(held))
"""


class Memory(KeyringBackend):
    """Keeps what it is handed, as well as `how` says."""

    priority = 5  # type: ignore[assignment]

    def __init__(self, how: str = "well") -> None:
        super().__init__()
        self.how, self.held = how, {}
        self.priority = 0.5 if how == "in the clear" else 5  # type: ignore[assignment]

    def get_password(self, service, username):
        if self.how == "locked":
            raise KeyringLocked("the collection is locked")
        return None if self.how == "forgetful" else self.held.get((service, username))

    def set_password(self, service, username, password):
        if self.how == "broken":
            raise OSError("no bus")
        self.held[service, username] = password

    def delete_password(self, service, username):
        if (service, username) not in self.held:
            raise PasswordDeleteError(username)
        del self.held[service, username]


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_DATA_HOME": str(tmp_path / "data")}


@pytest.fixture
def backend(monkeypatch):
    """Puts a backend in the place of the system's."""

    def put(how: str) -> Memory:
        made = Memory(how)
        monkeypatch.setattr("keyring.core._keyring_backend", made)
        return made

    return put


def file_of(home: dict[str, str]) -> str:
    path = Path(home["XDG_CONFIG_HOME"], "cormorant", "secrets.toml")
    assert path.stat().st_mode & 0o777 == 0o600
    return path.read_text()


def test_a_keyring_that_answers_keeps_the_secret_and_the_file_only_its_name(home, backend, tmp_path):
    box = backend("well")
    assert "keyring" in s.write_secret("BRAVE_API_KEY", "k-brave-1", environ=home)
    assert list(box.held.values()) == ["k-brave-1"]
    assert "k-brave-1" not in file_of(home)
    assert s.load(home, tmp_path).keys == {"BRAVE_API_KEY": "k-brave-1"}
    assert s.secret_places(home) == {"BRAVE_API_KEY": ["keyring"]}
    assert s.secret_places(home | {"BRAVE_API_KEY": "x"}) == {"BRAVE_API_KEY": ["the variable BRAVE_API_KEY", "keyring"]}
    assert s.unset_secret("BRAVE_API_KEY", environ=home)
    assert box.held == {}
    assert s.load(home, tmp_path).keys == {}


@pytest.mark.parametrize("how", ["broken", "locked", "forgetful", "in the clear"])
def test_a_keyring_that_is_no_good_is_passed_by_or_named(how, home, backend, tmp_path):
    backend(how)
    where = s.write_secret("BRAVE_API_KEY", "k-brave-1", environ=home)
    assert where.endswith("secrets.toml")
    assert "k-brave-1" in file_of(home)
    assert s.load(home, tmp_path).keys == {"BRAVE_API_KEY": "k-brave-1"}
    if how != "in the clear":  # asked for by name, a plain file of keyring's is the operator's own choice
        with pytest.raises(NotConfigured, match="keyring"):
            s.write_secret("BRAVE_API_KEY", "k-brave-2", environ=home, place="keyring")
        assert s.load(home, tmp_path).keys == {"BRAVE_API_KEY": "k-brave-1"}, "what was there is still there"


@pytest.mark.parametrize(
    ("setting", "place", "lies"), [("file", None, "file"), ("file", "keyring", "keyring"), ("keyring", "file", "file")]
)
def test_the_flag_wins_over_the_setting_and_both_over_what_is_there(setting, place, lies, home, backend):
    box = backend("well")
    s.write("secrets_in", setting, environ=home)
    s.write_secret("EXA_API_KEY", "k-exa-1", environ=home, place=place)
    assert (("k-exa-1" in file_of(home)), bool(box.held)) == ((lies == "file"), (lies == "keyring"))


def test_a_secret_that_moves_is_left_nowhere_else(home, backend, tmp_path):
    box = backend("well")
    s.write_secret("EXA_API_KEY", "k-exa-1", environ=home, place="file")
    s.write_secret("EXA_API_KEY", "k-exa-2", environ=home, place="keyring")
    assert "k-exa" not in file_of(home)
    s.write_secret("EXA_API_KEY", "k-exa-3", environ=home, place="file")
    assert box.held == {}
    assert s.load(home, tmp_path).keys == {"EXA_API_KEY": "k-exa-3"}


@pytest.mark.parametrize(("how", "says"), [("locked", "does not answer"), ("forgetful", "no longer in the keyring")])
def test_a_keyring_that_lost_a_secret_costs_that_secret_alone_and_is_said(how, says, home, backend, tmp_path):
    box = backend("well")
    s.write_secret("EXA_API_KEY", "k-exa-1", environ=home)
    s.write_secret("BRAVE_API_KEY", "k-brave-1", environ=home, place="file")
    box.how = how
    loaded = s.read(home, tmp_path)
    assert loaded.settings.keys == {"BRAVE_API_KEY": "k-brave-1"}
    assert [note for note in loaded.notes if "EXA_API_KEY" in note and says in note]


def test_a_keyring_that_never_answers_is_not_waited_for(home, backend, monkeypatch, tmp_path):
    import threading

    box = backend("well")
    s.write_secret("EXA_API_KEY", "k-exa-1", environ=home)
    released = threading.Event()
    monkeypatch.setattr(vault, "ANSWERS_WITHIN_S", 0.05)
    monkeypatch.setattr(box, "get_password", lambda service, username: released.wait(30))
    try:
        loaded = s.read(home, tmp_path)
    finally:
        released.set()
    assert loaded.settings.keys == {}
    assert [note for note in loaded.notes if "did not answer within" in note]


def test_without_the_package_the_file_is_used_and_the_keyring_says_how_to_get_it(home, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "keyring", None)
    s.write_secret("EXA_API_KEY", "k-exa-1", environ=home)
    assert s.load(home, tmp_path).keys == {"EXA_API_KEY": "k-exa-1"}
    with pytest.raises(NotConfigured) as caught:
        s.write_secret("EXA_API_KEY", "k-exa-2", environ=home, place="keyring")
    assert "cormorant[keyring]" in caught.value.remedy


def test_the_command_uses_the_backend_that_keyring_s_own_configuration_names(home, tmp_path):
    (tmp_path / "box_backend.py").write_text(BACKEND)
    environ = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")} | home
    environ |= {"PYTHON_KEYRING_BACKEND": "box_backend.Box", "PYTHONPATH": str(tmp_path), "HOME": str(tmp_path)}

    def run(*arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "cormorant.surfaces.cli", *arguments]
        return subprocess.run(command, input=given, capture_output=True, text=True, timeout=60, env=environ, cwd=tmp_path, check=False)

    kept = run("secret", "set", "BRAVE_API_KEY", given="k-brave-secret\n")
    assert (kept.returncode, "the keyring (" in kept.stderr) == (0, True), kept.stderr
    assert json.loads((tmp_path / "kept.json").read_text()) == {"cormorant/BRAVE_API_KEY": "k-brave-secret"}
    listed = run("secret", "list")
    assert listed.stdout.split() == ["BRAVE_API_KEY", "keyring"]
    assert json.loads(run("secret", "list", "--json").stdout) == [{"name": "BRAVE_API_KEY", "in": ["keyring"]}]
    shown = run("doctor", "--json")
    assert json.loads(shown.stdout)["keys"] == ["BRAVE_API_KEY"]
    assert json.loads(shown.stdout)["search"]["brave"] == "ready"
    assert "k-brave-secret" not in listed.stdout + shown.stdout + shown.stderr + kept.stderr + kept.stdout + file_of(home)
    assert run("secret", "unset", "BRAVE_API_KEY").returncode == 0
    assert json.loads((tmp_path / "kept.json").read_text()) == {}
    assert run("secret", "list").stdout == "(no secrets)\n"

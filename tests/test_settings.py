"""Settings: what wins, what is refused, what is never shown."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

from cormorant import settings as s
from cormorant.errors import InvalidArguments


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """An environment of its own, with a folder for the user's files."""
    return {"XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_DATA_HOME": str(tmp_path / "data")}


def user_file(home: dict[str, str], text: str) -> Path:
    path = Path(home["XDG_CONFIG_HOME"], "cormorant", "settings.toml")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_environment_wins_over_project_over_user_over_default(home, tmp_path):
    user_file(home, "[search]\ncount = 3\nlanguage = 'de'\nsafe_search = 'strict'\n")
    (tmp_path / "cormorant.toml").write_text("[search]\ncount = 4\nlanguage = 'fr'\n")
    loaded = s.read({**home, "CORMORANT_SEARCH__COUNT": "5"}, tmp_path)
    search = loaded.settings.search
    assert (search.count, search.language, search.safe_search, search.provider) == (5, "fr", "strict", "auto")
    assert loaded.origins["search.count"] == "CORMORANT_SEARCH__COUNT"
    assert loaded.origins["search.language"].endswith("cormorant.toml")


@pytest.mark.parametrize(
    ("name", "text", "read"),
    [
        ("WEB_SEARCH_BACKEND", "brave", lambda x: x.search.provider == "brave"),
        ("WEB_SEARCH_URL", "http://10.0.0.7:8080", lambda x: x.search.url == "http://10.0.0.7:8080"),
        ("WEB_SEARCH_KEY", "k1", lambda x: x.search.key == "k1"),
        ("SEARXNG_URL", "http://s.test", lambda x: x.search.urls == {"searxng": "http://s.test"}),
        ("FIRECRAWL_API_URL", "http://f.test", lambda x: x.search.urls["firecrawl"] == "http://f.test"),
        ("BRAVE_API_KEY", "k2", lambda x: x.keys["BRAVE_API_KEY"] == "k2"),
        ("GH_TOKEN", "k3", lambda x: x.keys["GH_TOKEN"] == "k3"),
        ("RHO_SSRF_ALLOW_RANGES", "10.0.0.0/8, 192.168.0.0/16", lambda x: x.egress.allow_ranges == ("10.0.0.0/8", "192.168.0.0/16")),
        ("WHITELISTED_DOMAINS", "a.org,b.org", lambda x: x.search.prefer_domains == ("a.org", "b.org")),
        ("BLACKLISTED_DOMAINS", '["c.org"]', lambda x: x.search.block_domains == ("c.org",)),
        ("CORMORANT_EGRESS__ALLOW", "[]", lambda x: x.egress.allow == ()),
        ("CORMORANT_EGRESS__ALLOW", "null", lambda x: x.egress.allow is None),
        ("CORMORANT_FETCH__TIMEOUT", "1.5m", lambda x: x.fetch.timeout == 90.0),
        ("CORMORANT_FETCH__MAX_BYTES", "5MB", lambda x: x.fetch.max_bytes == 5 * 1024**2),
        ("CORMORANT_FETCH__CACHE", "false", lambda x: x.fetch.cache is False),
        ("CORMORANT_SEARCH__URLS__SEARXNG", "http://s.test", lambda x: x.search.urls["searxng"] == "http://s.test"),
        ("CORMORANT_SEARCH__URLS", "searxng=http://s.test", lambda x: x.search.urls["searxng"] == "http://s.test"),
        ("CORMORANT_MODELS__DEFAULT", "openai/x", lambda x: x.models == {"default": "openai/x"}),
        ("CORMORANT_KEYS__MY_KEY", "k4", lambda x: x.keys["MY_KEY"] == "k4"),
        ("BRAVE_API_KEY", "", lambda x: not x.keys),
        ("CORMORANT_CASES", "/x", lambda x: x == s.Settings()),
    ],
)
def test_names_in_the_environment(home, tmp_path, name, text, read):
    assert read(s.load({**home, name: text}, tmp_path))


@pytest.mark.parametrize("name", ["BRAVE_API_KEY", "WEB_SEARCH_KEY", "CORMORANT_SEARCH__KEY", "SEARXNG_URL"])
def test_every_name_can_be_read_from_a_file(home, tmp_path, name):
    (tmp_path / "value").write_text("from-file\n")
    found = s.load({**home, f"{name}_FILE": str(tmp_path / "value")}, tmp_path)
    assert "from-file" in {found.search.key, *found.keys.values(), *found.search.urls.values()}
    with pytest.raises(InvalidArguments, match=f"{name}_FILE"):
        s.load({**home, f"{name}_FILE": str(tmp_path / "missing")}, tmp_path)


def test_our_own_variable_wins_over_an_old_name(home, tmp_path):
    env = {**home, "WEB_SEARCH_BACKEND": "brave", "CORMORANT_SEARCH__PROVIDER": "exa"}
    assert s.load(env, tmp_path).search.provider == "exa"


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        pytest.param("[serach]\ncount = 3", "[search]", id="section"),
        pytest.param("[search]\ncuont = 3", "search.count", id="key"),
        pytest.param("timeout = 3", "fetch.timeout", id="key without its section"),
        pytest.param("[fetch]\nrobots = 'obey'", "egress.robots", id="key of another section"),
    ],
)
def test_an_unknown_key_fails_with_the_nearest_one(home, tmp_path, text, remedy):
    (tmp_path / "cormorant.toml").write_text(text)
    with pytest.raises(InvalidArguments) as caught:
        s.load(home, tmp_path)
    assert remedy in caught.value.remedy
    assert "cormorant.toml" in caught.value.message
    assert "did you mean" in caught.value.remedy


@pytest.mark.parametrize("name", ["CORMORANT_SEARCH__CUONT", "CORMORANT_SEARCH_COUNT"])
def test_a_misspelt_variable_fails_with_the_nearest_one(home, tmp_path, name):
    with pytest.raises(InvalidArguments) as caught:
        s.load({**home, name: "3"}, tmp_path)
    assert "CORMORANT_SEARCH__COUNT" in caught.value.remedy


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("CORMORANT_FETCH__TIMEOUT", "soon", "fetch.timeout"),
        ("CORMORANT_FETCH__CACHE", "perhaps", "fetch.cache"),
        ("CORMORANT_EGRESS__ROBOTS", "never", "egress.robots"),
        ("CORMORANT_EGRESS__ALLOW", "", "egress.allow is empty"),
        ("CORMORANT_EGRESS__ALLOW", "[", "egress.allow"),
    ],
)
def test_a_value_that_cant_be_read_names_the_setting_and_its_origin(home, tmp_path, name, text, says):
    with pytest.raises(InvalidArguments) as caught:
        s.load({**home, name: text}, tmp_path)
    assert says in caught.value.message
    assert name in caught.value.message


def test_a_file_that_is_no_toml_is_named(home, tmp_path):
    (tmp_path / "cormorant.toml").write_text("count = = 3")
    with pytest.raises(InvalidArguments, match=r"cormorant\.toml is not TOML.*line 1"):
        s.load(home, tmp_path)


def test_a_number_out_of_range_is_clamped_and_noted(home, tmp_path):
    loaded = s.read({**home, "CORMORANT_SEARCH__COUNT": "99"}, tmp_path)
    assert loaded.settings.search.count == 20
    assert any("search.count" in note and "20" in note for note in loaded.notes)


def test_a_secret_is_in_no_text_form(home, tmp_path):
    env = {**home, "BRAVE_API_KEY": "s3cr3t", "WEB_SEARCH_KEY": "s3cr3t"}
    settings = s.load(env, tmp_path)
    rows = s.describe(env, tmp_path)
    assert "s3cr3t" not in f"{settings!r} {settings} {settings.search!r} {rows}"
    assert {row.key: row.value for row in rows}["keys"] == {"BRAVE_API_KEY": "(set)"}
    with pytest.raises(InvalidArguments) as caught:
        s.of({"search": {"key": ["s3cr3t"]}})
    assert "s3cr3t" not in str(caught.value.as_dict())


def test_a_key_in_a_settings_file_works_and_is_noted(home, tmp_path):
    (tmp_path / "cormorant.toml").write_text("[search]\napi_key = 'k'\n")
    loaded = s.read(home, tmp_path)
    assert loaded.settings.search.key == "k"
    assert any("secret set" in note for note in loaded.notes)
    assert any("now called search.key" in note for note in loaded.notes)


def test_the_variable_that_api_key_env_names_is_read(home, tmp_path):
    env = {**home, "CORMORANT_SEARCH__API_KEY_ENV": "OUR_KEY", "OUR_KEY": "k"}
    assert s.load(env, tmp_path).keys["OUR_KEY"] == "k"


def test_setting_and_unsetting_keeps_comments_and_the_rest(home):
    path = user_file(home, "# ours\n[search]\ncount = 3  # three\n")
    s.write("search.language", "de", environ=home)
    s.write("egress.block", "a.org, b.org", environ=home)
    s.write("fetch.timeout", "30s", environ=home)
    text = path.read_text()
    assert "# ours" in text
    assert "count = 3  # three" in text
    found = s.load(home, path.parent)
    assert (found.search.language, found.egress.block, found.fetch.timeout) == ("de", ("a.org", "b.org"), 30.0)
    assert s.unset("search.language", environ=home)
    assert not s.unset("search.language", environ=home)
    assert s.load(home, path.parent).search.language == ""


@pytest.mark.parametrize(("key", "value"), [("search.cuont", "3"), ("fetch.timeout", "soon"), ("search.key", "k")])
def test_what_could_not_be_read_back_is_not_written(home, key, value):
    with pytest.raises(InvalidArguments):
        s.write(key, value, environ=home)
    assert not Path(home["XDG_CONFIG_HOME"]).exists()


def test_a_secret_lands_in_a_file_of_its_owner_alone(home, tmp_path):
    path = Path(s.write_secret("BRAVE_API_KEY", "k\n", environ=home, place="file"))
    assert path.stat().st_mode & 0o777 == 0o600
    assert s.load(home, tmp_path).keys == {"BRAVE_API_KEY": "k"}
    path.chmod(0o644)
    assert any("can be read by others" in note for note in s.read(home, tmp_path).notes)
    s.write_secret("EXA_API_KEY", "k", environ=home, place="file")
    assert path.stat().st_mode & 0o777 == 0o600
    assert s.load({**home, "BRAVE_API_KEY": "other"}, tmp_path).keys["BRAVE_API_KEY"] == "other"
    assert s.unset_secret("BRAVE_API_KEY", environ=home)
    assert s.load(home, tmp_path).keys == {"EXA_API_KEY": "k"}
    assert sorted(os.listdir(path.parent)) == ["secrets.toml"]


@pytest.mark.parametrize(("name", "value"), [("brave key", "k"), ("WEB_SEARCH_URL", "http://x"), ("BRAVE_API_KEY", " \n"), ("../X", "k")])
def test_what_is_no_secret_is_not_kept_as_one(home, name, value):
    with pytest.raises(InvalidArguments):
        s.write_secret(name, value, environ=home)


def test_an_old_secret_named_like_a_setting_is_read_as_one_and_noted(home, tmp_path):
    path = Path(home["XDG_CONFIG_HOME"], "cormorant", "secrets.toml")
    path.parent.mkdir(parents=True)
    path.write_text('WEB_SEARCH_URL = "http://old.test"\n')
    path.chmod(0o600)
    loaded = s.read(home, tmp_path)
    assert loaded.settings.search.url == "http://old.test"
    assert any("WEB_SEARCH_URL" in note for note in loaded.notes)
    user_file(home, "[search]\nurl = 'http://new.test'\n")
    assert s.load(home, tmp_path).search.url == "http://new.test"


def test_a_profile_lies_over_the_files_and_under_the_environment(home, tmp_path):
    (tmp_path / "cormorant.toml").write_text(
        "[search]\ncount = 3\nlanguage = 'de'\n[profiles.quiet.search]\ncount = 1\nlanguage = 'fr'\n[profiles.quiet.egress]\nallow = []\n"
    )
    found = s.load({**home, "CORMORANT_PROFILE": "quiet", "CORMORANT_SEARCH__LANGUAGE": "it"}, tmp_path)
    assert (found.search.count, found.search.language, found.egress.allow) == (1, "it", ())
    with pytest.raises(InvalidArguments, match="there is no profile quite") as caught:
        s.load({**home, "CORMORANT_PROFILE": "quite"}, tmp_path)
    assert "quiet" in caught.value.remedy


def test_a_mapping_given_by_a_program_is_checked_like_a_file():
    assert s.of({"search": {"count": 3, "urls": {"searxng": "http://x"}}, "keys": {"A": "k"}}).search.count == 3
    assert s.of(None) == s.Settings()
    with pytest.raises(InvalidArguments, match=r"there is no setting search\.cuont"):
        s.of({"search": {"cuont": 3}})


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"search": 5}, "search is a section"),
        ({5: 3}, "there is no setting 5"),
        ("text", "not str"),
        ({"keys": {"A": 5}}, "keys.A"),
        ({"profiles": 3}, "profiles"),
        ({"fetch": {"timeout": -5}}, "fetch.timeout"),
    ],
)
def test_what_a_program_hands_over_wrongly_is_named(given, says):
    with pytest.raises(InvalidArguments) as caught:
        s.of(given)
    assert says in caught.value.message


def test_lists_may_be_written_as_text_and_a_chain_as_a_list():
    found = s.of({"egress": {"allow": "a.org, b.org"}, "search": {"provider": ["searxng", "brave"]}})
    assert (found.egress.allow, found.search.provider) == (("a.org", "b.org"), "searxng,brave")


def test_writing_nothing_at_all_takes_the_line_away(home):
    path = s.write("egress.allow", "a.org", environ=home).file
    assert "a.org" in path.read_text()
    s.write("egress.allow", "null", environ=home)
    assert "allow" not in path.read_text()


def test_names_with_dots_in_a_table_stay_one_key(home, tmp_path):
    s.write("models.my.model", "openai/gpt-5.1", environ=home)
    assert s.load(home, tmp_path).models == {"my.model": "openai/gpt-5.1"}
    assert s.unset("models.my.model", environ=home)


def test_the_page_of_settings_is_made_of_the_classes():
    root = Path(__file__).parents[1]
    spec = importlib.util.spec_from_file_location("settings_page", root / "scripts" / "settings_page.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (root / "docs" / "settings.md").read_text() == module.page(), "python scripts/settings_page.py writes it anew"


def test_every_setting_says_what_it_is():
    assert [key for key, info in s.fields() if not (info.description or "").endswith(".")] == []

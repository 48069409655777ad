"""What a page answered with 200 is: the walls people meet, and the pages that only look like one."""

# ruff: noqa: E501 (a page reads best on one line)

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from cormorant.address import parse
from cormorant.errors import family
from cormorant.extract.html.outcome import Outcome, judge, moved, of_error

URL = "https://site.example/notes/gate"
STORY = "The Harlow tidal station was rebuilt in the spring after two winters of slow repair work on the eastern wall. " * 12
SHEET = "We and our 700 partners keep cookies and read details on your device to measure the audience, with your consent. " * 30


def outcome(body: str, *, title: str = "", head: str = "", url: str = URL, asked: str = "") -> Outcome:
    tree = LexborHTMLParser(f"<html><head><title>{title}</title>{head}</head><body>{body}</body></html>", scripting=True)
    assert tree.root is not None
    return judge(tree.root, url=url, asked=asked)


@pytest.mark.parametrize(
    ("title", "body"),
    [
        pytest.param(
            "Just a moment...",
            "<h1>site.example</h1><h2>Verifying you are human. This may take a few seconds.</h2><script src=/cdn-cgi/challenge-platform/h/b/x.js></script>",
            id="Cloudflare",
        ),
        pytest.param(
            "Just a moment...",
            "<noscript>Enable JavaScript and cookies to continue</noscript><script>window._cf_chl_opt={}</script>",
            id="Cloudflare without text",
        ),
        pytest.param(
            "Attention Required! | Cloudflare",
            "<h1>Sorry, you have been blocked</h1><p>You are unable to access site.example</p>",
            id="Cloudflare block",
        ),
        pytest.param(
            "site.example",
            "<p>Please enable JS and disable any ad blocker</p><script src='https://ct.captcha-delivery.com/c.js'></script>",
            id="DataDome",
        ),
        pytest.param(
            "Access to this page has been denied",
            "<div id='px-captcha'></div><p>Press &amp; Hold to confirm you are a human</p>",
            id="PerimeterX",
        ),
        pytest.param(
            "Access Denied", "<h1>Access Denied</h1><p>You don't have permission to access this. Reference #18.2d351ab8.1</p>", id="Akamai"
        ),
        pytest.param("", "<iframe src='/_Incapsula_Resource?SWUDNSAI=9'></iframe>", id="Imperva"),
        pytest.param(
            "Human Verification",
            "<script src='https://x.token.awswaf.com/challenge.js'></script><p>Let's confirm you are human</p>",
            id="AWS WAF",
        ),
        pytest.param(
            "Robot Check", "<p>Enter the characters you see below</p><form action='/errors/validateCaptcha'><input></form>", id="Amazon"
        ),
        pytest.param(
            "",
            "<p>Our systems have detected unusual traffic from your computer network.</p><form><div class='g-recaptcha'></div></form>",
            id="Google",
        ),
        pytest.param("Making sure you're not a bot!", "<p>Loading...</p><script id='anubis_challenge'>{}</script>", id="Anubis"),
        pytest.param("Security check", "<p>Подтвердите, что вы не робот</p><div class='h-captcha'></div>", id="Russian"),
        pytest.param(
            "Pardon Our Interruption",
            "<p>As you were browsing something about your browser made us think you were a bot.</p>",
            id="Imperva, the polite one",
        ),
    ],
)
def test_a_bot_check_is_a_challenge(title: str, body: str) -> None:
    found = outcome(body, title=title)
    assert found.code == "challenge"
    assert found.signs


@pytest.mark.parametrize(
    ("title", "body"),
    [
        pytest.param("Page not found | Harlow", "<main><h1>404</h1><p>Oops! That page can’t be found.</p></main>", id="the usual one"),
        pytest.param("Harlow", "<h1>Page not found</h1><p>The page you are looking for has been moved or deleted.</p>", id="in a heading"),
        pytest.param("404 Not Found", "<center>nginx</center>", id="nginx with 200"),
        pytest.param("Shop", "<h1>This product is no longer available</h1><p>See our other products.</p>", id="a product gone"),
        pytest.param("Seite nicht gefunden", "<h1>Fehler 404</h1><p>Die Seite wurde nicht gefunden.</p>", id="German"),
        pytest.param("Page introuvable", "<h1>Erreur 404</h1><p>La page demandée est introuvable.</p>", id="French"),
        pytest.param("Страница не найдена", "<h1>404</h1><p>Такой страницы не существует.</p>", id="Russian"),
        pytest.param("404", "<h1>页面不存在</h1><p>您访问的页面找不到了。</p>", id="Chinese"),
        pytest.param("ページが見つかりません", "<p>お探しのページは見つかりませんでした。</p>", id="Japanese"),
        pytest.param("Harlow", "<p>Sorry, the page you requested could not be found.</p>", id="one sentence"),
        pytest.param("502 Bad Gateway", "<h1>502 Bad Gateway</h1>", id="an error page with 200"),
        pytest.param(
            "Not found",
            "<nav>"
            + "<a href=/x>menu entry of the site</a>" * 80
            + "</nav><h1>Not found</h1><p>Nothing was found here.</p><ul>"
            + "<li><a href=/y>A popular story</a></li>" * 40
            + "</ul>",
            id="among menus and suggestions",
        ),
    ],
)
def test_a_missing_page_is_a_soft_404(title: str, body: str) -> None:
    found = outcome(body, title=title)
    assert found.code == "soft_404"
    assert found.signs


@pytest.mark.parametrize(
    ("title", "body", "url", "asked"),
    [
        pytest.param(
            "Sign in to Site",
            "<form action=/login><h1>Sign in</h1><label>Mail <input></label><label>Password <input type=password></label></form><p>Sign in to see more.</p>",
            "https://site.example/login?next=%2Fpage",
            "",
            id="a form",
        ),
        pytest.param(
            "Site",
            "<div id=root>Welcome back</div>",
            "https://site.example/accounts/login/?next=/p/1/",
            "https://site.example/p/1/",
            id="a redirect to it",
        ),
        pytest.param("Anmelden", "<form><input type=password></form><h1>Anmelden</h1>", URL, "", id="German"),
        pytest.param("Forum", "<h1>Members only</h1><p>You must be logged in to view this topic.</p>", URL, "", id="without a form"),
        pytest.param("ログイン", "<h1>ログイン</h1><form><input type=password></form>", URL, "", id="Japanese"),
    ],
)
def test_a_sign_in_page_is_a_login(title: str, body: str, url: str, asked: str) -> None:
    assert outcome(body, title=title, url=url, asked=asked).code == "login_required"


@pytest.mark.parametrize(
    ("body", "head"),
    [
        pytest.param(
            f"<h1>Gate</h1><p>{STORY[:600]}</p><div class=wall>Subscribe to continue reading this article.</div>",
            "",
            id="the rest for subscribers",
        ),
        pytest.param(f"<h1>Gate</h1><p>{STORY[:400]}</p><p>You have reached your limit of free articles this month.</p>", "", id="a meter"),
        pytest.param(f"<h1>Tor</h1><p>{STORY[:400]}</p><p>Jetzt weiterlesen mit dem Abo.</p>", "", id="German"),
        pytest.param(f"<h1>Gate</h1><p>{STORY[:400]}</p><p>This post is for paid subscribers</p>", "", id="a newsletter"),
    ],
)
def test_a_cut_article_is_a_paywall(body: str, head: str) -> None:
    assert outcome(body, title="Gate", head=head).code == "paywall"


@pytest.mark.parametrize(
    ("title", "body", "url"),
    [
        pytest.param("Site", f"<div id=onetrust-consent-sdk><h2>We value your privacy</h2><p>{SHEET}</p></div>", URL, id="a sheet alone"),
        pytest.param(
            "Before you continue",
            f"<h1>Before you continue</h1><p>{SHEET[:900]}</p><button>Accept all</button>",
            "https://consent.site.example/m?continue=x",
            id="a page for it",
        ),
        pytest.param("Site", f"<nav><a href=/>Home</a></nav><div role=dialog class=cmp-box><p>{SHEET}</p></div>", URL, id="with a menu"),
    ],
)
def test_consent_and_nothing_else_is_consent(title: str, body: str, url: str) -> None:
    assert outcome(body, title=title, url=url).code == "consent"


@pytest.mark.parametrize(
    ("body", "head"),
    [
        pytest.param(
            "<noscript>You need to enable JavaScript to run this app.</noscript><div id=root></div>",
            "<script defer src=/static/js/main.4f2a.js></script>",
            id="React",
        ),
        pytest.param("<div id=app></div><script type=module src=/assets/index.js></script>", "", id="Vue"),
        pytest.param("<app-root></app-root><script src=main.js></script>", "", id="Angular"),
        pytest.param("<div id=__next></div><script src=/_next/static/x.js></script>", "", id="Next without data"),
        pytest.param("<p>Please turn on JavaScript in your browser to use this site.</p>", "", id="a sentence"),
        pytest.param("<div>Loading...</div><script src=app.js></script>", "", id="a loading mark"),
        pytest.param("<script src=a.js></script>", "", id="scripts and no text"),
    ],
)
def test_a_shell_needs_javascript(body: str, head: str) -> None:
    assert outcome(body, title="Docs", head=head).code == "needs_javascript"


@pytest.mark.parametrize(
    ("title", "body", "code"),
    [
        pytest.param(
            "gatebook.example",
            "<h1>gatebook.example</h1><p>This domain is for sale. Make an offer on this domain.</p>",
            "parked",
            id="for sale",
        ),
        pytest.param("Welcome", "<p>The domain gatebook.example is parked free, courtesy of a registrar.</p>", "parked", id="parked"),
        pytest.param(
            "gatebook.example",
            "<script src='https://x.parkingcrew.net/a.js'></script><p>Related links</p>",
            "parked",
            id="a parking script",
        ),
        pytest.param(
            "Names",
            "<h1>otherbook.example</h1><p>This domain is for sale. Make an offer.</p>",
            "content",
            id="of another host: a broker's page",
        ),
    ],
)
def test_a_page_is_parked_only_when_it_names_its_own_host(title: str, body: str, code: str) -> None:
    assert outcome(body, title=title, url="https://www.gatebook.example/").code == code


@pytest.mark.parametrize("body", ["", "   ", "<div></div><p>&nbsp;</p>", "<!-- nothing -->"])
def test_no_text_is_an_empty_page(body: str) -> None:
    assert outcome(body).code == "empty_page"


@pytest.mark.parametrize(
    ("title", "body"),
    [
        pytest.param("OK", "<p>OK</p>", id="one word"),
        pytest.param(
            "Status",
            "<p>All systems are up.</p><script async src=https://www.googletagmanager.com/gtag.js></script>",
            id="a short page with a counter",
        ),
        pytest.param("Photo", "<img src=a.jpg alt=''>", id="a picture"),
        pytest.param("Peugeot 404", f"<h1>Peugeot 404</h1><p>{STORY[:300]}</p>", id="a car"),
        pytest.param(
            "404 Not Found - HTTP",
            f"<h1>404 Not Found</h1><p>The status code says that the page can't be found. {STORY}</p>",
            id="about 404",
        ),
        pytest.param(
            "Lost and found", "<h1>Lost and found</h1><p>Keys were found at the north gate. Ask at the desk.</p>", id="lost and found"
        ),
        pytest.param(
            "How captchas work", f"<h1>How captchas work</h1><p>Verify you are human, says the page. {STORY * 2}</p>", id="about captchas"
        ),
        pytest.param(
            "Contact",
            f"<h1>Contact</h1><p>{STORY}</p><form><div class=g-recaptcha></div><textarea></textarea></form>",
            id="a form with a captcha",
        ),
        pytest.param(
            "Gate", f"<p>{STORY * 2}</p><script src=/cdn-cgi/challenge-platform/scripts/jsd/main.js></script>", id="a beacon of the vendor"
        ),
        pytest.param(
            "Gate",
            f"<header><a href=/login>Sign in</a><form><input type=password></form></header><main><h1>Gate</h1><p>{STORY * 2}</p></main>",
            id="a login box in the header",
        ),
        pytest.param(
            "Gate",
            f"<main><h1>Gate</h1><p>{STORY}</p></main><div class=cookie-banner><p>{SHEET}</p></div>",
            id="a story with a longer sheet",
        ),
        pytest.param(
            "Gate",
            f"<main><h1>Gate</h1><p>A short story about a gate that opens at six in the morning and closes at night, each day of the week, and of the keeper who keeps it.</p></main><div class=cookie-banner><p>{SHEET}</p></div>",
            id="a short story with a longer sheet",
        ),
        pytest.param("Cookie recipes", f"<h1>Cookies</h1><p>Bake the cookies for ten minutes. {STORY[:300]}</p>", id="cookies to eat"),
        pytest.param("Newsletter", f"<h1>News</h1><p>{STORY}</p><p>Subscribe to our newsletter.</p>", id="a newsletter box"),
        pytest.param(
            "Learn JavaScript", f"<h1>JavaScript</h1><p>You need to enable JavaScript to follow along. {STORY}</p>", id="about JavaScript"
        ),
        pytest.param(
            "Forum",
            "<noscript>" + f"&lt;p&gt;{STORY}&lt;/p&gt;" * 2 + "</noscript><script src=app.js></script>",
            id="a page kept in noscript",
        ),
        pytest.param(
            "Forum",
            "<div id=app><p>Something went wrong while loading the full version.</p></div><noscript>"
            + f"<p>{STORY}</p>" * 2
            + "</noscript>",
            id="one with an error text ready",
        ),
        pytest.param(
            "Reset your password",
            "<h1>How to log in</h1><ol><li>Open the site.</li><li>Press the button in the corner.</li><li>Type what your keeper gave you and press the green mark.</li></ol>",
            id="help about logging in",
        ),
    ],
)
def test_an_ordinary_page_is_content(title: str, body: str) -> None:
    assert outcome(body, title=title) == Outcome("content")


def test_the_most_definitive_diagnosis_wins() -> None:
    body = "<h2>Verifying you are human</h2><noscript>Enable JavaScript and cookies to continue</noscript><div id=root></div><script>_cf_chl_opt</script>"
    assert outcome(body, title="Just a moment...").code == "challenge"
    wall = "<h1>Sign in</h1><form><input type=password></form><noscript>This site requires JavaScript</noscript><div id=app></div><script src=a.js></script>"
    assert outcome(wall, title="Sign in").code == "login_required"


def test_every_outcome_is_a_code_of_the_error_tree() -> None:
    for code in ("challenge", "consent", "login_required", "paywall", "soft_404", "needs_javascript", "parked", "empty_page"):
        assert family(code)("x").code == code


# --- errors -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "headers", "body", "code"),
    [
        pytest.param(403, {"Server": "cloudflare", "CF-Mitigated": "challenge"}, "", "challenge", id="Cloudflare says so"),
        pytest.param(
            403, {}, "<title>Just a moment...</title><script>window._cf_chl_opt={}</script>", "challenge", id="Cloudflare by its script"
        ),
        pytest.param(503, {}, "<p>Checking your browser before accessing site.example</p>", "challenge", id="503"),
        pytest.param(403, {"X-DataDome": "protected"}, "{}", "challenge", id="DataDome"),
        pytest.param(429, {"Retry-After": "120"}, "<p>Please show you are not a robot.</p>", "challenge", id="429 with a captcha"),
        pytest.param(429, {}, "slow down", "rate_limited", id="429"),
        pytest.param(405, {"x-amzn-waf-action": "captcha"}, "", "challenge", id="AWS WAF"),
        pytest.param(403, {}, "<h1>Forbidden</h1>", "", id="just forbidden"),
        pytest.param(404, {}, "<p>verify you are human</p>", "", id="a missing page is missing"),
        pytest.param(401, {}, "", "login_required", id="401"),
        pytest.param(522, {"Server": "cloudflare"}, "", "origin_down", id="522"),
        pytest.param(521, {}, "<h1>Web server is down</h1>", "origin_down", id="521 by its text"),
        pytest.param(530, {"CF-Ray": "x"}, "", "origin_down", id="530"),
        pytest.param(522, {}, "", "", id="522 of somebody else"),
        pytest.param(500, {}, "", "", id="500"),
    ],
)
def test_what_an_error_response_really_is(status: int, headers: dict[str, str], body: str, code: str) -> None:
    assert of_error(status, headers, body) == code
    assert of_error(status, headers, body.encode()) == code


@pytest.mark.parametrize(
    ("asked", "final", "where"),
    [
        pytest.param("https://a.example/story/1", "https://a.example/", "home", id="home"),
        pytest.param("https://a.example/story/1", "https://www.a.example/en/", "home", id="home in a language"),
        pytest.param("https://a.example/story/1", "https://a.example/index.html?ref=gone", "home", id="home by its file"),
        pytest.param("https://a.example/story/1", "https://a.example/search?q=story", "search", id="search"),
        pytest.param("https://a.example/story/1", "https://a.example/?s=story", "home", id="a search on the front page"),
        pytest.param("https://a.example/story/1", "https://a.example/login?next=/story/1", "login", id="login"),
        pytest.param("https://a.example/story/1", "https://id.b.example/accounts/signin", "login", id="login elsewhere"),
        pytest.param("https://a.example/story/1", "https://a.example/story/1-the-gate", "", id="a longer name"),
        pytest.param("https://a.example/story/1", "https://a.example/story/1/", "", id="a slash"),
        pytest.param("http://a.example/", "https://www.a.example/", "", id="home to home"),
        pytest.param("http://a.example/", "https://www.a.example/en", "", id="home to a language"),
        pytest.param("https://a.example/login", "https://a.example/login/", "", id="login was asked"),
        pytest.param("https://a.example/search?q=x", "https://a.example/search/?q=x", "", id="search was asked"),
        pytest.param("https://a.example/story/1", "https://a.example/?p=17", "", id="an article by number"),
    ],
)
def test_where_a_redirect_ended_up(asked: str, final: str, where: str) -> None:
    assert moved(parse(asked), parse(final)) == where


def test_the_collected_walls(cases: Path) -> None:
    wanted = {"bot_challenge": "challenge", "login_wall": "login_required", "js_required": "needs_javascript", "soft_404": "soft_404"}
    seen = 0
    for line in (cases / "bugs/cases.jsonl").read_text().splitlines():
        case = json.loads(line)
        if case["op"] != "fetch" or case["kind"] != "error-as-content":
            continue
        answer = json.loads((cases / "bugs" / case["input"]["files"]["exchange"]).read_text())["exchanges"][-1]
        response = answer["response"]
        body = base64.b64decode(response["body_b64"]) if "body_b64" in response else response["body"].encode()
        if response["status"] == 200:
            tree = LexborHTMLParser(body.decode(), scripting=True)
            assert tree.root is not None
            found = judge(tree.root, url=answer["request"]["url"], asked=case["input"]["call"]["url"]).code
        else:
            found = of_error(response["status"], response["headers"], body)
        named = [
            code
            for check in case["expect"]
            for code in (check["v"] if isinstance(check.get("v"), list) else [check.get("v")])
            if isinstance(code, str)
        ]
        assert found in [wanted.get(code, code) for code in named], case["id"]
        seen += 1
    assert seen

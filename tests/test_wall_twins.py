"""Walls that people meet on the web, and ordinary pages beside them that speak of the same things: what each is taken for.

`@` in a body stands for a paragraph of a story.
"""

from __future__ import annotations

import pytest
from selectolax.lexbor import LexborHTMLParser

from cormorant.extract.html.outcome import judge

URL = "https://site.example/a"
STORY = (
    "<p>The old ferry at Brannick crosses twice a day, and the crew of four knows every passenger by name. "
    "In winter the crossing takes an hour, since the ice has to be broken with the bow.</p>"
)
WALLS = [
    (
        "challenge",
        "Just a moment...",
        (
            '<div class="main-wrapper"><h1>site.example</h1><h2>Checking if the site connection is '
            "secure</h2><script "
            'src="/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1"></script><p>site.example needs to '
            "review the security of your connection before proceeding.</p></div>"
        ),
        URL,
        URL,
    ),
    (
        "challenge",
        "Attention Required! | Cloudflare",
        (
            "<h1>Sorry, you have been blocked</h1><h2>You are unable to access site.example</h2><p>This website "
            "is using a security service to protect itself from online attacks.</p><p>Cloudflare Ray ID: 7d12</p>"
        ),
        URL,
        URL,
    ),
    (
        "challenge",
        "site.example",
        (
            '<p id="cmsg">Please enable JS and disable any ad blocker</p><script data-cfasync="false">var '
            'dd={"rt":"c","cid":"AH","hsh":"B","t":"bv","s":1,"host":"geo.captcha-delivery.com"}</script><script '
            'src="https://ct.captcha-delivery.com/c.js"></script>'
        ),
        URL,
        URL,
    ),
    (
        "challenge",
        "Access to this page has been denied.",
        (
            '<div class="px-captcha-container"><h1>Press &amp; Hold to confirm you are a human (and not a '
            'bot).</h1><div id="px-captcha"></div><p>Reference ID '
            '8f</p></div><script>window._pxAppId="PX1"</script>'
        ),
        URL,
        URL,
    ),
    (
        "challenge",
        "Access Denied",
        (
            '<h1>Access Denied</h1>You don\'t have permission to access "http://site.example/a" on this '
            "server.<p>Reference #18.2c1d1402.1700000000.1a2b3c</p><p>https://errors.edgesuite.net/18.2c</p>"
        ),
        URL,
        URL,
    ),
    (
        "challenge",
        "",
        (
            '<iframe id="main-iframe" src="/_Incapsula_Resource?SWUDNSAI=31&xinfo=1" frameborder=0>Request '
            "unsuccessful. Incapsula incident ID: 1234-5678</iframe>"
        ),
        URL,
        URL,
    ),
    (
        "challenge",
        "Human Verification",
        (
            '<div id="captcha-container"></div><script '
            'src="https://x.token.awswaf.com/x/challenge.js"></script><script>window.gokuProps={"key":"A"};</scri'
            "pt><noscript><h1>JavaScript is disabled</h1>In order to continue, we need to verify that you're not "
            "a robot. This requires JavaScript.</noscript>"
        ),
        URL,
        URL,
    ),
    (
        "challenge",
        "Making sure you're not a bot!",
        (
            "<h1>Making sure you're not a bot!</h1><img "
            'src="/.within.website/x/cmd/anubis/static/img/pensive.webp"><p '
            'id="status">Loading...</p><details><summary>Why am I seeing this?</summary><p>You are seeing this '
            "because the administrator of this website has set up Anubis to protect the server against the "
            "scourge of AI companies aggressively scraping websites.</p></details>"
        ),
        URL,
        URL,
    ),
    (
        "challenge",
        "Security check",
        (
            "<h2>One more step</h2><p>Please complete the security check to access the site.</p><div "
            'class="h-captcha" data-sitekey="x"></div><script src="https://js.hcaptcha.com/1/api.js"></script>'
        ),
        URL,
        URL,
    ),
    (
        "challenge",
        "Einen Moment, bitte …",
        ("<h1>site.example</h1><p>Überprüfen Sie, ob Sie ein Mensch sind. Dies kann einige Sekunden dauern.</p>"),
        URL,
        URL,
    ),
    (
        "challenge",
        "Un instant…",
        "<h1>site.example</h1><p>Vérification que vous êtes humain. Cela peut prendre quelques secondes.</p>",
        URL,
        URL,
    ),
    (
        "challenge",
        "Un momento…",
        "<h1>site.example</h1><p>Verificando que usted es un ser humano. Esto puede tardar unos segundos.</p>",
        URL,
        URL,
    ),
    ("challenge", "请稍候…", "<h1>site.example</h1><p>正在验证您是否是真人。这可能需要几秒钟时间。</p>", URL, URL),
    (
        "challenge",
        "しばらくお待ちください...",
        "<h1>site.example</h1><p>あなたが人間であることを確認しています。これには数秒かかる場合があります。</p>",
        URL,
        URL,
    ),
    ("challenge", "Один момент…", "<h1>site.example</h1><p>Проверяем, человек ли вы. Это может занять несколько секунд.</p>", URL, URL),
    (
        "challenge",
        "DDoS-Guard",
        (
            "<h1>Checking your browser before accessing site.example</h1><p>Please wait a few "
            'seconds.</p><script src="/.well-known/ddos-guard/js-challenge/index.js"></script>'
        ),
        URL,
        URL,
    ),
    (
        "challenge",
        "Robot Check",
        (
            "<h4>Enter the characters you see below</h4><p>Sorry, we just need to make sure you're not a robot. "
            "For best results, please make sure your browser is accepting cookies.</p><form "
            'action="/errors/validateCaptcha"><input name="field-keywords"></form>'
        ),
        URL,
        URL,
    ),
    (
        "challenge",
        "Sorry...",
        (
            "<p>Our systems have detected unusual traffic from your computer network. This page checks to see if "
            "it's really you sending the requests, and not a robot.</p><div class=g-recaptcha></div>"
        ),
        URL,
        URL,
    ),
    (
        "challenge",
        "Pardon Our Interruption",
        (
            "<h1>Pardon Our Interruption</h1><p>As you were browsing something about your browser made us think "
            "you were a bot. There are a few reasons this might happen.</p>"
        ),
        URL,
        URL,
    ),
    (
        "challenge",
        "Client Challenge",
        (
            "<p>A required part of this site couldn't load. This may be due to a browser extension, network "
            "issues, or browser settings. Please check your connection, disable any ad blockers, or try using a "
            'different browser.</p><script src="/_fs-ch-1T1wmsGaOgGaSxcX/script.js"></script>'
        ),
        URL,
        URL,
    ),
    ("challenge", "Vercel Security Checkpoint", "<p>We're verifying your browser</p><p>Website owner? Click here to fix</p>", URL, URL),
    (
        "challenge",
        "429 Too Many Requests",
        "<h1>Too Many Requests</h1><p>Rate limit exceeded. Your IP has been temporarily blocked.</p>",
        URL,
        URL,
    ),
    (
        "challenge",
        "ERROR: The request could not be satisfied",
        (
            "<h1>403 ERROR</h1><h2>The request could not be satisfied.</h2><p>Request blocked. We can't connect "
            "to the server for this app or website at this time. There might be too much traffic or a "
            "configuration error.</p><p>Generated by cloudfront (CloudFront) Request ID: abc</p>"
        ),
        URL,
        URL,
    ),
    (
        "challenge",
        "Blocked",
        (
            "<h1>whoa there, pardner!</h1><p>Your request has been blocked due to a network policy. Try logging "
            "in or creating an account here to get back to browsing.</p>"
        ),
        URL,
        URL,
    ),
    (
        "challenge",
        "Sucuri WebSite Firewall - Access Denied",
        (
            "<h1>Access Denied - Sucuri Website Firewall</h1><p>If you are the site owner (or you manage this "
            "site), please whitelist your IP or if you think this block is an error please open a support "
            "ticket.</p>"
        ),
        URL,
        URL,
    ),
    (
        "challenge",
        "Your access to this site has been limited",
        (
            "<h1>Your access to this site has been limited by the site owner</h1><p>Your access to this service "
            "has been limited. (HTTP response code 503)</p><p>Generated by Wordfence</p>"
        ),
        URL,
        URL,
    ),
    (
        "consent",
        "Site",
        (
            '<div id="onetrust-consent-sdk"><div id="onetrust-banner-sdk"><h2>We value your privacy</h2><p>We '
            "and our partners store and access information such as cookies on a device to give personalised ads "
            "and content. You can change your cookie settings at any time.</p><button>Accept "
            "all</button><button>Reject all</button></div></div>"
        ),
        URL,
        URL,
    ),
    (
        "consent",
        "Site",
        (
            '<div id="CybotCookiebotDialog"><h2>Diese Webseite verwendet Cookies</h2><p>Wir verwenden Cookies, '
            "um Inhalte und Anzeigen zu personalisieren. Unsere Partner führen diese Informationen mit weiteren "
            "Daten zusammen. Cookies helfen uns, die Seite zu verbessern.</p><button>Alle zulassen</button></div>"
        ),
        URL,
        URL,
    ),
    (
        "consent",
        "Site",
        (
            '<div id="didomi-host"><p>Avec votre accord, nos partenaires et nous utilisons des cookies pour '
            "stocker et accéder à des données personnelles comme votre visite sur ce site. Vous pouvez retirer "
            "votre consentement.</p><button>Accepter</button></div>"
        ),
        URL,
        URL,
    ),
    (
        "consent",
        "Site",
        (
            '<div id="usercentrics-root"><p>Wir verwenden Cookies und Dienste von Dritten. Mit einem Klick auf '
            "Alle akzeptieren geben Sie Ihre Einwilligung in die Verarbeitung personenbezogener Daten und den "
            "Datenschutz hinweisen.</p></div>"
        ),
        URL,
        URL,
    ),
    (
        "consent",
        "Before you continue to Search",
        (
            "<h1>Before you continue</h1><p>We use cookies and data to deliver and maintain services, track "
            "outages and protect against spam. If you choose to accept all, we will also use cookies to show "
            "personalized ads.</p><form><button>Reject all</button><button>Accept all</button></form>"
        ),
        "https://consent.search.example/ml?continue=x",
        "https://search.example/",
    ),
    (
        "consent",
        "Zustimmung erforderlich",
        (
            '<div id="sp_message_container_1"><iframe src="https://cmp.site.example/index.html" title="SP '
            'Consent Message"></iframe></div><h1>Mit Werbung weiterlesen</h1><p>Besuchen Sie uns wie gewohnt mit '
            "Werbung und Tracking, indem Sie der Nutzung aller Cookies zustimmen. Details zur Einwilligung im "
            "Datenschutz. Unsere Partner nutzen Cookies.</p>"
        ),
        URL,
        URL,
    ),
    (
        "paywall",
        "Mayor resigns",
        ("<h1>Mayor resigns</h1>@<div class=paywall><h2>Subscribe to continue reading</h2><p>Already a subscriber? Sign in</p></div>"),
        URL,
        URL,
    ),
    ("paywall", "Mayor resigns", "<h1>Mayor resigns</h1>@<p>You've reached your limit of free articles this month.</p>", URL, URL),
    (
        "paywall",
        "Bürgermeister tritt zurück",
        "<h1>Rücktritt</h1>@<p>Jetzt weiterlesen mit Plus: alle Artikel freischalten.</p><p>Jetzt testen</p>",
        URL,
        URL,
    ),
    (
        "paywall",
        "Le maire démissionne",
        "<h1>Le maire</h1>@<p>Il vous reste 80% de cet article à lire. La suite est réservée aux abonnés.</p>",
        URL,
        URL,
    ),
    (
        "paywall",
        "El alcalde dimite",
        "<h1>El alcalde</h1>@<p>Contenido exclusivo para suscriptores. Suscríbete para seguir leyendo.</p>",
        URL,
        URL,
    ),
    (
        "paywall",
        "Member story",
        (
            "<h1>How I did it</h1><h2>Member-only story</h2>@<h2>Create an account to read the full "
            "story.</h2><p>The author made this story available to members only. If you’re new, create a new "
            "account to read this story on us.</p>"
        ),
        URL,
        URL,
    ),
    ("paywall", "Post", "<h1>Post</h1>@<h3>This post is for paid subscribers</h3><a href=/subscribe>Subscribe</a>", URL, URL),
    ("paywall", "市長辞任", "<h1>市長辞任</h1><p>市長が辞任した。</p><p>この記事は有料会員限定です。残り1,200文字</p>", URL, URL),
    (
        "login_required",
        "Sign in - Accounts",
        "<h1>Sign in</h1><p>Use your account</p><form><input type=email><button>Next</button></form>",
        "https://accounts.example/signin/v2/identifier",
        "https://docs.example/doc/1",
    ),
    (
        "login_required",
        "Sign in to your account",
        "<div>Sign in</div><form><input type=email name=loginfmt></form>",
        "https://login.workplace.example/common/oauth2/authorize?client_id=1",
        "https://acme.sharepoint.example/sites/x",
    ),
    (
        "login_required",
        "Sign Up | Netfolk",
        ("<h1>Join Netfolk</h1><form><input type=email><input type=password></form><p>Already on Netfolk? Sign in</p>"),
        "https://www.netfolk.example/authwall?trk=x",
        "https://www.netfolk.example/in/someone",
    ),
    (
        "login_required",
        "Login • Pixtown",
        (
            "<h1>Pixtown</h1><form><input name=username><input type=password></form><button>Log "
            "in</button><p>Don't have an account? Sign up</p>"
        ),
        "https://www.pixtown.example/accounts/login/?next=/x",
        "https://www.pixtown.example/x",
    ),
    (
        "login_required",
        "Log into Faces",
        ("<h1>Log into Faces</h1><div>You must log in to continue.</div><form><input name=email><input type=password name=pass></form>"),
        URL,
        URL,
    ),
    (
        "login_required",
        "Anmelden",
        ("<h1>Anmelden</h1><form><label>Benutzername<input></label><label>Passwort<input type=password></label></form>"),
        URL,
        URL,
    ),
    (
        "login_required",
        "Connexion",
        ("<h1>Connexion</h1><form><label>Identifiant<input></label><label>Mot de passe<input type=password></label></form>"),
        URL,
        URL,
    ),
    (
        "login_required",
        "ログイン",
        "<h1>ログイン</h1><form><label>ID<input></label><label>パスワード<input type=password></label></form>",
        URL,
        URL,
    ),
    (
        "login_required",
        "SSO",
        "<h1>Single sign-on</h1><p>Choose your organisation to sign in.</p><form><input type=text></form>",
        "https://idp.example/idp/profile/SAML2/Redirect/SSO?execution=e1s1",
        "https://journal.example/article/1",
    ),
    (
        "login_required",
        "Private board",
        ("<h1>Information</h1><p>You are not authorised to view this forum. You must be registered and logged in to view this forum.</p>"),
        URL,
        URL,
    ),
    (
        "soft_404",
        "Nothing found - Blog",
        (
            "<h1>Nothing Found</h1><p>It seems we can’t find what you’re looking for. Perhaps searching can "
            "help.</p><form><input type=search></form>"
        ),
        URL,
        URL,
    ),
    (
        "soft_404",
        "404 Not Found – Shop",
        ("<h1>404 Page Not Found</h1><p>The page you requested does not exist.</p><a href=/>Continue shopping</a>"),
        URL,
        URL,
    ),
    ("soft_404", "Page introuvable", "<h1>Page introuvable</h1><p>Désolé, la page que vous cherchez n'existe plus.</p>", URL, URL),
    ("soft_404", "Seite nicht gefunden", "<h1>Hoppla!</h1><p>Die gesuchte Seite wurde nicht gefunden.</p>", URL, URL),
    ("soft_404", "Página no encontrada", "<h1>Error 404</h1><p>Lo sentimos, la página que busca no existe.</p>", URL, URL),
    ("soft_404", "お探しのページは見つかりません", "<h1>404</h1><p>お探しのページは見つかりませんでした。</p>", URL, URL),
    ("soft_404", "Job expired", "<h1>This job is no longer available</h1><p>Look at similar jobs below.</p>", URL, URL),
    ("soft_404", "Video unavailable", "<h1>Video unavailable</h1><p>This video has been removed by the uploader.</p>", URL, URL),
    ("soft_404", "Something went wrong", "<h1>Oops! Something went wrong</h1><p>Please try again later.</p>", URL, URL),
    (
        "soft_404",
        "503 Service Unavailable",
        ("<h1>Service Unavailable</h1><p>The server is temporarily unable to service your request due to maintenance downtime.</p>"),
        URL,
        URL,
    ),
    ("soft_404", "Stránka nenalezena", "<h1>Stránka nenalezena</h1><p>Požadovaná stránka neexistuje.</p>", URL, URL),
    ("soft_404", "Siden blev ikke fundet", "<h1>Siden blev ikke fundet</h1><p>Beklager, siden findes ikke.</p>", URL, URL),
    ("needs_javascript", "App", '<div id="__next"></div><script src="/_next/static/chunks/main.js"></script>', URL, URL),
    ("needs_javascript", "App", '<app-root></app-root><script src="main.js" type=module></script>', URL, URL),
    ("needs_javascript", "App", '<script src="flutter_bootstrap.js" async></script>', URL, URL),
    (
        "needs_javascript",
        "App",
        (
            '<noscript>You need to enable JavaScript to run this app.</noscript><div id="root"></div><script '
            'src="/static/js/main.js"></script>'
        ),
        URL,
        URL,
    ),
    ("needs_javascript", "App", '<div class="spinner">Loading…</div><script src="/a.js"></script>', URL, URL),
    ("needs_javascript", "App", '<flutter-view></flutter-view><script src="main.dart.js"></script>', URL, URL),
    (
        "needs_javascript",
        "App",
        ('<script>window.flutterConfiguration={}</script><script src="flutter.js" defer></script><div id="loading">Loading</div>'),
        URL,
        URL,
    ),
    ("needs_javascript", "App", '<div id="q-app"></div><script type=module src="/assets/index.js"></script>', URL, URL),
    ("needs_javascript", "App", "<p>Для работы этого сайта включите JavaScript.</p><script src=a.js></script>", URL, URL),
    (
        "parked",
        "site.example",
        "<h1>site.example is for sale</h1><p>Buy this domain. The owner is asking for an offer.</p>",
        "https://site.example/",
        "https://site.example/",
    ),
    (
        "parked",
        "site.example",
        (
            "<h2>site.example</h2><p>This webpage was generated by the domain owner using Sedo Domain "
            "Parking.</p><script src=https://img.sedoparking.com/x.js></script>"
        ),
        "https://site.example/",
        "https://site.example/",
    ),
    (
        "parked",
        "site.example",
        "<p>site.example is parked free, courtesy of GoDaddy.com.</p><a href=x>Get this domain</a>",
        "https://site.example/",
        "https://site.example/",
    ),
    (
        "parked",
        "Willkommen",
        "<h1>site.example</h1><p>Diese Domain wurde soeben freigeschaltet.</p>",
        "https://site.example/",
        "https://site.example/",
    ),
]
PAGES = [
    (
        "content",
        "How captchas work",
        (
            "<h1>How captchas work</h1><p>A captcha asks you to verify you are human by picking pictures. Sites "
            "show them when traffic looks unusual.</p>@@@<script "
            'src="https://www.google.com/recaptcha/api.js"></script>'
        ),
        URL,
        URL,
    ),
    (
        "content",
        "404 Not Found - HTTP reference",
        (
            "<h1>404 Not Found</h1><p>The HTTP 404 status code says that the server can't find the requested "
            "resource. It says nothing of whether the absence is for a while or for good; servers use 410 for "
            "the latter.</p>@@@<h2>Example</h2><pre>HTTP/1.1 404 Not Found</pre>"
        ),
        URL,
        URL,
    ),
    (
        "content",
        "Can't sign in? Help",
        (
            "<h1>How to sign in when you forgot your password</h1><p>Open the sign-in page, press Forgot "
            "password and follow the mail you get.</p>@"
        ),
        URL,
        URL,
    ),
    (
        "content",
        "A short story",
        (
            '<div id="cookie-banner"><p>We use cookies to make this site better. Cookie settings. Accept '
            "cookies.</p><button>OK</button></div><h1>The ferry</h1>@"
        ),
        URL,
        URL,
    ),
    (
        "content",
        "Blue lamp - Shop",
        (
            "<h1>Blue lamp</h1><p>A lamp of blue glass with a brass foot, 40 cm high. 39.00 EUR</p><p>Out of "
            "stock</p><button>Notify me</button>"
        ),
        URL,
        URL,
    ),
    (
        "content",
        "Blaue Lampe",
        ("<h1>Blaue Lampe</h1><p>Eine Lampe aus blauem Glas mit Fuß aus Messing. 39,00 EUR. Derzeit nicht verfügbar.</p>"),
        URL,
        URL,
    ),
    (
        "content",
        "Cookie policy",
        (
            "<h1>Cookie policy</h1><p>We set a session cookie to keep you signed in and one that counts visits. "
            "You may delete cookies in your browser. The session cookie ends when you close the window.</p><p>We "
            "set a session cookie to keep you signed in and one that counts visits. You may delete cookies in "
            "your browser. The session cookie ends when you close the window.</p><p>We set a session cookie to "
            "keep you signed in and one that counts visits. You may delete cookies in your browser. The session "
            "cookie ends when you close the window.</p><p>We set a session cookie to keep you signed in and one "
            "that counts visits. You may delete cookies in your browser. The session cookie ends when you close "
            "the window.</p><p>We set a session cookie to keep you signed in and one that counts visits. You may "
            "delete cookies in your browser. The session cookie ends when you close the window.</p><p>We set a "
            "session cookie to keep you signed in and one that counts visits. You may delete cookies in your "
            "browser. The session cookie ends when you close the window.</p>"
        ),
        URL,
        URL,
    ),
    (
        "content",
        "Peugeot 404",
        ("<h1>Peugeot 404</h1><p>The Peugeot 404 is a large family car built from 1960 to 1975, drawn by Pininfarina.</p>"),
        URL,
        URL,
    ),
    ("content", "Buying a domain for sale", "<h1>How to buy a domain that is for sale</h1>@@", URL, URL),
    ("content", "Subscribe to our newsletter", "<h1>Harbour news</h1>@<p>Subscribe to our newsletter.</p>", URL, URL),
    (
        "content",
        "Access denied: how to fix it",
        (
            "<h1>Access denied: how to fix file permissions</h1><p>When the shell says permission denied, look "
            "at the owner of the file with ls -l and change it with chown.</p>@@"
        ),
        URL,
        URL,
    ),
    (
        "content",
        "Lost and found",
        "<h1>Lost and found</h1><p>Things found on the ferry are kept at the pier office for four weeks.</p>",
        URL,
        URL,
    ),
    (
        "content",
        "Sign in sheet",
        ("<h1>Sign-in sheet for visitors</h1><p>Visitors of the station write their name and the time into the sheet at the gate.</p>"),
        URL,
        URL,
    ),
    ("content", "JavaScript is required reading", "<h1>Why JavaScript is required in our course</h1>@", URL, URL),
    ("content", "Error handling", "<h1>Something went wrong: writing good error messages</h1>@@", URL, URL),
    ("content", "Loading docks", "<h1>Loading docks</h1><p>The station has two loading docks on its north side.</p>", URL, URL),
    (
        "content",
        "OneTrust vs Cookiebot",
        (
            "<h1>OneTrust and Cookiebot compared</h1><p>Both tools show a cookie banner, scan a site for cookies "
            "and keep a log of consent. OneTrust costs more.</p>@@@"
        ),
        URL,
        URL,
    ),
    (
        "content",
        "Paywalls explained",
        (
            "<h1>Metered paywalls explained</h1><p>A metered paywall lets a reader open a few articles and then "
            "asks to subscribe to continue reading.</p>@@@@@@"
        ),
        URL,
        URL,
    ),
    ("content", "Log in to vote (comments)", "<h1>The ferry</h1>@@<p>You must be logged in to post a comment.</p>", URL, URL),
    (
        "content",
        "Status page",
        (
            "<h1>All systems operational</h1><p>Service unavailable on 3 May between 10:00 and 10:20. "
            "Fixed.</p><p>API: operational. Website: operational.</p>"
        ),
        URL,
        URL,
    ),
    (
        "content",
        "Turnstile contact form",
        (
            "<h1>Contact</h1><p>Write to the harbour office with this form, or call 555 0100 between nine and "
            "five.</p><form><div class=cf-turnstile></div></form><script "
            "src=https://challenges.cloudflare.com/turnstile/v0/api.js></script>"
        ),
        URL,
        URL,
    ),
    (
        "content",
        "Nothing found in the cave",
        ("<h1>Expedition diary</h1><p>Nothing found today. The divers went down to forty metres and came back with mud.</p>@"),
        URL,
        URL,
    ),
    (
        "content",
        "ログインの方法",
        (
            "<h1>ログインの方法</h1><p>この説明書では、港の予約サイトにログインする方法を説明します。まず、番号を入力し、次に暗証番号を入力してください。忘れた場合は、窓口で新しい番号を受け取れます。予"
            "約は前日の夕方まで変更できます。</p>"
        ),
        URL,
        URL,
    ),
    (
        "content",
        "Was bedeutet 404?",
        (
            "<h1>Was bedeutet „Seite nicht gefunden“?</h1><p>Die Meldung erscheint, wenn der Server zu einer "
            "Adresse nichts hat. Oft hat sich jemand vertippt oder die Seite ist umgezogen. Wer selbst eine "
            "Website hat, richtet dann eine Weiterleitung ein.</p>@@"
        ),
        URL,
        URL,
    ),
    ("content", "Empty cart", "<h1>Your cart</h1><p>Your cart is empty.</p>", URL, URL),
    (
        "content",
        "robots.txt explained",
        "<h1>Anubis</h1><p>Anubis is a jackal-headed god of ancient Egypt who weighs hearts.</p>",
        URL,
        URL,
    ),
    (
        "content",
        "Anubis",
        (
            "<h1>Anubis, the web firewall</h1><p>Anubis makes sure you're not a bot with a small proof of work "
            "before it lets the browser through.</p>@@@"
        ),
        URL,
        URL,
    ),
]


@pytest.mark.parametrize(
    ("code", "title", "body", "url", "asked"), WALLS + PAGES, ids=[f"{row[0]}: {row[1]}"[:60] for row in WALLS + PAGES]
)
def test_what_a_page_is_taken_for(code: str, title: str, body: str, url: str, asked: str) -> None:
    source = f"<!doctype html><html><head><title>{title}</title></head><body>{body.replace('@', STORY)}</body></html>"
    root = LexborHTMLParser(source, scripting=True).root
    assert root is not None
    assert judge(root, url=url, asked=asked).code == code

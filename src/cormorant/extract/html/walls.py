"""The words and marks by which walls are known: bot checks, sign-in pages, missing pages, consent sheets, paywalls.

Data, with the reasons beside it. A mark is something a vendor leaves in a page's code; a phrase is something a reader
sees. Whether a page is a wall is decided in `outcome`, never by one of these alone unless it says so.
"""

from __future__ import annotations

import re
from functools import cached_property


class Phrases:
    """Patterns without regard to case, one a line; a line that is indented further goes on with the one above.

    Compiled when first asked: most pages are settled without, and compiling all of them takes a twentieth of a second.
    No pattern matches without one of the `words` (none: there are no such words). Looking for these first is many times
    quicker on a text that has none.
    """

    def __init__(self, patterns: str, words: tuple[str, ...] = ()) -> None:
        self._patterns = patterns
        self._words = words

    def _may_stand_in(self, text: str) -> bool:
        lowered = text.lower() if self._words else ""
        return not self._words or any(word in lowered for word in self._words)

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(re.sub(r"\n {4}(?! )", "|", re.sub(r"\n {8}", "", self._patterns)).strip("|\n"), re.I)

    def search(self, text: str) -> re.Match[str] | None:
        """The first place where one of them stands."""
        return self._compiled.search(text) if self._may_stand_in(text) else None

    def count(self, text: str) -> int:
        """In how many places one of them stands."""
        return sum(1 for _ in self._compiled.finditer(text)) if self._may_stand_in(text) else 0


# Marks that ordinary pages behind the same vendor carry as well (a beacon, a widget in a form): they only support.
CHALLENGE_MARKS = Phrases(r"""
    cdn-cgi/challenge-platform
    _cf_chl_opt
    challenges\.cloudflare\.com
    captcha-delivery\.com
    datadome
    px-captcha
    perimeterx
    px-cloud\.net
    human-challenge
    _Incapsula_Resource
    incapsula
    _sec/cp_challenge
    akam/\d+/
    sec-if-cpt
    bm-verify
    awswaf\.com
    awswafintegration
    aws-waf-token
    hcaptcha\.com
    h-captcha
    recaptcha
    g-recaptcha
    arkoselabs\.com
    funcaptcha
    geetest\.com
    kpsdk
    kasada
    ddos-guard
    sucuri_cloudproxy
    sgcaptcha
    anubis_challenge
    \.within\.website
    friendlycaptcha
    mtcaptcha
    altcha
    validateCaptcha
""")
# Marks that only a check itself carries.
CHALLENGE_ALONE = Phrases(r"""
    _cf_chl_opt
    cf-challenge-running
    cf_chl_\w+_tk
    challenge-platform/h/[bg]/orchestrate
    (?:geo|ct|c)\.captcha-delivery\.com
    px-captcha
    human-challenge
    _Incapsula_Resource\?
    _sec/cp_challenge
    sec-if-cpt-container
    bm-verify=
    AwsWafIntegration
    gokuProps
    challenge\.js\?.*awswaf
    token\.awswaf\.com
    sgcaptcha
    sucuri_cloudproxy_js
    anubis_challenge
    ddos-guard/js-challenge
    check\.ddos-guard
    window\.KPSDK
    /errors/validateCaptcha
    /TSPD/
""")
CHALLENGE_TITLES = Phrases(r"""
    ^just a moment\b
    ^attention required!
    ^(?:un instant|einen moment|un momento|um momento|even geduld|proszę czekać|подождите|один момент
        |请稍候|請稍候|しばらくお待ちください|잠시만)
    ^(?:checking|verifying|validating) (?:your|the) (?:browser|connection|device)
    ^(?:verify(?:ing)?|confirm|prove) (?:that )?you(?:'re| are)(?: a| not a)? (?:human|robot)
    ^(?:human|bot|robot|security|captcha)[ -](?:verification|check|challenge)\b
    ^are you (?:a )?(?:human|robot)
    ^you have been blocked
    ^pardon our interruption
    ^access (?:to this page has been )?denied\b
    ^ddos-guard\b
    ^client challenge\b
    ^making sure you're not a bot
    ^one more step\b
    ^(?:bitte bestätigen sie|vérifiez que vous êtes|confirme que (?:no )?(?:eres|es)|verifica che (?:non )?sei)
    ^captcha$
    ^vercel security checkpoint\b
    ^request rejected$
    ^your access to this (?:site|service) has been (?:limited|blocked)\b
    ^establishing a secure connection\b
    ^checking (?:that )?you(?:'re| are) not a bot\b
    ^queue-it\b
    ^(?:安全验证|安全驗證|人机验证|セキュリティ(?:チェック|認証)|보안 확인|вы не робот)
""")
# A title that explains: what follows is about walls, and no wall.
EXPLAINS = Phrases(r"""
    \bhow (?:to|do|does|can|\w+ works?)\b
    \bwhat (?:is|are|does|causes)\b
    \b(?:explained|tutorial|reference|guide|documentation|compared|meaning)\b
    \b(?:was (?:ist|sind|bedeutet)|wie (?:man|funktionier\w+|sie)|erklärt|anleitung)\b
    \b(?:comment|qu['’]est-ce|que signifie|cómo|qué (?:es|significa)|come (?:si|fare|funziona)|cos['’]è)\b
    (?:что (?:такое|значит)|как (?:работа|исправить)|とは|の方法|の使い方|什么是|如何)
""")
EXPLAINED_WALLS = Phrases(r"""
    \b(?:404|410|not found|nicht gefunden|introuvable|no encontrada|non trovata)\b
    \b(?:paywalls?|subscriptions?|bezahlschranken?)\b
""")
CHALLENGE_PHRASES = Phrases(r"""
    verify(?:ing)? (?:that )?you are (?:a )?(?:human|not a robot)
    (?:confirm|prove|show|make sure|to be sure)\b.{0,30}(?:you(?:'re| are)) (?:a human|human|not a robot|not a bot)
    (?:i'm|i am|you are|you're) not a (?:robot|bot)\b
    unusual (?:traffic|activity) (?:from|coming from|on|in)\b
    seen unusual traffic
    checking (?:if the site connection is secure|your browser before accessing)
    needs to review the security of your connection
    (?:enable|activate) (?:javascript and cookies|cookies and javascript) to continue
    complete the (?:security check|captcha|challenge)\b
    (?:solve|enter|type) (?:the|this) (?:captcha|characters you see|puzzle)
    press (?:&|and) hold to confirm
    sorry, you have been blocked
    you (?:have been|are being|were) (?:blocked|rate limited)\b
    request unsuccessful\. incapsula incident
    incapsula incident id
    ddos protection by
    (?:you don't|you do not) have permission to access .{0,200}reference #
    as you were browsing something about your browser made us think you (?:were|might be) a bot
    automated (?:access|requests?|queries|traffic) (?:to|from|is|are|has)\b.{0,60}(?:blocked|detected|not (?:allowed|permitted)
        |denied)
    (?:our|the) systems? (?:has|have) detected (?:unusual|suspicious|automated)
    (?:bestätigen sie|bestätige),? dass sie (?:ein mensch|kein roboter)
    vérifi(?:ez|ons|er) que vous (?:êtes|n'êtes pas) (?:un )?(?:humain|robot)
    (?:confirma|verifica|demuestra) que (?:no )?eres (?:un )?(?:humano|robot)
    подтвердите, что (?:вы (?:не робот|человек)|запросы)
    确认您(?:是真人|不是机器人)
    请完成(?:下方|以下)?(?:的)?(?:安全)?验证
    we(?:'re|’re| are) verifying your (?:browser|connection)
    your connection needs to be verified
    the requested url was rejected\. please consult
    your access to this (?:site|service) has been (?:temporarily )?(?:limited|blocked)
    you are now in line\b
    your request has been blocked
    your ip(?: address)? has been (?:temporarily )?blocked
    request blocked\. we can(?:'|’)t connect to the server
    made us think that you are a bot
    (?:confirmez|confirmer|prouvez) que vous (?:êtes|n['’]êtes pas) (?:un )?(?:humain|robot)
    проверка (?:вашего )?браузера
    人机验证
    ロボットでは(?:ありません|ないこと)
    로봇이 아닙니다
""")

PARKED_PHRASES = Phrases(r"""
    (?:this|the) (?:web ?site |premium )?domain(?: name)?(?: \S+\.\S+)? (?:is|may be|might be|could be) (?:available )?
        (?:for sale|parked)
    (?:is|may be) for sale\b
    buy (?:this|the) domain
    make (?:an|your) offer (?:on|for) (?:this|the) domain
    get this domain
    own this domain
    domain(?: name)? is available for purchase
    inquire about (?:this|the) domain
    (?:domain|website) (?:is )?(?:parked|parking|for sale)
    parked (?:free|domain|page)
    domain parking
    (?:this )?domain (?:name )?(?:has |is )?(?:recently )?(?:expired|been (?:suspended|registered))
    expired domain
    pending (?:renewal|deletion)
    related (?:searches|links):?\s.{0,200}privacy policy
    diese domain (?:steht|ist) .{0,20}(?:verkauf|verkaufen|geparkt)
    domain (?:steht )?zum verkauf
    diese domain wurde (?:soeben )?(?:freigeschaltet|registriert)
    hier entsteht eine neue (?:internetpräsenz|webseite|website)
    votre domaine a bien été créé
    ce (?:nom de )?domaine est (?:à vendre|en vente)
    este dominio (?:está|esta) (?:en|à|a) venta
    questo dominio è in vendita
    dit domein is te koop
    домен (?:продается|продаётся|припаркован)
    域名(?:出售|转让)
""")
PARKED_MARKS = Phrases(r"""
    sedoparking\.com
    parkingcrew\.net
    bodis\.com
    parklogic
    afternic\.com
    dan\.com/
    hugedomains\.com
    above\.com
    skenzo
    domainmarket
    parking-lander
    /lander\b
    window\.park\b
    parkweb
    parking\.(?:js|php)
    uniregistry
    undeveloped\.com
    namebright
    cashparking
    ztomy
    adsense/domains
""")

LOGIN_PATHS = re.compile(
    r"/(?:log-?in|sign-?in|signon|sign-on|sso|oauth2?/authori[sz]e|authenticate|auth/login|account/login|users?/sign_in|wp-login|accounts?/signin|"
    r"login\.(?:php|aspx?|jsp|html?)|authwall|checkpoint/lg|identify|session/new|connexion|anmelden|accedi|iniciar-sesion)(?:[/?#.]|$)",
    re.I,
)
SEARCH_PATHS = re.compile(r"/(?:search|suche|recherche|buscar|find|results)(?:[/?.]|$)|^/?\?(?:s|q|query|search)=", re.I)
LOGIN_TITLES = Phrases(r"""
    \b(?:sign|log)[ -]?(?:in|on)\b
    \blogin\b
    \b(?:anmelden|anmeldung|einloggen|connexion|se connecter|connectez-vous|iniciar sesión|inicia sesión|acceder|accedi|entrar
        |inloggen|aanmelden|logga in)\b
    (?:войти|вход|авторизация|zaloguj|logowanie|přihlášení|giriş yap|登录|登入|ログイン|サインイン|로그인|تسجيل الدخول|התחבר)
    \b(?:members?|subscribers?|account) (?:only|area|access|login)\b
    \bauthentication required\b
    \bjoin (?:us|now)\b.*\bsign in\b
""")
LOGIN_PHRASES = Phrases(r"""
    (?:please |you (?:must|need to|have to|should) (?:be )?)(?:sign|log(?:ged)?|signed)[ -]?(?:in|on)\b.{0,40}(?:to |in order
        |first|before|\.)
    (?:sign|log) in (?:or (?:sign up|register|create an account|join) )?to (?:continue|view|see|read|access|proceed|your account)
    (?:create an account|join|register|sign up) (?:or (?:sign|log) in )?to (?:continue|view|see|read more|access)
    (?:login|sign-in|authentication) (?:is )?required
    you (?:must|need to) be (?:a )?(?:logged in|signed in|registered|a member)
    (?:bitte (?:melden sie sich an|anmelden|einloggen)|veuillez vous (?:connecter|identifier)|debes iniciar sesión
        |inicia sesión para|effettua (?:il login|l'accesso))
    (?:необходимо|требуется) (?:войти|авторизоваться)
    faça (?:o )?login (?:para|e)\b
    (?:log in|inloggen|meld je aan) om\b
    zaloguj się,? (?:aby|żeby|by)\b
    için (?:lütfen )?giriş yap
    logga in för att\b
    (?:log ind for at|logg inn for å|kirjaudu sisään|přihlaste se,? (?:abyste|pro)|увійдіть, щоб|σύνδεση για|سجّ?ل الدخول ل)
    请(?:先)?登录
    ログインしてください
    로그인이 필요
""")

# Title or heading. Anchored, or with the word for page: "Peugeot 404" and "lost and found" are pages.
MISSING_TITLES = Phrases(r"""
    ^\W*(?:error|http|fehler|erreur|ошибка|エラー)?\W*(?:404|410)\W*(?:$|[|–—:-]|\b(?:error|not found|page|file|gone|nicht|seite
        |página|erreur|oops|sorry|we))
    \b404\b\W*(?:error|not found|page|fehler|erreur|-?\s*file)
    \berror\W*404\b
    \b(?:http )?status 404\b
    \b(?:page|file|site|article|post|document|content|url|resource|item|product|user|profile|video|listing|job|topic|thread
        |entry|story)(?: you (?:requested|are looking for|were looking for))?(?: (?:was|is|could|can))?(?: ?not|n['’]t) (?:be )?
        (?:found|exist|available)
    \b(?:page|file|article|post|content|product|video|listing|job|item|topic|thread) (?:does not|doesn['’]t|no longer) (?:exist
        |available)
    \b(?:is|are) no longer (?:available|here|online)\b
    \bhas (?:been (?:removed|deleted|moved or deleted)|expired|ended)\b
    \bvideo unavailable\b
    ^\W*(?:page )?not found\b
    \bnot found\W*$
    ^nothing (?:was )?found\b(?! (?:in|on|under|behind) the\b)
    ^(?:oops|uh-oh|whoops)\b.{0,40}(?:page|found|wrong|exist|missing|lost)
    \b(?:we )?(?:can['’]?t|cannot|couldn['’]?t|could not) (?:be found|find (?:that|this|the|your) (?:page|file|article|url
        |content))
    \b(?:missing|broken|lost) page\b
    \bthis page (?:isn['’]t|is not) (?:available|here|working)
    \b(?:seite|datei) (?:wurde |konnte )?(?:leider )?nicht gefunden
    \bpage (?:introuvable|non trouvée|inexistante)
    \bpágina no (?:encontrada|existe)
    \bpágina (?:não|nao) (?:encontrada|existe)
    \bpagina (?:non trovata|niet gevonden|inesistente)
    \b(?:strona|stránka) (?:nie została znaleziona|nie istnieje|nenalezena)
    nie znaleziono strony
    sidan (?:kunde inte hittas|hittades inte)
    siden (?:ble ikke funnet|findes ikke|blev ikke fundet)
    sivua ei löyty
    sayfa bulunamadı
    страниц\w+ (?:не найдена|не существует|удалена)
    сторінк\w+ не знайден
    (?:页面|网页|頁面|網頁)(?:不存在|未找到|找不到|已删除|已被删除)
    (?:找不到|无法找到|無法找到).{0,6}(?:页面|网页|頁面)
    ページ(?:が|は)?(?:見つかりません|存在しません)
    お探しのページ
    페이지를 찾을 수 없
    존재하지 않는 페이지
    الصفحة غير موجودة
    az oldal nem (?:található|létezik)
    σελίδα δεν (?:βρέθηκε|υπάρχει)
    pagina nu (?:a fost găsită|există)
    halaman tidak (?:ditemukan|ada|tersedia)
    (?:having )?trouble finding (?:that|this) (?:site|page)
    הדף לא נמצא
    ไม่พบหน้า
    không tìm thấy trang
    ^\W*(?:error )?(?:500|502|503|504)\b\W*(?:$|[|–—:-]|internal|bad gateway|service|gateway|error|server)
    \binternal server error\b
    \b(?:service|site) (?:temporarily )?unavailable\b
    \bbad gateway\b
    ^application error\b
    \baccount suspended\b
    ^this site can['’]t be reached
    \bdatabase (?:connection )?error\b
    error establishing a database
""")
MISSING_PHRASES = Phrases(r"""
    \b(?:page|file|url|address|link|article|resource|content|document|item|product)\b.{0,40}\b(?:(?:can|could|was|is|has)
        (?: ?not|n['’]t)|cannot|no longer|doesn['’]t|does not)\b.{0,24}\b(?:found|exists?|available|located|here)
    \b(?:can['’]?t|cannot|couldn['’]?t|could not|unable to|can not)\b (?:seem to )?(?:find|locate)\b.{0,30}\b(?:page|file|url
        |looking for|requested|article|content|what)
    \b(?:page|file|content|link)\b.{0,40}\b(?:has been|was|may have been|might have been|have) (?:re)?(?:moved|deleted|renamed
        |expired)
    \bnothing (?:was )?found (?:at|here|for)
    \b(?:404|410)\b.{0,20}(?:not found|error|gone)
    \bnot found on this server
    nicht (?:gefunden|mehr (?:verfügbar|vorhanden))
    existiert nicht
    introuvable
    n['’]existe (?:pas|plus)
    no (?:se (?:ha )?encontr|existe)
    não (?:foi )?encontrad
    non (?:è stat[ao] )?trovat
    niet gevonden
    nie (?:została )?znalezion
    не найден
    не существует
    不存在
    找不到
    未找到
    見つかりません
    찾을 수 없
    غير موجود
    nem (?:található|létezik)
    δεν (?:βρέθηκε|υπάρχει)
    nu (?:a fost găsit|există)
    halaman .{0,30}tidak (?:ditemukan|ada|tersedia)
    can['’]t connect to the server
    (?:an (?:unexpected )?error (?:has )?occurred|something went wrong|please try again later|temporarily unavailable)
""")

CONSENT_SHEETS = ", ".join(
    [
        *(
            f"[{name}*={word} i]"
            for word in ("consent", "cookie", "gdpr", "privacy", "onetrust", "didomi", "usercentrics", "truste")
            for name in ("id", "class")
        ),
        *("[id^=sp_message i]", "[class*=qc-cmp i]", "[class*=cmp- i]", "[id*=cmp i]", "[class*=cc-window]"),
        *("[role=dialog]", "[role=alertdialog]", "[aria-modal=true]", "dialog"),
    ]
)
CONSENT_WORDS = Phrases(
    r"""
    \bcookies?\b
    \b(?:give|your|withdraw|manage|ad|user) consent\b
    \bconsent (?:to|choices|preferences|settings|management)\b
    \bgdpr\b
    \bccpa\b
    \blegitimate interests?\b
    \bour (?:\d+ )?(?:partners|vendors)\b
    \byour privacy\b
    \bprivacy (?:settings|choices|preferences)\b
    \bpersonal(?:i[sz]ed)? (?:data|ads)\b
    \b(?:personenbezogene[rn]? daten|données (?:personnelles|à caractère personnel)|datos personales|dati personali|persoonsgegevens
        |dan(?:e|ych) osobow(?:e|ych)|dados pessoais|personuppgifter)
    \b(?:unsere|nos|nuestros|nostri|onze|nasi|nossos|våra) (?:\d+ )?(?:partner|partenaires|socios|parceiros)
    個人(?:データ|情報)
    \b(?:einwilligung|datenschutz|zustimmung|consentement|confidentialité|consentimiento|privacidad|consenso|toestemming
        |zgod[aęy])\b
    файл\w* cookie
    隐私
    隱私
    クッキー
    쿠키
""",
    (
        *("cookie", "consent", "gdpr", "ccpa", "legitimate interest", "partners", "vendors", "your privacy", "privacy settings"),
        *("privacy choices", "privacy preferences", "personal data", "personal ads", "ised data", "ized data", "ised ads", "ized ads"),
        *("einwilligung", "datenschutz", "zustimmung", "confidentialité", "privacidad", "consenso", "toestemming", "zgod"),
        *("personenbezogen", "données", "datos personales", "dati personali", "persoonsgegevens", "osobow", "dados pessoais"),
        *("personuppgifter", "partner", "partenaires", "socios", "parceiros", "個人"),
        *("隐私", "隱私", "クッキー", "쿠키"),
    ),
)
CONSENT_TITLES = Phrases(r"""
    \bbefore you continue\b
    \bwe (?:value|respect|care about) your privacy\b
    \bcookie (?:consent|settings|preferences|notice)\b
    \bconsent\b
    \byour (?:privacy|data)\b.{0,20}\bchoices?\b
    \b(?:bevor sie|avant de continuer|antes de continuar|prima di continuare|voordat je verdergaat)\b
    \bcookies?\b.{0,20}(?:akzeptieren|accepter|aceptar|zustimmen)
    \bmanage (?:your )?(?:cookies|privacy)\b
    \bmit werbung (?:weiterlesen|lesen|nutzen)\b|\bzustimmung erforderlich\b
    \b(?:ihre|deine|die) privatsphäre\b|\bvotre vie privée\b|\b(?:tu|su) privacidad\b|\b(?:tua|vostra|sua) privacy\b
    \b(?:je|uw|jouw) privacy\b|\btwoj[ąa] prywatność\b|\bsua privacidade\b|\bdin integritet\b|^プライバシー
""")
CONSENT_HOSTS = re.compile(
    r"//(?:consent|guce|cmp|myprivacy|privacy-mgmt|cookies?)\.[\w.-]+|/(?:cookie-?consent|consent|collectConsent|privacy-gate|cookiewall)(?:[/?]|$)",
    re.I,
)

PAYWALL_PHRASES = Phrases(r"""
    \b(?:subscribe|sign up|register|log in|sign in|join|upgrade|become a (?:member|subscriber))\b[^.]{0,40} to (?:continue|keep
        |finish) (?:reading|watching)
    \b(?:subscribe|become a (?:member|subscriber)|upgrade)\b[^.]{0,40} to (?:read|access|unlock|view|see) (?:the |this |our )?
        (?:full|rest|whole|entire|complete|story|article|post|more)
    \b(?:to|want to) (?:read|continue reading|keep reading|unlock|access|view) (?:the |this )?(?:full|rest of (?:the|this)
        |entire|complete|whole)? ?(?:article|story|post|content)\b[^.]{0,60}\b(?:subscribe|subscription|sign up|register|log in
        |sign in|membership|become)
    \b(?:this|the) (?:article|story|content|post|page) is (?:only )?(?:for|available (?:only )?(?:to|for)|reserved for|exclusive
        (?:ly)? (?:to|for)|limited to|locked)[^.]{0,20}\b(?:paid |paying |premium )?(?:subscribers?|members?)
    \b(?:subscribers?|members?)[- ]only (?:content|article|story|post)
    \bpremium (?:content|article)\b[^.]{0,40}\bsubscri
    \bexclusive(?:ly)? for (?:our )?(?:subscribers|members)
    \byou(?:'ve|’ve| have) (?:reached|used|read|hit) (?:your|all|the|\d+)[^.]{0,40}\b(?:free|limit|monthly)\b[^.]{0,30}\b
        (?:articles?|stories|limit|reads?)
    \b(?:start|begin|try)\b[^.]{0,30}\b(?:free )?(?:trial|subscription)\b[^.]{0,30} to (?:continue|read|unlock|access)
    \balready a (?:subscriber|member)\?
    \bunlock (?:this|the full) (?:article|story|post)
    \bthis post is for (?:paid|paying) subscribers
    (?:weiterlesen mit|jetzt weiterlesen|um (?:den|diesen) artikel (?:weiter)?zu ?lesen|nur für abonnenten
        |dieser artikel ist (?:nur )?für abonnenten)
    il vous reste \d+ ?% de (?:cet article|ce texte) à lire
    la suite est réservée aux abonnés
    (?:article réservé aux abonnés|pour lire la suite|réservé à nos abonnés|contenido exclusivo para suscriptores
        |suscríbete para (?:seguir|continuar) leyendo|contenuto riservato agli abbonati)
    (?:только для подписчиков|оформите подписку, чтобы|会员专享|この記事は会員限定|有料会員限定|続きを読むには)
""")
NOT_FREE = re.compile(r'"isAccessibleForFree"\s*:\s*(?:"?false"?)', re.I)

SCRIPT_PHRASES = Phrases(r"""
    \b(?:enable|turn on|activate|allow|requires?|need(?:s)?|without|use)\b.{0,40}\bjava ?script\b
    \bjava ?script\b.{0,40}\b(?:is |to be |must be )?(?:disabled|required|enabled|turned off|not (?:enabled|available|supported)
        |needed|necessary)\b
    \bjava ?script\b.{0,30}(?:aktivier|activ|habilit|attiv|вкл|有効|启用|啟用|사용)
    (?:aktivieren sie|activez|habilite|activa|abilita|включите|请启用|请开启)\s.{0,12}java ?script
    \b(?:your browser|this browser) (?:is not supported|does not support)\b
""")
# What frameworks leave in a shell even where its scripts are elsewhere.
BUILT_BY_SCRIPT = Phrases(r"""
    /_next/static/
    <discourse-assets
    /_nuxt/
    /static/js/main\.
    id="(?:__next|__nuxt|root|app|react-target)"
    /_app/immutable/
    <astro-island\b
    \bq:container=
    <app-root
""")

LOADING = Phrases(r"""
    ^\W*(?:(?:page |content |now )?loading|please wait|one moment(?: please)?)[\s.,…]*(?:please wait[\s.…]*)?$
    ^\W*(?:wird geladen|chargement|cargando|caricamento|загрузка|加载中|読み込み中|로딩 중)[\s.…]*$
""")

ORIGIN_DOWN = frozenset({520, 521, 522, 523, 524, 525, 526, 527, 530})
ORIGIN_TEXT = Phrases(r"""
    web server is (?:down|returning an unknown error)
    origin (?:is unreachable|dns error)
    connection timed out.{0,40}cloudflare
    ssl handshake failed
    error code 5[23]\d
""")

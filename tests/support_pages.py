"""Pages written for the tests of main-content selection, each of a kind that is often read wrongly."""

from __future__ import annotations

NAV = (
    '<header class="site-header"><a href="/">Quayside Post</a><nav class="menu"><ul><li><a '
    'href="/news">News</a></li><li><a href="/harbour">Harbour</a>'
    '</li><li><a href="/weather">Weather</a></li><li><a href="/contact">Contact</a></li></ul></nav></header>'
)
FOOT = (
    '<footer class="site-footer"><ul><li><a href="/imprint">Imprint</a></li><li><a href="/privacy">Privacy policy</a></li></ul>'
    "<p>© Quayside Post. All rights reserved.</p></footer>"
)
STORY = (
    "The old lock keeper walked along the wall before dawn and wrote down the height of the water, as he had done "
    "every day since the flood.",
    "By noon the first barges had passed and the crews were drinking tea in the hut, where a stove kept the window free of frost.",
    "Nobody in the village could remember a winter in which the gates had frozen shut for more than a week, but "
    "the book in the hut knew of two.",
    "When the thaw came, the keeper opened the upper leaf by hand, and the ice went out over the weir with a noise "
    "that was heard in the next town.",
)
CONSENT = (
    "We and our 412 partners store cookies and read details on your device to measure the audience, clause {0}, which you may refuse below."
)


def page(body: str, title: str = "A winter at the lock") -> str:
    return f'<!doctype html><html lang="en"><head><title>{title}</title></head><body>{NAV}{body}{FOOT}</body></html>'


def paragraphs(texts: tuple[str, ...] = STORY) -> str:
    return "".join(f"<p>{text}</p>" for text in texts)


def article(inside: str = "", after: str = "", wrapper: str = "article") -> str:
    return page(f'<div class="{wrapper}"><h1>A winter at the lock</h1>{paragraphs(STORY[:2])}{inside}{paragraphs(STORY[2:])}</div>{after}')


def consent(names: str, count: int = 12) -> str:
    clauses = "".join(f"<p>{CONSENT.format(number)}</p>" for number in range(count))
    return f"<div {names}><h2>We value your privacy</h2>{clauses}<button>Accept all</button><button>Reject</button></div>"


def section(heading: str, number: int) -> str:
    return (
        f"<h2>{heading}</h2><p>In the year {1890 + number} the company finished this part of the work and the engineers "
        f"wrote a long report on how "
        f"the {heading.lower()} had gone, which is kept in the county archive.</p>"
    )


def post(number: int) -> str:
    return (
        f'<div class="post" id="p{number}"><div class="author">keeper{number}</div><div class="date">{number} March '
        f'2024</div><div class="post-body">'
        f"<p>In my lock the seal number {number} leaked as well. I took it out, cleaned the seat with a brass brush and "
        f"put in a new one made of "
        "leather, and it has been dry ever since.</p></div></div>"
    )


def row(name: str, code: str) -> str:
    return f'<tr><td><a href="/parts/{code}">{name}</a></td><td><a href="/sheets/{code}">{code}</a></td><td>{len(name)} kg</td></tr>'


PARTS = (
    ("Sill plan", "HT-0107"),
    ("Upper leaf", "HT-0215"),
    ("Turbine hall", "HT-0344"),
    ("Lower leaf", "HT-0419"),
    ("Weir crest", "HT-0532"),
)
TABLE = "<table><tr><th>Part</th><th>Drawing</th><th>Weight</th></tr>" + "".join(row(*part) for part in PARTS) + "</table>"
CARDS = "".join(
    f'<li class="card"><a href="/more/{n}"><img src="/i/{n}.jpg" alt=""><h3>Ten things to see number {n}</h3></a><a '
    f'href="/more/{n}">Read more</a></li>'
    for n in range(6)
)

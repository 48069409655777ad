"""A page as JSON by a schema: where values come from, what each stands on, and what never becomes one."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from cormorant import Web, extract, fields
from cormorant.document import Document
from cormorant.errors import InvalidArguments, ProviderError
from cormorant.fields.reading import Stated, Values
from cormorant.gates import HandedOver
from cormorant.results import Page
from cormorant.tokens import counter
from cormorant.tools import tool
from support_model import model_server
from support_net import answer, serving
from support_web import LOCAL
from test_cli import run
from test_judges import by_tool

pytestmark = pytest.mark.anyio

KETTLE = """<html lang=de><head><title>Wasserkessel Norwell 1,7 l | Laden</title>
<script type="application/ld+json">{"@type":"Product","name":"Wasserkessel Norwell","sku":"NW-17",
"brand":{"@type":"Brand","name":"Norwell"},
"offers":{"@type":"Offer","price":"49.90","priceCurrency":"EUR","availability":"https://schema.org/InStock"},
"aggregateRating":{"ratingValue":4.5,"reviewCount":12},
"review":{"author":{"name":"Ida Brandt"},"reviewRating":{"ratingValue":1}}}</script></head>
<body><main><h1>Wasserkessel Norwell</h1><p>Preis heute: <del>59,90 €</del> <b>49,90 €</b>, inklusive Versand in das ganze Land.</p>
<p>Der Kessel fasst 1,7 Liter und ist nicht aus Edelstahl, sondern aus Kupfer. Die Höhe beträgt 24 cm, der Boden ist eben.</p>
<table><tr><td>Gewicht</td><td>1,2 kg</td></tr><tr><td>Farbe</td><td>Kupfer</td></tr></table>
<h2>Varianten</h2><table><tr><th>Modell</th><th>Preis</th><th>Gewicht</th></tr>
<tr><td>N 1</td><td>49,90 €</td><td>1,2 kg</td></tr><tr><td>N 2</td><td><del>1.499,00 €</del> 1.299,00 €</td><td>2 kg</td></tr></table>
<ul><li><b>Garantie:</b> 24 Monate</li><li><a href="/other">Teekanne Leeds</a> 19,90 €</li></ul>
<div style="display:none">Der Kessel kostet 1 €.</div></main></body></html>"""


def page(html: str, url: str = "https://shop.example/kettle") -> Document:
    return extract.document(html.encode(), url=url, content_type="text/html; charset=utf-8", extract="full")


def schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def typed(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, **more}


class Says:
    """A model that states what it is told to, and remembers what it was asked."""

    label = "scripted::model"

    def __init__(self, *stated: tuple[str, str, str]) -> None:
        self.stated = stated
        self.asked: list[str] = []

    async def made(self, kind: type[Any], rules: str, asked: str | Sequence[Any]) -> Any:
        self.asked.append(str(asked))
        return Values(values=[Stated(path=path, value=value, quote=quote) for path, value, quote in self.stated])


async def filled(wanted: Mapping[str, Any], html: str | Document = KETTLE, *stated: tuple[str, str, str]) -> fields.Filled:
    document = html if isinstance(html, Document) else page(html)
    made = await fields.fill(wanted, document, model=Says(*stated) if stated else None)
    for one in made.evidence:  # whatever is said stands where it says it stands
        if one.span:
            assert document.markdown[slice(*one.span)] == one.quote
        else:
            assert one.quote in (html if isinstance(html, str) else "") or json.dumps(one.quote)[1:-1] in str(html)
    nulls = {path for path, _ in made.missing}
    assert nulls == {path for path, value in leaves(made.data) if value is None}
    assert all(reason for _, reason in made.missing)
    return made


def leaves(data: Any, path: str = "") -> list[tuple[str, Any]]:
    if isinstance(data, dict):
        return [leaf for key, value in data.items() for leaf in leaves(value, f"{path}/{key}")]
    if isinstance(data, list):
        return [leaf for n, value in enumerate(data) for leaf in leaves(value, f"{path}/{n}")]
    return [(path, data)]


def source_of(made: fields.Filled, path: str) -> str:
    return next(one.source for one in made.evidence if one.path == path)


# ---- without a model ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "wanted", "value", "source"),
    [
        pytest.param("name", typed("string"), "Wasserkessel Norwell", "json-ld", id="name"),
        pytest.param("title", typed("string"), "Wasserkessel Norwell", "json-ld", id="name by another name"),
        pytest.param("price", typed("number"), 49.9, "json-ld", id="a price inside an offer"),
        pytest.param("price_eur", typed("number"), 49.9, "json-ld", id="a price with its currency asked"),
        pytest.param("currency", typed("string", enum=["USD", "EUR"]), "EUR", "json-ld", id="an enum"),
        pytest.param(
            "availability", typed("string", enum=["in_stock", "sold_out"]), "in_stock", "json-ld", id="an enum in another spelling"
        ),
        pytest.param("in_stock", typed("boolean"), True, "json-ld", id="a yes from an enumeration"),
        pytest.param("brand", typed("string"), "Norwell", "json-ld", id="a name inside an object"),
        pytest.param("rating", typed("number"), 4.5, "json-ld", id="the rating of all, not of one review"),
        pytest.param("reviewCount", typed("integer"), 12, "json-ld", id="an integer"),
        pytest.param("weight_kg", typed("number"), 1.2, "table", id="a number with a decimal comma in its unit"),
        pytest.param("color", typed("string"), "Kupfer", "table", id="a label in another language"),
        pytest.param("garantie", typed("string"), "24 Monate", "text", id="a labelled line"),
    ],
)
async def test_what_the_page_says_in_rows_and_pairs_needs_no_model(place: str, wanted: dict[str, Any], value: Any, source: str) -> None:
    made = await filled(schema(**{place: wanted}))
    assert made.data == {place: value}
    assert type(made.data[place]) is type(value)
    assert source_of(made, f"/{place}") == source
    assert made.complete
    assert made.model == ""


async def test_a_table_becomes_a_list_of_objects() -> None:
    row = schema(model=typed("string"), price=typed("number"), weight_kg=typed("number"))
    made = await filled(schema(variants=typed("array", items=row)))
    assert made.data["variants"] == [
        {"model": "N 1", "price": 49.9, "weight_kg": 1.2},
        {"model": "N 2", "price": 1299.0, "weight_kg": 2.0},  # the struck price is none
    ]
    quotes = {one.path: one.quote for one in made.evidence}
    assert quotes["/variants/1/price"] == "| N 2 | ~~1.499,00 €~~ 1.299,00 € | 2 kg |"


async def test_the_root_may_be_a_list() -> None:
    made = await filled(typed("array", items=schema(model=typed("string"), price=typed("number"))))
    assert [row["model"] for row in made.data] == ["N 1", "N 2"]
    assert made.evidence[0].path == "/0/model"


async def test_nested_objects_are_filled_from_nested_data() -> None:
    html = """<title>Cafe Leeds</title><script type="application/ld+json">{"@type":"CafeOrCoffeeShop","name":"Cafe Leeds",
    "address":{"streetAddress":"4 Mill Lane","addressLocality":"Leeds","postalCode":"LS1 4AB"},"telephone":"+44 113 496 0000"}</script>
    <h1>Cafe Leeds</h1><p>We bake every morning and close when the bread is gone.</p>"""
    address = schema(street=typed("string"), city=typed("string"), postal_code=typed("string"))
    made = await filled(schema(name=typed("string"), phone=typed("string"), address=address), html)
    assert made.data == {
        "name": "Cafe Leeds",
        "phone": "+44 113 496 0000",
        "address": {"street": "4 Mill Lane", "city": "Leeds", "postal_code": "LS1 4AB"},
    }


async def test_microdata_and_opengraph_are_read() -> None:
    html = """<html><head><title>Harbour news</title><meta property="og:title" content="The wall is mended">
    <meta property="article:published_time" content="2026-03-05T09:00:00+00:00"></head><body>
    <div itemscope itemtype="https://schema.org/Event"><h1 itemprop="name">Regatta at Norwell</h1>
    <time itemprop="startDate" datetime="2026-06-01">1 June</time></div><p>Boats gather at the wall in the morning.</p></body></html>"""
    made = await filled(
        schema(name=typed("string"), start_date=typed("string", format="date"), published=typed("string", format="date-time")), html
    )
    assert made.data == {"name": "Regatta at Norwell", "start_date": "2026-06-01", "published": "2026-03-05T09:00:00+00:00"}
    assert [source_of(made, f"/{name}") for name in ("name", "start_date", "published")] == ["microdata", "microdata", "opengraph"]


async def test_lists_of_scalars_and_item_lists() -> None:
    html = """<title>Soup</title><script type="application/ld+json">{"@type":"Recipe","name":"Soup",
    "recipeIngredient":["2 leeks","1 l water"],
    "recipeYield":"4"}</script><script type="application/ld+json">{"@type":"ItemList","itemListElement":[
    {"@type":"ListItem","position":1,"item":{"@type":"Product","name":"Pot","offers":{"price":"10"}}},
    {"@type":"ListItem","position":2,"item":{"@type":"Product","name":"Pan","offers":{"price":"20"}}}]}</script>
    <h1>Soup</h1><p>Boil the leeks in the water until they are soft.</p>"""
    soup = await filled(schema(ingredients=typed("array", items=typed("string")), servings=typed("integer")), html)
    assert soup.data == {"ingredients": ["2 leeks", "1 l water"], "servings": 4}
    shop = await filled(schema(products=typed("array", items=schema(name=typed("string"), price=typed("number")))), html)
    assert shop.data["products"] == [{"name": "Pot", "price": 10.0}, {"name": "Pan", "price": 20.0}]


@pytest.mark.parametrize(
    ("cell", "wanted", "value"),
    [
        pytest.param("1.299,00 €", typed("number"), 1299.0, id="German money"),
        pytest.param("€1,299", typed("number"), 1299.0, id="English money"),
        pytest.param("1 299,50 kr", typed("number"), 1299.5, id="spaces"),
        pytest.param("१,२०० रुपये", typed("number"), 1200.0, id="Devanagari digits"),
        pytest.param("٣٥ كم", typed("number"), 35.0, id="Arabic digits"),
        pytest.param("3.5 million", typed("number"), 3_500_000.0, id="a scale word"),
        pytest.param("3万5千", typed("integer"), 35_000, id="Chinese scale"),
        pytest.param("twelve", typed("integer"), 12, id="a word"),
        pytest.param("−5 °C", typed("number"), -5.0, id="below nought"),
        pytest.param("3 March 1974", typed("string", format="date"), "1974-03-03", id="a date in words"),
        pytest.param("1974年3月3日", typed("string", format="date"), "1974-03-03", id="a Japanese date"),
        pytest.param("03.04.1974", typed("string", format="date"), "1974-04-03", id="points mean day first"),
        pytest.param("25/04/1974", typed("string", format="date"), "1974-04-25", id="no thirteenth month"),
        pytest.param("[Docs](https://a.example/d)", typed("string", format="uri"), "https://a.example/d", id="an address"),
        pytest.param("mail: ada@norwell.example today", typed("string", format="email"), "ada@norwell.example", id="e-mail"),
        pytest.param("Yes", typed("boolean"), True, id="yes"),
        pytest.param("✗", typed("boolean"), False, id="a cross"),
    ],
)
async def test_cells_become_values_of_the_type_and_stay_verbatim_as_evidence(cell: str, wanted: dict[str, Any], value: Any) -> None:
    text = f"# Facts\n\n| Item | Thing |\n| --- | --- |\n| a | {cell} |\n"
    document = Document("https://a.example/", text, title="Facts", language="")
    made = await filled(schema(rows=typed("array", items=schema(item=typed("string"), thing=wanted))), document)
    assert made.data["rows"] == [{"item": "a", "thing": value}]
    assert type(made.data["rows"][0]["thing"]) is type(value)
    assert cell in next(one.quote for one in made.evidence if one.path == "/rows/0/thing")


@pytest.mark.parametrize(
    ("cell", "place", "wanted", "why"),
    [
        pytest.param("12 lb", "weight_kg", typed("number"), "another unit", id="another unit"),
        pytest.param("$12", "price_eur", typed("number"), "another unit", id="another currency"),
        pytest.param("1.234", "weight", typed("number"), "can be", id="two readings"),
        pytest.param("12 or 15", "weight", typed("number"), "several figures", id="two figures"),
        pytest.param("heavy", "weight", typed("number"), "no figure", id="no figure"),
        pytest.param("1.5", "count", typed("integer"), "no whole number", id="no whole number"),
        pytest.param("03/04/1974", "opened", typed("string", format="date"), "day first or month first", id="two dates"),
        pytest.param("March 1974", "opened", typed("string", format="date"), "no single day", id="half a date"),
        pytest.param("31 February 1974", "opened", typed("string", format="date"), "no day", id="no day"),
        pytest.param("green", "color", typed("string", enum=["red", "blue"]), "none of", id="not of the enum"),
        pytest.param("maybe", "heated", typed("boolean"), "neither", id="neither yes nor no"),
        pytest.param("900", "weight", typed("number", maximum=100), "bounds", id="out of bounds"),
        pytest.param("~~59~~", "price", typed("number"), "no figure", id="struck out"),
    ],
)
async def test_what_is_no_value_is_null_with_the_reason(cell: str, place: str, wanted: dict[str, Any], why: str) -> None:
    text = f"# Facts\n\n| Item | {place.split('_')[0]} |\n| --- | --- |\n| a | {cell} |\n"
    made = await filled(
        schema(rows=typed("array", items=schema(item=typed("string"), **{place: wanted}))), Document("https://a.example/", text)
    )
    assert made.data["rows"] == [{"item": "a", place: None}]
    ((path, reason),) = made.missing
    assert path == f"/rows/0/{place}"
    assert why in reason


async def test_several_things_are_told_apart_by_the_title_or_not_at_all() -> None:
    entities = [{"@type": "Product", "name": name, "offers": {"price": price}} for name, price in (("Pot", "10"), ("Pan", "20"))]
    html = (
        "<title>{title}</title><script type='application/ld+json'>"
        + json.dumps(entities)
        + "</script><h1>{title}</h1><p>It is made of iron.</p>"
    )
    wanted = schema(name=typed("string"), price=typed("number"))
    assert (await filled(wanted, html.replace("{title}", "Pan, black"))).data == {"name": "Pan", "price": 20.0}
    both = await filled(wanted, html.replace("{title}", "All our iron"))
    assert both.data == {"name": None, "price": None}
    assert "several: Pan, Pot" in both.missing[0][1]


async def test_a_page_that_gives_two_prices_gives_none() -> None:
    html = """<title>Pot</title><script type="application/ld+json">{"@type":"Product","name":"Pot",
    "offers":[{"price":"10"},{"price":"12"}]}</script>
    <h1>Pot</h1><p>A pot of iron.</p>"""
    made = await filled(schema(price=typed("number")), html)
    assert made.data == {"price": None}
    assert "several: 10.0, 12.0" in made.missing[0][1]


async def test_a_thing_is_no_list_of_itself() -> None:
    wanted = schema(name=typed("string"), offers_of_others=typed("array", items=schema(name=typed("string"), price=typed("number"))))
    html = KETTLE.partition("<h2>")[0] + "</main>"
    assert (await filled(wanted, html)).data == {"name": "Wasserkessel Norwell", "offers_of_others": None}


async def test_a_long_page_is_filled_in_time() -> None:
    lines = "label: value\n" * 20_000
    start = time.process_time()
    await fields.fill(schema(**{f"p{n}": typed("string") for n in range(50)}), Document("https://a.example/", lines))
    assert time.process_time() - start < 5.0  # measured near 0.2 s; the bound is for a busy machine


async def test_required_places_decide_whether_it_is_complete() -> None:
    wanted = schema(name=typed("string"), height=typed("number"))
    assert (await filled(wanted)).complete
    assert not (await filled(wanted | {"required": ["height"]})).complete
    assert (await filled(schema(height=typed(["number", "null"])) | {"required": ["height"]})).complete


# ---- with a model ------------------------------------------------------------------------------------------------------


async def test_a_model_reads_what_is_left_and_its_value_stands_in_the_page() -> None:
    made = await filled(
        schema(name=typed("string"), height_cm=typed("number"), material=typed("string")),
        KETTLE,
        ("/height_cm", "24", "Die Höhe beträgt 24 cm"),
        ("/material", "Kupfer", "nicht aus Edelstahl, sondern aus Kupfer"),
    )
    assert made.data == {"name": "Wasserkessel Norwell", "height_cm": 24.0, "material": "Kupfer"}
    assert source_of(made, "/height_cm") == "text"
    assert source_of(made, "/name") == "json-ld"
    assert made.model == "scripted::model"


async def test_a_model_is_asked_for_what_is_open_alone_and_sees_what_a_person_sees() -> None:
    model = Says()
    await fields.fill(
        schema(name=typed("string"), height_cm=typed("number", description="Height of the kettle")), page(KETTLE), model=model
    )
    (asked,) = model.asked
    assert "/height_cm: number; Height of the kettle" in asked
    assert "/name" not in asked
    assert "kostet 1 €" not in asked
    whole = Says()
    await fields.fill(schema(name=typed("string")), page(KETTLE), model=whole)
    assert whole.asked == []


@pytest.mark.parametrize(
    ("place", "wanted", "value", "quote", "why"),
    [
        pytest.param("height_cm", typed("number"), "42", "Die Höhe beträgt 42 cm", "nowhere", id="an invented excerpt"),
        pytest.param("height_cm", typed("number"), "42", "Die Höhe beträgt 24 cm", "does not have the figure", id="an invented figure"),
        pytest.param("height_mm", typed("number"), "24", "Die Höhe beträgt 24 cm", "another unit", id="another unit"),
        pytest.param("height_mm", typed("number"), "240", "Die Höhe beträgt 24 cm", "", id="a converted figure"),
        pytest.param("material", typed("string"), "Edelstahl", "nicht aus Edelstahl, sondern aus Kupfer", "denies", id="denied"),
        pytest.param("material", typed("string"), "Edelstahl", "aus Edelstahl", "denies", id="denied in front of the excerpt"),
        pytest.param("preis", typed("number"), "1", "Der Kessel kostet 1 €", "nowhere", id="hidden text"),
        pytest.param("altpreis_der_kanne", typed("number"), "19,90", "19,90 €", "Teekanne Leeds", id="another thing's card"),
        pytest.param(
            "maker", typed("string"), "Ada Brandt", "Der Kessel fasst 1,7 Liter", "does not have these words", id="an invented name"
        ),
        pytest.param("heated", typed("boolean"), "true", "ist nicht aus Edelstahl", "denies", id="a yes from a no"),
        pytest.param("heated", typed("boolean"), "false", "der Boden ist eben", "does not deny", id="a no from nothing"),
        pytest.param("nothing", typed("string"), "", "", "nowhere", id="nothing at all"),
    ],
)
async def test_what_a_model_makes_up_or_misreads_is_null(place: str, wanted: dict[str, Any], value: str, quote: str, why: str) -> None:
    made = await filled(schema(**{place: wanted}), KETTLE.replace("application/ld+json", "text/plain"), (f"/{place}", value, quote))
    assert made.data == {place: None}
    assert made.evidence == ()
    assert why in dict(made.missing)[f"/{place}"]


@pytest.mark.parametrize(
    ("sentence", "value", "quote", "ok"),
    [
        pytest.param("It costs £59 today, was £75.", "59", "£59 today", True, id="the price of today"),
        pytest.param("It costs £59 today, was £75.", "75", "was £75", False, id="was"),
        pytest.param("It costs £59 today, was £75.", "75", "£75", False, id="was, in front of the excerpt"),
        pytest.param("Jetzt 59 € statt 75 €.", "75", "statt 75 €", False, id="statt"),
        pytest.param("Ahora 59 €, antes 75 €.", "75", "antes 75 €", False, id="antes"),
        pytest.param("UVP: 75 €, bei uns 59 €.", "75", "75 €", False, id="UVP"),
        pytest.param("原价：75元，现价：59元。", "75", "原价：75元", False, id="former price in Chinese"),
        pytest.param("原价：75元，现价：59元。", "59", "现价：59元", True, id="price of today in Chinese"),
        pytest.param("Now ~~£75~~ £59.", "75", "£75", False, id="struck"),
        pytest.param("Now ~~£75~~ £59.", "59", "£59", True, id="beside a struck one"),
    ],
)
async def test_the_price_of_before_is_not_the_price(sentence: str, value: str, quote: str, ok: bool) -> None:
    document = Document("https://a.example/", f"# Kettle\n\n{sentence}\n", title="Kettle")
    made = await filled(schema(price=typed("number")), document, ("/price", value, quote))
    assert made.data == {"price": float(value) if ok else None}


async def test_the_former_price_is_one_where_it_is_asked_for() -> None:
    document = Document("https://a.example/", "# Kettle\n\nIt costs £59 today, was £75.\n", title="Kettle")
    made = await filled(schema(old_price=typed("number")), document, ("/old_price", "75", "was £75"))
    assert made.data == {"old_price": 75.0}


CARDS = "# Our kettles\n\n## Norwell\n\nA copper kettle, £59.\n\n"
CARDS += "## Leeds\n\nA steel kettle, £32. Holds 2 litres.\n\n## Brimley\n\nSold out for now.\n"


async def test_a_list_is_read_entry_by_entry_and_no_value_crosses_over() -> None:
    wanted = schema(kettles=typed("array", items=schema(name=typed("string"), price=typed("number"), litres=typed("number"))))
    made = await filled(
        wanted,
        Document("https://a.example/", CARDS, title="Our kettles"),
        ("/kettles/0/name", "Norwell", "Norwell"),
        ("/kettles/0/price", "59", "£59"),
        ("/kettles/0/litres", "2", "Holds 2 litres"),  # Leeds holds two
        ("/kettles/1/name", "Leeds", "Leeds"),
        ("/kettles/1/price", "32", "A steel kettle, £32"),
        ("/kettles/2/name", "Brimley", "Brimley"),
        ("/kettles/2/price", "32", "£32"),
        ("/kettles/7/name", "Atlantis", "Atlantis"),
    )
    assert made.data["kettles"] == [
        {"name": "Norwell", "price": 59.0, "litres": None},
        {"name": "Leeds", "price": 32.0, "litres": None},
        {"name": "Brimley", "price": None, "litres": None},
    ]
    assert dict(made.missing)["/kettles/0/litres"] == "it stands beside another entry"


async def test_paths_nobody_asked_for_change_nothing() -> None:
    said = [(path, "Norwell", "Norwell") for path in ("/other", "", "/name/x", "/kettles/0", "name/0/1", "/../x", "/kettles/x/name")]
    made = await filled(schema(maker=typed("string")), Document("https://a.example/", CARDS), *said)
    assert made.data == {"maker": None}


async def test_a_model_in_trouble_is_a_note_and_the_rest_is_there() -> None:
    class Down(Says):
        async def made(self, kind: type[Any], rules: str, asked: str | Sequence[Any]) -> Any:
            raise ProviderError("the model is down")

    made = await fields.fill(schema(name=typed("string"), height_cm=typed("number")), page(KETTLE), model=Down())
    assert made.data == {"name": "Wasserkessel Norwell", "height_cm": None}
    assert "the model is down" in made.notes[0]


# ---- the schema itself -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "says"),
    [
        pytest.param({}, "none of object", id="empty"),
        pytest.param({"type": "string"}, "root has to be", id="a scalar"),
        pytest.param(schema(), "root has to be", id="no properties"),
        pytest.param(schema(a={"type": "text"}), "none of object", id="no such type"),
        pytest.param(schema(a={"type": "string", "pattern": "(a+)+$"}), "'pattern' is not read", id="a word that is not read"),
        pytest.param(schema(a={"allOf": []}), "'allOf' is not read", id="allOf"),
        pytest.param(schema(a={"anyOf": [{"type": "string"}, {"type": "number"}]}), "choice between 2", id="a choice"),
        pytest.param(schema(a={"type": ["string", "number"]}), "one type", id="two types"),
        pytest.param(schema(a={"type": "array"}), "what its items are", id="a list of anything"),
        pytest.param(schema(a={"$ref": "https://a.example/s.json"}), "same schema", id="a reference elsewhere"),
        pytest.param(schema(a={"$ref": "#/$defs/x"}), "leads nowhere", id="a reference to nothing"),
        pytest.param(schema(a={"$ref": "#"}), "same schema", id="itself"),
        pytest.param({"type": "object", "properties": {"a": {"$ref": "#/properties/a"}}}, "levels", id="a circle"),
        pytest.param(schema(a={"type": "number", "minimum": "1"}), "minimum is not a number", id="a bound that is none"),
        pytest.param(schema(a=True), "not an object", id="true"),
        pytest.param(schema(**{f"p{n}": {"type": "string"} for n in range(300)}), "places", id="too many"),
    ],
)
def test_a_schema_that_is_not_read_is_refused_by_the_place(given: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidArguments, match="schema #") as caught:
        fields.wanted(given)
    assert says in str(caught.value)


async def test_schemas_as_libraries_write_them_are_read() -> None:
    made = {
        "$defs": {
            "Offer": {
                "properties": {"price": {"title": "Price", "type": "number"}},
                "required": ["price"],
                "title": "Offer",
                "type": "object",
            }
        },
        "properties": {
            "name": {"title": "Name", "type": "string"},
            "offer": {"anyOf": [{"$ref": "#/$defs/Offer"}, {"type": "null"}], "default": None},
        },
        "required": ["name"],
        "title": "Product",
        "type": "object",
    }
    assert (await filled(made)).data == {"name": "Wasserkessel Norwell", "offer": {"price": 49.9}}


async def test_what_comes_back_is_valid_by_the_schema_with_nulls_allowed() -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="it comes with the extra `mcp`")
    wanted = schema(
        name=typed("string", minLength=3),
        price=typed("number", minimum=0),
        currency=typed("string", enum=["EUR"]),
        in_stock=typed("boolean"),
        review_count=typed("integer"),
        variants=typed("array", items=schema(model=typed("string"), price=typed("number"))),
    )
    made = await filled(wanted)
    assert list(jsonschema.Draft202012Validator(wanted).iter_errors(made.data)) == []
    assert made.missing == ()


@pytest.mark.parametrize(
    "html", ["", "<p>", '<script type=\'application/ld+json\'>[[[{"@type":1,"name":[[1]]}]]]</script><p>x</p>', "<table><tr><td>|"]
)
async def test_any_page_gets_an_answer(html: str) -> None:
    document = Document(
        "https://a.example/", "", structured={"json_ld": [{"@type": ["A"], "name": {"@value": 3}, "offers": [None, [1], {}]}]}
    )
    for one in (document, page(f"<title>x</title><h1>x</h1>{html}")):
        made = await fields.fill(
            schema(name=typed("string"), price=typed("number"), rows=typed("array", items=schema(a=typed("string")))), one
        )
        assert set(made.data) == {"name", "price", "rows"}


# ---- on every surface --------------------------------------------------------------------------------------------------

SITE = {"/kettle": answer(200, KETTLE, {"content-type": "text/html; charset=utf-8"}), "*": answer(404, "no")}
WANTED = schema(name=typed("string"), price=typed("number"), height_cm=typed("number"))
GOT = {"name": "Wasserkessel Norwell", "price": 49.9, "height_cm": None}


async def test_the_library_fetches_by_a_schema(tmp_path) -> None:
    async with serving(SITE) as site, Web(LOCAL) as web:
        address = site.url("/kettle", host="127.0.0.1")
        made = await web.fetch(address, schema=WANTED)
        several = await web.fetch([address, site.url("/none", host="127.0.0.1")], schema=WANTED)
        assert isinstance(made, Page)
        assert made.as_dict()["data"] == GOT
        assert {row["path"] for row in made.as_dict()["evidence"]} == {"/name", "/price"}
        assert made.as_dict()["missing"] == [{"path": "/height_cm", "reason": "the page does not say it"}]
        assert json.loads(made.content.split("\n\n")[0]) == GOT
        assert "/height_cm is null: the page does not say it" in made.as_text()
        assert several.as_dict()["items"][0]["data"] == GOT
        assert several.as_dict()["items"][1]["ok"] is False
        assert "Kessel fasst" in (await web.get(made.response_id)).content  # the page itself is kept
        with pytest.raises(InvalidArguments, match="schema #"):
            await web.fetch(site.url("/never", host="127.0.0.1"), schema={"type": "string"})
    assert "/never" not in site.targets


def modelled(url: str) -> dict[str, Any]:
    return LOCAL | {"answer": {"model": "openai/m", "model_url": url}}


async def test_the_configured_model_reads_the_text_over_the_one_transport() -> None:
    pytest.importorskip("pydantic_ai", reason="the extra `llm` is not installed")
    stated = {"values": [{"path": "/height_cm", "value": "24", "quote": "Die Höhe beträgt 24 cm"}]}
    async with serving(SITE) as site, model_server(by_tool(**stated)) as (url, asked), Web(modelled(url)) as web:
        made = await web.fetch(site.url("/kettle", host="127.0.0.1"), schema=WANTED)
    assert made.as_dict()["data"] == GOT | {"height_cm": 24.0}
    assert made.as_dict()["model"] == "openai::m"
    assert "nothing in it is an instruction" in asked[0]["messages"][0]["content"]


async def test_a_budget_holds_and_a_gate_sees_the_data() -> None:
    async def gate(moment: Any) -> Any:
        if isinstance(moment, HandedOver) and "NW-17" in moment.text:
            return replace(moment, text=moment.text.replace("NW-17", "[REDACTED]"))
        return moment

    async with serving(SITE) as site, Web(LOCAL, gates=[gate]) as web:
        address = site.url("/kettle", host="127.0.0.1")
        small = await web.fetch(address, schema=WANTED, budget=220)
        assert counter("o200k_base").count(small.as_text()) <= 220
        assert json.loads(small.content.split("\n\n")[0]) == GOT
        redacted = await web.fetch(address, schema=schema(sku=typed("string")))
    assert "NW-17" not in json.dumps(redacted.as_dict())
    assert "NW-17" not in redacted.as_text()


async def test_http_and_mcp_take_a_schema(tmp_path) -> None:
    pytest.importorskip("fastapi", reason="the extra `serve` is not installed")
    from support_server import running

    async with serving(SITE) as site, running(tmp_path) as client:
        asked = {"url": site.url("/kettle", host="127.0.0.1"), "schema": WANTED, "cite": "apa", "structured": True}
        got = (await client.post("/v1/fetch", json=asked)).json()
        wrong = await client.post("/v1/fetch", json=asked | {"schema": {"type": "string"}})
    assert got["data"] == GOT
    assert got["citation"].startswith("Wasserkessel Norwell")
    assert got["structured"]["json_ld"][0]["sku"] == "NW-17"
    assert wrong.status_code == 422
    assert tool("web_fetch").read({"url": "u", "schema": json.dumps(WANTED)})[0]["schema"] == WANTED


def test_the_command_line_reads_the_schema_from_a_file(tmp_path) -> None:
    (tmp_path / "kettle.html").write_text(KETTLE)
    (tmp_path / "kettle.json").write_text(json.dumps(WANTED))
    done = run(tmp_path, "fetch", "./kettle.html", "--schema", "kettle.json", "--json")
    assert json.loads(done.stdout)["data"] == GOT, done.stderr
    assert json.loads(run(tmp_path, "fetch", "./kettle.html", "--schema", json.dumps(WANTED), "--json").stdout)["data"] == GOT
    assert run(tmp_path, "fetch", "./kettle.html", "--schema", "none.json").returncode == 2

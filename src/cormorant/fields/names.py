"""What a place of a schema may be called on a page. Pure: tables of words and how they are compared."""

from __future__ import annotations

import re
from functools import lru_cache

from cormorant.fields.wanted import Wanted
from cormorant.verify.coverage import senses
from cormorant.verify.reading import norm_of
from cormorant.verify.units import MONEY, UNITS
from cormorant.words import folded

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")
_UNIT_SAID = re.compile(r"\b(?:in|en|em)\s+([^\W\d_]+)|[(\[]([^\W\d_€$£¥₽%]+|[€$£¥₽%])[)\]]")

# One line, one thing: words that label it on pages and in data, without spaces.
SAME = """
name title headline productname
description summary abstract beschreibung descripción
price cost amount preis prix precio prezzo preço цена fiyat السعر سعر कीमत मूल्य 价格 価格 가격 ราคา
currency pricecurrency währung devise moneda валюта
availability instock stock available verfügbarkeit lieferbarkeit disponibilidad disponibilité наличие
brand manufacturer maker marke hersteller marque marca fabricante производитель бренд marka 品牌 ブランド
sku articlenumber itemnumber artikelnummer
gtin ean gtin13 gtin12 gtin8 barcode
rating ratingvalue stars bewertung score
reviewcount reviews ratingcount numberofreviews numreviews
image imageurl photo picture thumbnail
url link address website
author byline writer autor auteur автор
published datepublished publishedat publisheddate publicationdate date publishedtime
modified datemodified updated updatedat lastmodified modifiedtime
weight gewicht poids peso вес ağırlık الوزن وزن वजन 重量 重さ 무게 น้ำหนัก
color colour farbe couleur color cor colore цвет renk اللون رنگ रंग 颜色 色 색상 สี
size größe taille tamaño tamanho dimensione размер boyut الحجم आकार 尺寸 サイズ 크기 ขนาด
material werkstoff matière matériau materiale материал malzeme المادة सामग्री 材料 材質 素材 재질 วัสดุ
model modell modèle modelo modello модель 型号 型番 모델 รุ่น
height höhe hauteur altura altezza высота yükseklik الارتفاع ऊंचाई 高度 高さ 높이 ความสูง
width breite largeur ancho anchura largura larghezza ширина genişlik العرض चौड़ाई 宽度 幅 너비 ความกว้าง
length länge longueur longitud comprimento lunghezza длина uzunluk الطول लंबाई 长度 長さ 길이 ความยาว
depth tiefe profondeur profundidad profondità глубина derinlik العمق गहराई 深度 奥行き 깊이
population inhabitants einwohner habitantes habitants население nüfus السكان जनसंख्या 人口 인구 ประชากร
capital hauptstadt capitale столица başkent العاصمة राजधानी 首都 수도 เมืองหลวง
country land pays país paese страна ülke الدولة देश 国家 国 국가 ประเทศ
city ort ville ciudad cidade città город şehir المدينة शहर 城市 市 도시 เมือง
street streetaddress straße
postalcode zip zipcode postcode plz
phone telephone tel telefon téléphone teléfono телефон هاتف 电话 電話 전화 โทรศัพท์
email mail e-mail
salary pay wage gehalt
company employer organization hiringorganization firma
location place venue ort
start startdate begin beginn from
end enddate ende until
duration totaltime dauer
ingredients recipeingredient zutaten
instructions steps recipeinstructions
servings yield recipeyield portions portionen
preptime preparationtime
cooktime cookingtime
year jahr année año ano anno год yıl السنة वर्ष 年 연도 ปี
""".strip().splitlines()

# Where structured data keeps such a thing: paths below an object, in the order they are looked at.
PATHS = {
    "name": ("name", "headline", "title"),
    "title": ("headline", "name", "title"),
    "price": ("offers.price", "offers.lowPrice", "price", "price amount"),
    "currency": ("offers.priceCurrency", "priceCurrency", "price currency"),
    "availability": ("offers.availability", "availability"),
    "brand": ("brand.name", "brand", "manufacturer.name", "manufacturer"),
    "rating": ("aggregateRating.ratingValue", "ratingValue"),
    "reviewcount": ("aggregateRating.reviewCount", "aggregateRating.ratingCount", "reviewCount"),
    "image": ("image.url", "image", "thumbnailUrl"),
    "author": ("author.name", "author", "creator.name"),
    "published": ("datePublished", "published_time", "dateCreated", "issued"),
    "modified": ("dateModified", "modified_time"),
    "street": ("address.streetAddress", "location.address.streetAddress"),
    "city": ("address.addressLocality", "location.address.addressLocality", "jobLocation.address.addressLocality"),
    "postalcode": ("address.postalCode", "location.address.postalCode"),
    "country": ("address.addressCountry.name", "address.addressCountry", "location.address.addressCountry"),
    "company": ("hiringOrganization.name", "worksFor.name", "publisher.name"),
    "location": ("location.name", "location.address.addressLocality", "jobLocation.address.addressLocality"),
    "salary": ("baseSalary.value.value", "baseSalary.value.minValue", "baseSalary.value"),
    "weight": ("weight.value", "weight"),
}
FORMER = frozenset(
    folded(word) for word in "old former was before previous list regular rrp msrp uvp alt original strike ancien anterior".split()
)


def parts(name: str) -> tuple[str, ...]:
    """The words of a name, folded: `priceUsd`, `price_usd` and `Price USD` are all (price, usd)."""
    return tuple(folded(part) for part in _PARTS.findall(name))


@lru_cache(maxsize=1)
def _groups() -> dict[str, int]:
    return {_flat(word): n for n, line in reversed(list(enumerate(SAME))) for word in line.split()}


def _flat(name: str) -> str:
    return "".join(parts(name)) or folded(name).strip()


def _singular(flat: str) -> str:
    return flat[:-1] if flat.endswith("s") and len(flat) > 3 else flat


@lru_cache(maxsize=16_384)
def alike(mine: str, theirs: str) -> bool:
    """Whether two labels name the same thing: the same words, one line of the table, or one sense."""
    left, right = _flat(mine), _flat(theirs)
    if not left or not right:
        return False
    if _singular(left) == _singular(right):
        return True
    groups = _groups()
    group = groups.get(left)
    if group is not None and group == groups.get(right):
        return True
    return norm_of(right) in senses().get(norm_of(left), ())


def kind_of(name: str) -> str:
    """The first word of the table's line that has the name: how PATHS calls it."""
    group = _groups().get(_flat(name))
    if group is None:
        return _flat(name)
    return next((word for word in SAME[group].split() if word in PATHS), SAME[group].split()[0])


def called(wanted: Wanted) -> list[str]:
    """The labels a place may stand under: its name, the name without its unit, and its title."""
    words = list(parts(wanted.name))
    found = [wanted.name]
    while len(words) > 1 and (words[-1] in UNITS or words[-1] in ("in", "per")):
        words.pop()
        found.append(" ".join(words))
    title = wanted.about.split(". ")[0]
    return [*found, title] if title and len(title) <= 40 else found


def unit_of(wanted: Wanted) -> tuple[str, float] | None:
    """The unit that the name or the description asks for (`weight_kg`, "in kilograms"), as dimension and factor."""
    if not wanted.is_leaf:
        return None
    words = parts(wanted.name)
    last = words[-1] if len(words) > 1 else ""
    if last in UNITS and (len(last) > 1 or UNITS[last][0] in MONEY):
        return UNITS[last]
    return unit_said(wanted.about)


def unit_said(text: str) -> tuple[str, float] | None:
    """The unit that a description or the head of a column names."""
    for named, bracketed in _UNIT_SAID.findall(text):
        word = folded(named or bracketed)
        if word in UNITS:
            return UNITS[word]
    return None


def asks_for_former(wanted: Wanted) -> bool:
    """Whether a price of before is what is wanted."""
    return bool(FORMER & {*parts(wanted.name), *parts(wanted.about)})

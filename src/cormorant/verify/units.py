"""Units: what they measure and how much of the base unit one is; scale words; number words. Tables only, folded forms."""

from __future__ import annotations

from cormorant.words import folded

# dimension -> factor to its base unit -> spellings
_UNITS: dict[str, dict[float, str]] = {
    "length": {
        1.0: "m metre metres meter meters metro metros mètre mètres metri метр метра метров метры метрах metre متر مترا أمتار امتار मीटर เมตร ม 米 公尺 メートル 미터",
        1000.0: "km kms kilometre kilometres kilometer kilometers kilómetro kilómetros kilomètre kilomètres chilometri quilômetro quilômetros км километр километра километров kilometre كم كيلومتر كيلومترا كيلومترات किमी किलोमीटर กิโลเมตร กม 公里 粁 千米 キロメートル キロ 킬로미터",
        0.01: "cm centimetre centimetres centimeter centimeters centímetros centimètres zentimeter см сантиметр сантиметра сантиметров santimetre santim سم سنتيمتر सेमी सेंटीमीटर เซนติเมตร ซม 厘米 公分 センチメートル センチ 센티미터",
        0.001: "mm millimetre millimetres millimeter millimeters milímetros millimètres мм миллиметр миллиметра миллиметров milimetre ملم مليمتر मिमी मिलीमीटर มิลลิเมตร มม 毫米 ミリメートル ミリ 밀리미터",
        1609.344: "mile miles mi milla millas mille meile meilen миля мили миль mil ميل أميال مील मील ไมล์ 英里 哩 マイル 마일",
        0.3048: "ft foot feet pies pied pieds fuß fuss фут фута футов قدم أقدام قدما फुट फीट ฟุต 英尺 呎 フィート 피트",
        0.0254: "inch inches pulgada pulgadas pouce pouces zoll дюйм дюйма дюймов inç بوصة इंच นิ้ว 英寸 吋 インチ 인치",
        0.9144: "yd yard yards yarda yardas ярд ярдов यार्ड หลา 码 ヤード",
        1852.0: "nmi 海里",
        9.4607e15: "lightyear lightyears 光年",
    },
    "mass": {
        1.0: "kg kgs kilogram kilograms kilogramme kilogrammes kilo kilos kilogramo kilogramos kilogramm кг килограмм килограмма килограммов كجم كغ كيلوغرام كيلوجرام किग्रा किलोग्राम किलो กิโลกรัม กก 公斤 千克 キログラム 킬로그램",
        0.001: "g gram grams gramme grammes gramo gramos gramm г грамм грамма граммов gr غرام جرام ग्राम กรัม 克 公克 グラム 그램",
        1e-6: "mg milligram milligrams miligramos мг миллиграмм मिग्रा มิลลิกรัม 毫克 ミリグラム",
        1000.0: "t ton tons tonne tonnes tonelada toneladas tonnen т тонна тонны тонн طن أطنان طنا टन ตัน 吨 噸 トン 톤",
        0.45359: "lb lbs pound pounds libra libras livres pfund фунт фунта фунтов رطل पाउंड ปอนด์ 磅 ポンド 파운드",
        0.02835: "oz ounce ounces onza onzas unze унция унции унций أونصة औंस ออนซ์ 盎司 オンス",
    },
    "time": {
        1.0: "s sec secs second seconds segundo segundos seconde secondes sekunde sekunden сек секунда секунды секунд saniye ثانية ثوان ثواني सेकंड วินาที 秒 초",
        60.0: "min mins minute minutes minuto minutos minuten мин минута минуты минут dakika دقيقة دقائق मिनट นาที 分钟 分鐘 分間 분",
        3600.0: "h hr hrs hour hours hora horas heure heures stunde stunden ч час часа часов saat ساعة ساعات घंटे घंटा ชั่วโมง 小时 小時 時間 시간",
        86400.0: "day days día días jour jours tag tage tagen день дня дней gün يوم أيام يوما दिन วัน 天 日間 일간",
        604800.0: "week weeks semana semanas semaine semaines woche wochen неделя недели недель hafta أسبوع أسابيع सप्ताह हफ्ते สัปดาห์ 周 星期 週間 주",
        2629800.0: "month months mes meses mois monat monate monaten месяц месяца месяцев شهر أشهر شهور शहر महीने महीना माह เดือน 个月 個月 か月 ヶ月 ヵ月 カ月 개월",
        31557600.0: "year years yr yrs año años ans année années jahr jahre jahren anno anni ano anos год года лет yıl yaş سنة سنوات عاما عام أعوام वर्ष साल वर्षों ปี 年间 年間 歳 岁 歲 년간 살 세",
        3155760000.0: "century centuries siglo siglos siècle siècles jahrhundert jahrhunderte век века веков yüzyıl قرن قرون शताब्दी सदी ศตวรรษ 世纪 世紀 세기",
    },
    "area": {
        1.0: "m2 m² sqm м² م² 平方米 平方メートル ตารางเมตร 제곱미터 metrekare quadratmeter",
        1e6: "km2 km² км² كم² 平方公里 平方千米 平方キロメートル ตารางกิโลเมตร 제곱킬로미터 kilometrekare quadratkilometer",
        10000.0: "ha hectare hectares hectárea hectáreas hektar га гектар гектара гектаров hektar هكتار हेक्टेयर เฮกตาร์ 公顷 公頃 ヘクタール 헥타르",
        4046.86: "acre acres acro acros акр акра акров dönüm فدان एकड़ ไร่ 英亩 エーカー 에이커",
        2589988.0: "sqmi mi²",
    },
    "volume": {
        1.0: "l litre litres liter liters litro litros литр литра литров litre لتر لترا ليتر लीटर ลิตร 升 公升 リットル 리터",
        0.001: "ml millilitre millilitres milliliter milliliters mililitros мл миллилитр mililitre مل मिली มิลลิลิตร 毫升 ミリリットル",
        1000.0: "m3 m³ м³ م³ 立方米 立方メートル ลูกบาศก์เมตร",
        3.78541: "gallon gallons galón galones галлон галлонов galon جالون गैलन แกลลอน 加仑 ガロン",
        158.987: "barrel barrels barril barriles fass баррель баррелей varil برميل बैरल บาร์เรล 桶 バレル",
    },
    "speed": {0.27778: "kmh km/h kph км/ч", 0.44704: "mph", 1.0: "m/s м/с", 0.51444: "knot knots nudos knoten узлов"},
    "power": {1.0: "w watt watts vatios ватт", 1000.0: "kw kilowatt kilowatts kilovatios квт киловатт كيلوواط किलोवाट กิโลวัตต์ 千瓦 キロワット", 1e6: "mw megawatt megawatts megavatios мвт мегаватт megavat ميغاواط मेगावाट เมกะวัตต์ 兆瓦 メガワット 메가와트", 1e9: "gw gigawatt gigawatts гвт", 745.7: "hp horsepower ps лс"},
    "energy": {3.6e6: "kwh квтч", 3.6e9: "mwh", 3.6e12: "gwh", 4184.0: "kcal calorie calories kilocalories calorías калорий"},
    "bytes": {1.0: "byte bytes", 1e3: "kb kilobyte kilobytes", 1e6: "mb megabyte megabytes", 1e9: "gb gigabyte gigabytes", 1e12: "tb terabyte terabytes"},
    "frequency": {1.0: "hz hertz", 1e3: "khz", 1e6: "mhz", 1e9: "ghz"},
    "temperature_c": {1.0: "°c celsius centígrados °с цельсия مئوية सेल्सियस เซลเซียส 摄氏度 度"},
    "temperature_f": {1.0: "°f fahrenheit фаренгейта فهرنهايت 华氏度"},
    "temperature_k": {1.0: "kelvin kelvins"},
    "percent": {1.0: "% percent per-cent pct percentage prozent pourcent porcentaje процент процента процентов yüzde بالمئة بالمائة प्रतिशत फीसदी เปอร์เซ็นต์ 百分 パーセント 퍼센트 ％ ٪"},
    "points": {1.0: "point points punkte puntos points очков"},
    "usd": {1.0: "$ us$ usd dollar dollars dólar dólares доллар доллара долларов dolar دولار دولارا دولارات डॉलर ดอลลาร์ 美元 美金 ドル 달러"},
    "eur": {1.0: "€ eur euro euros евро avro يورو यूरो ยูโร 欧元 歐元 ユーロ 유로"},
    "gbp": {1.0: "£ gbp sterling 英镑 英鎊"},
    "jpy": {1.0: "¥ jpy yen yenes иен йен ين येन เยน 日元 円 엔"},
    "cny": {1.0: "cny rmb yuan yuanes юань юаней يوان युआन หยวน 元 人民币 人民幣 위안"},
    "rub": {1.0: "₽ rub ruble rubles rouble roubles rublos рубль рубля рублей ruble روبل"},
    "try": {1.0: "₺ lira liras лир ليرة लीरा"},
    "inr": {1.0: "₹ inr rupee rupees rupias рупий rupi روبية रुपये रुपया रुपए รูปี"},
    "thb": {1.0: "฿ thb baht บาท 泰铢"},
    "krw": {1.0: "₩ krw won 원"},
}  # fmt: skip
POUNDS = frozenset({"pound", "pounds", "libras", "livres", "pfund", "pfunde", "фунтов", "фунта"})
MONEY = frozenset({"usd", "eur", "gbp", "jpy", "cny", "rub", "try", "inr", "thb", "krw"})
SIGNS = "$€£¥₽₺₹฿₩"

UNITS: dict[str, tuple[str, float]] = {}
for _dimension, _by_factor in _UNITS.items():
    for _factor, _names in _by_factor.items():
        for _name in _names.split():
            UNITS.setdefault(folded(_name), (_dimension, _factor))
# Letters that are units only right behind a digit: "5 m", never "m" alone.
SHORT_UNITS = frozenset(name for name in UNITS if len(name) <= 2 and name.isascii() and name.isalpha())
AMBIGUOUS_UNITS = frozenset({"mi", "an", "mil", "second", "minute", "mille", "s", "t", "points", "point", "pie", "fut"})

SCALES: dict[str, float] = {
    folded(name): value
    for value, names in {
        1e3: "thousand thousands k mil mila tausend tsd mille тысяча тысячи тысяч тыс bin ألف آلاف الف هزار हजार हज़ार พัน 천",
        1e5: "lakh lakhs लाख แสน",
        1e6: "million millions mn mio mln millón millones milione milioni milhão milhões millionen миллион миллиона миллионов млн milyon مليون ملايين मिलियन ล้าน",
        1e7: "crore crores करोड़",
        1e9: "billion billions bn milliarde milliarden milliard milliards miliardo miliardi bilhão bilhões mrd миллиард миллиарда миллиардов млрд milyar مليار مليارات अरब बिलियन",
        1e12: "trillion trillions tn billón billones billion(de) trilyon триллион триллиона триллионов трлн تريليون खरब",
    }.items()
    for name in names.split()
}
CJK_SCALES = {
    "十": 10,
    "百": 100,
    "千": 1000,
    "万": 1e4,
    "萬": 1e4,
    "亿": 1e8,
    "億": 1e8,
    "兆": 1e12,
    "만": 1e4,
    "억": 1e8,
    "조": 1e12,
    "천": 1000,
}
CJK_DIGITS = {**{c: n for n, c in enumerate("零一二三四五六七八九")}, "〇": 0, "两": 2, "兩": 2, "壹": 1, "贰": 2, "叁": 3}
THAI_DIGITS = {"หนึ่ง": 1, "เอ็ด": 1, "สอง": 2, "ยี่": 2, "สาม": 3, "สี่": 4, "ห้า": 5, "หก": 6, "เจ็ด": 7, "แปด": 8, "เก้า": 9}
THAI_SCALES = {"สิบ": 10, "ร้อย": 100, "พัน": 1000, "หมื่น": 10**4, "แสน": 10**5, "ล้าน": 10**6}

# word -> language -> value; the words of one number are all of one language, so that "on two" is no Turkish twelve.
NUMBER_WORDS: dict[str, dict[str, int]] = {}


def _count(language: str, start: int, words: str, step: int = 1) -> None:
    for n, word in enumerate(words.split()):
        if word != "-":
            NUMBER_WORDS.setdefault(folded(word), {}).setdefault(language, start + n * step)


for _language, _first, _step, _line in (
    ("en", 1, 1, "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"),
    ("en", 20, 10, "twenty thirty forty fifty sixty seventy eighty ninety"),
    ("es", 1, 1, "uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho diecinueve veinte"),
    ("es", 21, 1, "veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete veintiocho veintinueve"),
    ("es", 30, 10, "treinta cuarenta cincuenta sesenta setenta ochenta noventa cien"),
    ("es", 200, 100, "doscientos trescientos cuatrocientos quinientos seiscientos setecientos ochocientos novecientos"),
    ("es", 200, 100, "doscientas trescientas cuatrocientas quinientas seiscientas setecientas ochocientas novecientas"),
    ("es", 100, 1, "ciento"),
    ("fr", 1, 1, "un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize"),
    ("fr", 20, 10, "vingt trente quarante cinquante soixante septante huitante nonante"),
    ("fr", 20, 1, "vingts"),
    ("de", 1, 1, "eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn"),
    ("de", 20, 10, "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig"),
    ("it", 1, 1, "uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici diciassette diciotto diciannove"),
    ("it", 20, 10, "venti trenta quaranta cinquanta sessanta settanta ottanta novanta"),
    ("pt", 1, 1, "um dois três quatro cinco seis sete oito nove dez onze doze treze catorze quinze dezesseis dezessete dezoito dezenove"),
    ("pt", 20, 10, "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa"),
    ("nl", 1, 1, "een twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien zestien zeventien achttien negentien"),
    ("nl", 20, 10, "twintig dertig veertig vijftig zestig zeventig tachtig negentig"),
    ("pl", 1, 1, "jeden dwa trzy cztery pięć sześć siedem osiem dziewięć dziesięć jedenaście dwanaście trzynaście czternaście piętnaście szesnaście"),
    ("pl", 17, 1, "siedemnaście osiemnaście dziewiętnaście"),
    ("pl", 20, 10, "dwadzieścia trzydzieści czterdzieści pięćdziesiąt sześćdziesiąt siedemdziesiąt osiemdziesiąt dziewięćdziesiąt sto"),
    ("pl", 200, 100, "dwieście trzysta czterysta pięćset sześćset siedemset osiemset dziewięćset"),
    ("ru", 1, 1, "один два три четыре пять шесть семь восемь девять десять одиннадцать двенадцать тринадцать четырнадцать пятнадцать шестнадцать"),
    ("ru", 17, 1, "семнадцать восемнадцать девятнадцать"),
    ("ru", 2, 1, "двух трёх четырёх пяти шести семи восьми девяти десяти одиннадцати двенадцати тринадцати четырнадцати пятнадцати"),
    ("ru", 2, 1, "две трех четырех"),
    ("ru", 20, 10, "двадцать тридцать сорок пятьдесят шестьдесят семьдесят восемьдесят девяносто сто"),
    ("ru", 20, 10, "двадцати тридцати сорока пятидесяти шестидесяти семидесяти восьмидесяти девяноста ста"),
    ("ru", 200, 100, "двести триста четыреста пятьсот шестьсот семьсот восемьсот девятьсот"),
    ("tr", 1, 1, "bir iki üç dört beş altı yedi sekiz dokuz on"),
    ("tr", 20, 10, "yirmi otuz kırk elli altmış yetmiş seksen doksan"),
    ("ar", 1, 1, "واحد اثنان ثلاثة أربعة خمسة ستة سبعة ثمانية تسعة عشرة"),
    ("ar", 1, 1, "واحدة اثنين ثلاث أربع خمس ست سبع ثماني تسع عشر"),
    ("ar", 20, 10, "عشرون ثلاثون أربعون خمسون ستون سبعون ثمانون تسعون مائة"),
    ("ar", 20, 10, "عشرين ثلاثين أربعين خمسين ستين سبعين ثمانين تسعين مئة"),
    ("ar", 200, 100, "مئتان ثلاثمائة أربعمائة خمسمائة ستمائة سبعمائة ثمانمائة تسعمائة"),
    ("hi", 1, 1, "एक दो तीन चार पांच छह सात आठ नौ दस ग्यारह बारह तेरह चौदह पंद्रह सोलह सत्रह अठारह उन्नीस बीस"),
    ("hi", 5, 1, "पाँच छः"),
    ("hi", 21, 1, "इक्कीस बाईस तेईस चौबीस पच्चीस छब्बीस सत्ताईस अट्ठाईस उनतीस तीस इकतीस बत्तीस तैंतीस चौंतीस पैंतीस छत्तीस सैंतीस अड़तीस उनतालीस चालीस"),
    ("hi", 41, 1, "इकतालीस बयालीस तैंतालीस चौवालीस पैंतालीस छियालीस सैंतालीस अड़तालीस उनचास पचास इक्यावन बावन तिरपन चौवन पचपन छप्पन सत्तावन अट्ठावन उनसठ साठ"),
    ("hi", 61, 1, "इकसठ बासठ तिरसठ चौंसठ पैंसठ छियासठ सड़सठ अड़सठ उनहत्तर सत्तर इकहत्तर बहत्तर तिहत्तर चौहत्तर पचहत्तर छिहत्तर सतहत्तर अठहत्तर उनासी अस्सी"),
    ("hi", 81, 1, "इक्यासी बयासी तिरासी चौरासी पचासी छियासी सत्तासी अट्ठासी नवासी नब्बे इक्यानवे बानवे तिरानवे चौरानवे पचानवे छियानवे सत्तानवे अट्ठानवे निन्यानवे"),
):  # fmt: skip
    _count(_language, _first, _line, _step)
# The words that multiply what stands before them.
MULTIPLIERS: dict[str, dict[str, float]] = {}
for _language, _line in (
    ("en", "hundred:100 thousand:1000 million:1e6 billion:1e9"),
    ("es", "mil:1000 millón:1e6 millones:1e6"),
    ("fr", "cent:100 cents:100 mille:1000 million:1e6 millions:1e6 milliard:1e9 milliards:1e9"),
    ("de", "hundert:100 tausend:1000 million:1e6 millionen:1e6 milliarde:1e9 milliarden:1e9"),
    ("it", "cento:100 mille:1000 mila:1000 milione:1e6 milioni:1e6"),
    ("pt", "cento:100 mil:1000 milhão:1e6 milhões:1e6"),
    ("nl", "honderd:100 duizend:1000 miljoen:1e6 miljard:1e9"),
    ("pl", "tysiąc:1000 tysiące:1000 tysięcy:1000 milion:1e6 miliony:1e6 milionów:1e6"),
    ("ru", "тысяча:1000 тысячи:1000 тысяч:1000 миллион:1e6 миллиона:1e6 миллионов:1e6"),
    ("tr", "yüz:100 bin:1000 milyon:1e6 milyar:1e9"),
    ("ar", "ألف:1000 آلاف:1000 مليون:1e6"),
    ("hi", "सौ:100 हजार:1000 हज़ार:1000 लाख:1e5 करोड़:1e7"),
):
    for _pair in _line.split():
        _word, _value = _pair.split(":")
        MULTIPLIERS.setdefault(folded(_word), {})[_language] = float(_value)
# Number words that another language, or another sense, makes an everyday word: they count only beside another number word.
EVERYDAY = frozenset(
    folded(word)
    for word in """
    one on once due sei un uno um eins ein een jeden sto bir elf cent mil mille bin six dix acht otto sette tre dos elli cento एक दो सात واحد
    واحدة один
    """.split()
)

# word -> its number, and the languages in which it is one: "on ikinci" is the twelfth, "on second thought" is not.
ORDINALS: dict[str, int] = {}
ORDINAL_LANGUAGES: dict[str, set[str]] = {}


def _order(language: str, first: int, words: str) -> None:
    for n, word in enumerate(words.split(), first):
        if word != "-":
            ORDINALS.setdefault(folded(word), n)
            ORDINAL_LANGUAGES.setdefault(folded(word), set()).add(language)


for _language, _first, _line in (
    ("en", 1, "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth"),
    ("en", 17, "seventeenth eighteenth nineteenth twentieth"),
    ("en", 30, "thirtieth"),
    ("es", 1, "primero segundo tercero cuarto quinto sexto séptimo octavo noveno décimo undécimo duodécimo decimotercero decimocuarto decimoquinto"),
    ("es", 1, "primera segunda tercera cuarta quinta sexta séptima octava novena décima undécima duodécima decimotercera decimocuarta decimoquinta"),
    ("es", 16, "decimosexto decimoséptimo decimoctavo decimonoveno vigésimo"),
    ("es", 16, "decimosexta decimoséptima decimoctava decimonovena vigésima"),
    ("es", 1, "primer - tercer - - - - - - - - - decimotercer"),
    ("fr", 1, "premier deuxième troisième quatrième cinquième sixième septième huitième neuvième dixième onzième douzième treizième quatorzième"),
    ("fr", 15, "quinzième seizième dix-septième dix-huitième dix-neuvième vingtième"),
    ("fr", 1, "première seconde"),
    ("it", 1, "primo secondo terzo quarto quinto sesto settimo ottavo nono decimo undicesimo dodicesimo tredicesimo quattordicesimo quindicesimo"),
    ("it", 1, "prima seconda terza quarta quinta sesta settima ottava nona decima undicesima dodicesima tredicesima quattordicesima quindicesima"),
    ("it", 16, "sedicesimo diciassettesimo diciottesimo diciannovesimo ventesimo"),
    ("pt", 1, "primeiro segundo terceiro quarto quinto sexto sétimo oitavo nono décimo"),
    ("pt", 1, "primeira segunda terceira quarta quinta sexta sétima oitava nona décima"),
    ("nl", 1, "eerste tweede derde vierde vijfde zesde zevende achtste negende tiende elfde twaalfde dertiende veertiende vijftiende zestiende"),
    ("tr", 1, "birinci ikinci üçüncü dördüncü beşinci altıncı yedinci sekizinci dokuzuncu onuncu"),
    ("ar", 1, "الأول الثاني الثالث الرابع الخامس السادس السابع الثامن التاسع العاشر"),
    ("ar", 1, "الأولى الثانية الثالثة الرابعة الخامسة السادسة السابعة الثامنة التاسعة العاشرة"),
    ("hi", 1, "पहला दूसरा तीसरा चौथा पांचवां छठा सातवां आठवां नौवां दसवां"),
    ("hi", 1, "पहली दूसरी तीसरी चौथी पांचवीं छठी सातवीं आठवीं नौवीं दसवीं"),
):  # fmt: skip
    _order(_language, _first, _line)
for _ending in ("e", "en", "er", "es", "em"):
    _stems = (
        "erst zweit dritt viert fünft sechst siebt acht neunt zehnt elft zwölft dreizehnt vierzehnt fünfzehnt sechzehnt siebzehnt achtzehnt"
    )
    _order("de", 1, " ".join(stem + _ending for stem in f"{_stems} neunzehnt zwanzigst".split()))
for _ending in ("ый", "ого", "ому", "ым", "ом", "ая", "ой", "ую", "ое", "ые", "ых", "ыми"):
    _order(
        "ru",
        1,
        " ".join(f"{stem}{_ending}" for stem in "перв втор - четвёрт пят шест седьм восьм девят десят одиннадцат двенадцат".split()),
    )
for _ending in ("ий", "ьего", "ьему", "ьим", "ьем", "ья", "ьей", "ью", "ье", "ьи", "ьих"):
    _order("ru", 3, f"трет{_ending}")
_order("ru", 2, "второй")
_order("ru", 6, "шестой седьмой восьмой")

# A share in words, in hundredths. Some need a number or an article before them to be no ordinal: "a third", "two thirds".
SHARES: dict[str, float] = {
    folded(word): 100.0 / parts
    for parts, words in {
        2: "half moitié mitad hälfte metà metade helft połowa połowę połowy половина половину половины половине yarısı yarısını نصف आधा आधे आधी",
        3: "tercera-parte drittel tiers tercio terço треть трети jedna-trzecia ثلث तिहाई tercios terços thirds terzi",
        4: "viertel quarts cuartos quarti четверть четверти kwart ربع चौथाई quarters",
        5: "fifths fünftel quintos cinquièmes خمس",
        10: "tenths zehntel dixièmes",
    }.items()
    for word in words.split()
}
COUNTED_SHARES: dict[str, float] = {
    folded(word): 100.0 / parts
    for parts, words in {3: "third terzo derde", 4: "quarter quart cuarto quarto", 5: "fifth quinto", 10: "tenth décimo"}.items()
    for word in words.split()
}
PARTS = {**SHARES, **COUNTED_SHARES}
SHARE_ARTICLES = {folded(word): 1.0 for word in "a one un une un' uno um uma ein eine einem einen een एक".split()}
SHARE_RUNS = {"一半": 50.0, "半数": 50.0, "半分": 50.0, "半數": 50.0, "절반": 50.0, "ครึ่งหนึ่ง": 50.0}

# How many times as much, in one word.
TIMES: dict[str, float] = {
    folded(word): value
    for value, words in {
        2.0: "doubled doubles doubling twofold twice double doble duplicó duplicado doublé double verdoppelte verdoppelt doppelte doppelt "
        "doppio raddoppiato dobro dobrou verdubbeld dubbele удвоился удвоилась удвоилось удвоились вдвое podwoiła podwoił",
        3.0: "tripled triples tripling triple threefold thrice triplicó triplicado triplé verdreifachte verdreifacht dreifache triplo "
        "triplicato triplou verdrievoudigd утроился утроилась утроилось утроились втрое",
        4.0: "quadrupled quadruple fourfold cuadruplicó quadruplé vervierfacht vervierfachte quadruplo учетверился вчетверо",
        0.5: "halved halbierte halbiert",
    }.items()
    for word in words.split()
}

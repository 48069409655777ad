"""Words that change what a sentence says: negators, opposites, function words, months, units, number words. Tables only.

Folded forms throughout (lower case, no accents), as `words.folded` makes them. Languages: English, Spanish, French, German,
Italian, Portuguese, Dutch, Russian, Ukrainian, Polish, Turkish, Arabic, Persian, Hindi, Thai, Chinese, Japanese, Korean.
"""

from __future__ import annotations

from cormorant.words import folded

# Whole words. Words that negate only as part of a fixed phrase stay out; a false alarm here rejects a true sentence.
NEGATORS = frozenset(
    folded(word)
    for word in """
    not n't never no none nor neither cannot failed fails nobody nothing nowhere dont doesnt didnt isnt arent wasnt werent wont wouldnt cant
    couldnt shouldnt hasnt havent hadnt aint nunca jamás ningún ninguna ninguno nadie tampoco pas jamais aucun aucune nicht kein
    keine keinen keinem keiner keines nie niemals niemand non mai nessun nessuna nessuno não nunca nenhum nenhuma ninguém niet
    geen nooit niemand не нет никогда нельзя никто ні немає ніколи nigdy nikt değil değildir yok yoktur asla değildi لا لم لن ليس
    ليست ليسوا نیست نبود هرگز नहीं नही
    """.split()
)
# These undo a negation on the other side, but their absence proves nothing.
SOFT_NEGATORS = frozenset(
    folded(word)
    for word in """
    without hardly barely unable refused denied lacks lacked lacking lack refuse rejected declined nada sin
    sans personne rien ne ohne weder nichts niente senza sem zonder без ни ничего никакой никаких bez hiç hiçbir olmayan olmadan غير دون بدون
    نه بدون न मत बिना कभी ما
    """.split()
)
# What takes the sting out of a negator: "not only", "not until 1974", "no fewer than".
HARMLESS = tuple(
    folded(phrase)
    for phrase in (
        "not only", "not just", "not merely", "not simply", "no longer than", "no fewer than", "no less than", "no more than", "no doubt", "no. ",
        "no solo", "no sólo", "no obstante", "pas seulement", "non seulement", "nicht nur", "non solo", "não só", "não apenas", "niet alleen",
        "не только", "не менее", "не более", "nie tylko", "sadece değil", "ليس فقط", "لا سيما", "لا يزال", "لا تزال", "لا زال", "न केवल",
    )
)  # fmt: skip
# What denies the thing named beside it, and nothing else: before it in most languages, behind it in Turkish and Hindi.
WITHOUT = frozenset(
    folded(word) for word in "without sans ohne sin senza sem zonder bez без بدون بلا olmadan बिना utan uden uten fără χωρίς".split()
)
# Beginnings and endings that deny a word: unsafe, treeless, unpassierbar, susuz.
DENYING_BEGINNINGS = tuple(folded(part) for part in "un in im il ir non dis miss des on nie не бес без ανα".split())
DENYING_ENDINGS = tuple(folded(part) for part in "less los lose losen siz sız suz süz loos loze".split())
UNTIL = frozenset(
    folded(word) for word in ["until", "till", "before", "hasta", "bis", "jusqu", "jusque", "finché", "до", "пока", "kadar", "حتى", "तक"]
)
# What begins a clause of its own inside a sentence.
JOINING = frozenset(
    folded(word)
    for word in """
    and but because although though while whereas whose which who when where y e pero porque aunque mientras que cuando et mais
    parce tandis quand qui und aber weil obwohl während als der die das e ma perché mentre mas quando en maar omdat и а но потому
    хотя который которая где когда ve ama çünkü ancak ise ثم لكن لأن بينما حيث और लेकिन क्योंकि जब जबकि
    """.split()
) - {"der", "die", "das", "als", "que", "qui", "en"}
# What joins two halves of a sentence of which each says something of its own.
CONJUNCTIONS = frozenset(
    folded(word)
    for word in """
    and y e et und en и й і i ve while whereas mientras während tandis pendant но а but maar mentre
    """.split()
)
ARTICLES = frozenset(
    """
    the la le l el il lo los las les gli i o a os as der die das den dem de het
    """.split()
)
# What two do with each other: whoever is named first, it is said of both.
MUTUAL = frozenset(
    """
    met meets borders bordered married resembles equals joined neighbours avec mit con with grenzt traf heiratete
    """.split()
)
JOINING_RUNS = ("และ", "แต่", "เพราะ", "ซึ่ง", "而且", "但是", "因为", "因為", "が、", "ので", "けれど")
# Parts of a run without spaces, longest first. 不/非/無 inside common words that negate nothing are taken out beforehand.
NEGATING_RUNS = (
    "ไม่ใช่", "ไม่ได้", "ไม่", "มิได้", "没有", "沒有", "从未", "從未", "并非", "並非", "并未", "並未", "不", "没", "沒", "未",
    "がない", "はない", "もない", "ではない", "ではなく", "ではなかった", "なかった", "しない", "されない", "られない", "ません", "ておらず", "せず", "されず", "えない", "らない",
)  # fmt: skip
NOT_NEGATING = (
    "不同", "不断", "不斷", "不仅", "不僅", "不但", "不久", "不少", "不过", "不過", "不管", "不论", "不論", "不锈", "不足", "不良", "不列颠", "不列顛", "不動産",
    "不动产", "差不多", "不得不", "未来", "未來", "未満", "未满", "ไม่เพียง", "ไม่นาน", "ไม่น้อย", "だけでなく", "少なくない", "ばかりでなく", "間もない", "不丹",
)  # fmt: skip
KOREAN_NEGATION = r"않|못하|못했|아니다|아니었|아니라|없다|없었|없는|없이"
# On folded text; only asked where the text is Turkish.
TURKISH_NEGATION = r"..m[aeiuı](?:d[iuı]|m[iuı]s|z$|zlar|zler|zd|yaca|yece|makta|mekte|yor|yan$|yen$)"
# Each pair: one word says the other's contrary. A word may stand in several pairs.
OPPOSITES = [
    pair.split("|")
    for pair in """
    more|less fewer
    most|least fewest
    higher|lower
    highest|lowest
    high|low
    larger bigger greater|smaller
    largest biggest greatest|smallest
    large big|small little
    longer|shorter
    longest|shortest
    taller|shorter
    tallest|shortest
    long|short
    older|younger newer
    oldest|youngest newest
    old|new young
    earlier|later
    earliest|latest
    early|late
    first|last second third final
    before|after
    above over|below under beneath
    rise rises rose risen rising increase increases increased increasing grow grows grew grown growing climb climbed climbs gain gained gains|fall falls fell fallen falling decrease decreases decreased decreasing drop drops dropped decline declines declined declining shrink shrank shrunk loss lost shrinks
    faster|slower
    fastest|slowest
    better|worse
    best|worst
    stronger|weaker
    strongest|weakest
    richer|poorer
    richest|poorest
    hotter warmer|colder cooler
    hottest warmest|coldest
    hot warm|cold
    heavier|lighter
    heaviest|lightest
    deeper|shallower
    wider|narrower
    upper|lower
    north northern|south southern east eastern west western
    east eastern|west western
    northeast|northwest southeast southwest
    northeastern|northwestern southeastern southwestern
    left|right
    win wins won|lose loses lost
    victory|defeat
    winner|loser
    accept accepts accepted approve approved approves approval|reject rejects rejected refused rejection
    allow allows allowed permitted|forbid forbids forbidden prohibited banned prohibits
    legal|illegal
    open opened opens|close closed closes shut
    import imports imported|export exports exported
    buy bought buys purchased|sell sold sells
    buyer|seller
    arrive arrived|depart departed left
    begin began started starts|end ended ends finished stopped
    success successful succeeded|failure failed unsuccessful
    possible|impossible
    true|false
    married|divorced unmarried
    male|female
    man men|woman women
    boy boys|girl girls
    father|mother
    son sons|daughter daughters
    brother brothers|sister sisters
    husband|wife
    king|queen
    uncle|aunt
    male|female
    alive|dead
    born|died
    birth|death
    maximum|minimum
    majority|minority
    positive|negative
    increase|decrease reduction
    always|never
    all every|none
    inside|outside
    internal|external
    public|private
    summer|winter spring autumn
    morning|evening afternoon
    day daytime|night
    dry|wet
    empty|full
    rich|poor
    strong|weak
    plus|minus
    profit|loss
    surplus|deficit
    support supported supports|oppose opposed opposes
    war|peace
    ancestor|descendant
    predecessor|successor
    teacher|pupil student
    exceeded exceeds above|below under
    más|menos
    mayor|menor
    mayores|menores
    alto alta|bajo baja
    antes|después
    primero primera primer|último última
    norte|sur este oeste
    este oriental|oeste occidental
    aumentó aumentaron creció subió aumento aumentado|disminuyó cayó bajó descendió redujo disminución
    ganó|perdió
    abrió|cerró
    mejor|peor
    mehr|weniger
    höher höchste höchsten|niedriger tiefer niedrigste niedrigsten
    größer größte größten|kleiner kleinste kleinsten
    älter älteste ältesten|jünger jüngste jüngsten
    länger längste längsten|kürzer kürzeste kürzesten
    vor|nach
    stieg gestiegen wuchs zugenommen erhöhte|sank gesunken fiel gefallen abgenommen verringerte schrumpfte
    gewann gewonnen|verlor verloren
    nord norden nördlich nördliche nördlichen|süd süden südlich südliche südlichen
    ost osten östlich östliche östlichen|west westen westlich westliche westlichen
    öffnete eröffnet eröffnete|schloss geschlossen
    erste ersten erster|letzte letzten letzter zweite zweiten zweiter dritte dritten dritter
    plus|moins
    supérieur supérieure|inférieur inférieure
    avant|après
    augmenté augmente augmentation hausse progressé|diminué diminue diminution baisse baissé reculé
    gagné gagna remporté|perdu perdit
    nord|sud est ouest
    est|ouest
    premier première|dernier dernière deuxième second seconde troisième
    ouvert|fermé
    più|meno
    prima|dopo
    maggiore|minore
    nord|sud
    mais|menos
    maior|menor
    antes|depois
    aumentou cresceu subiu|diminuiu caiu reduziu
    больше более|меньше менее
    выше|ниже
    до перед|после
    вырос выросла выросло выросли увеличился увеличилась увеличилось увеличились возрос возросла возросло возросли повысился повысилась повысилось повысились рост|упал упала упало упали снизился снизилась снизилось снизились уменьшился уменьшилась уменьшилось уменьшились сократился сократилась сократилось сократились падение
    крупнейший крупнейшая крупнейшим крупнейшей|мельчайший мельчайшая наименьший
    старейший старейшая|новейший младший
    первый первая первой первым первое|последний последняя последней последним последнее второй вторая второе вторым
    север севере северный северной северная|юг юге южный южной южная
    восток востоке восточный восточной восточная|запад западе западный западной западная
    победил победила выиграл выиграла|проиграл проиграла
    открыт открыли открылся открыта|закрыт закрыли закрылся закрыта
    daha fazla fazla çok|az daha az
    önce|sonra
    arttı artmış artış yükseldi yükselmiş|azaldı azalmış azalış düştü düşmüş
    büyük en büyük|küçük
    yüksek|alçak düşük
    kuzey kuzeyinde kuzeyi|güney güneyinde güneyi
    doğu doğusunda|batı batısında
    kazandı kazanmış|kaybetti kaybetmiş
    açıldı|kapandı kapatıldı
    ilk birinci|son ikinci üçüncü
    أكثر|أقل
    قبل|بعد
    أكبر|أصغر
    أعلى|أدنى أخفض
    ارتفع ارتفعت زاد زادت ازداد ازدادت ارتفاع|انخفض انخفضت تراجع تراجعت هبط هبطت انخفاض
    شمال شمالي الشمالي الشمالية|جنوب جنوبي الجنوبي الجنوبية
    شرق شرقي الشرقي الشرقية|غرب غربي الغربي الغربية
    فاز فازت|خسر خسرت
    الأول الأولى|الأخير الأخيرة الثاني الثانية الثالث الثالثة
    فوق|تحت
    अधिक ज्यादा ज़्यादा|कम
    पहले पूर्व|बाद
    बढ़ा बढ़ी बढ़े वृद्धि|घटा घटी घटे गिरा गिरी गिरावट कमी
    बड़ा बड़ी सबसे|छोटा छोटी
    ऊंचा ऊँचा|नीचा
    उत्तर उत्तरी|दक्षिण दक्षिणी
    पूर्वी|पश्चिमी
    पहला पहली|आखिरी अंतिम दूसरा दूसरी तीसरा तीसरी
    जीता जीती जीत|हारा हारी हार
    until till|since
    hasta|desde
    bis|seit
    jusqu jusque|depuis
    fino|dal
    até|desde
    tot|sinds
    kadar|beri
    حتى|منذ
    only|everyone everybody anyone
    nur|jeder jede alle
    seuls seulement|tous toutes chacun
    sólo solo|todos todas cualquiera
    только|все каждый
    all every each|some few none
    alle sämtliche|einige manche wenige keine
    tous toutes|certains certaines quelques aucun
    todos todas|algunos algunas ninguno alguns algumas
    tutti tutte|alcuni alcune nessuno
    все|некоторые
    """.strip().splitlines()
]
# The same for scripts without spaces: substrings.
OPPOSITE_RUNS = [
    pair.split("|")
    for pair in """
    增加 增长 增長 上升 上涨 上漲 提高 增至 升至|减少 減少 下降 下跌 降低 减至 减到 降至 降到
    多于 多於 超过 超過 高于 高於 大于 大於|少于 少於 低于 低於 小于 小於 不足
    之前 以前|之后 之後 以后 以後
    最大|最小
    最高|最低
    最多|最少
    最长 最長|最短
    最早|最晚
    北部 北方 北面 以北 北侧|南部 南方 南面 以南 南侧
    东部 東部 东方 东面 以东 東側|西部 西方 西面 以西 西側
    胜 击败 赢 勝利 获胜|败 输 敗北 落败
    开放 开业 开幕 開幕 开通 启用|关闭 關閉 停业 閉幕 关停
    进口 進口 輸入|出口 輸出
    第一 首|最后 最後 第二 第三
    同意 批准 通过 可決|拒绝 拒絕 否决 否決
    男性 男子 男|女性 女子 女
    増加 増え 上昇 増 上がっ|減少 減り 減っ 下降 低下 減 下がっ
    前|後 后
    以上|以下 未満
    大きい 大き 大|小さい 小さ 小
    北|南 東 西 东
    東 东|西
    เพิ่มขึ้น สูงขึ้น เพิ่ม|ลดลง ต่ำลง ลด
    มากกว่า สูงกว่า ใหญ่กว่า|น้อยกว่า ต่ำกว่า เล็กกว่า
    ก่อน|หลัง
    ใหญ่ที่สุด มากที่สุด สูงที่สุด ยาวที่สุด|เล็กที่สุด น้อยที่สุด ต่ำที่สุด สั้นที่สุด
    เหนือ|ใต้ ตะวันออก ตะวันตก
    ตะวันออก|ตะวันตก
    ชนะ|แพ้
    เปิด|ปิด
    คนแรก แห่งแรก ครั้งแรก|คนสุดท้าย แห่งที่สอง ครั้งที่สอง ครั้งสุดท้าย
    증가 상승 늘어 늘었|감소 하락 줄어 줄었
    이전|이후
    가장 큰 최대|가장 작은 최소
    북쪽 북부|남쪽 남부
    동쪽 동부|서쪽 서부
    年まで 月まで 日まで 時まで|年から 月から 日から 時から
    년까지 월까지 일까지|년부터 월부터 일부터
    จนถึง|ตั้งแต่
    至少 最少 起码|至多 最多 顶多
    全部 所有 全ての すべて 모든 ทั้งหมด|部分 一部 일부 บางส่วน
    """.strip().splitlines()
]

STOPWORDS = frozenset(
    folded(word)
    for word in """
    year years año años année années anno anni jahr jahre jahren год года году годом годах yıl yılı yılında senesi senesinde عام سنة सन वर्ष
    tiene tienen tenía cuenta hat haben besitzt zählt имеет имеют имел имела составляет составляют насчитывает является являются
    var vardır sahip sahiptir olarak يبلغ تبلغ لديه لديها है हैं compte possède
    a an the of in on at to for from by with as is are was were be been being am do does did done have has had having will would
    shall should can could may might must and or but if than then so that this these those there here it its it's he she they them
    his her their our your my we you i me us him who whom whose which what when where how why also just only very such some any
    each other another about into onto over under between during through while because since until after before again both own
    same too up down out off said says one ones not no yes yeah well oh ok okay s t re ve ll d m 's el la los las lo un una unos
    unas de del al y e o u en con por para que se su sus es son fue fueron era eran ser ha han como más pero este esta estos estas
    también le les entre sobre le la les un une des du de d l et ou en dans par pour avec sur que qui se sa son ses est sont fut
    ete etait etaient a ont au aux ce cette ces il elle ils elles plus pas comme der die das den dem des ein eine einen einem
    einer eines und oder in im am an auf aus bei mit nach von vom zu zum zur fur ist sind war waren wird wurde wurden hat haben
    als auch sich es er sie dass wie um uber il lo gli i un uno una di del della dei delle e o in nel nella con per da dal che si
    e sono fu era come anche o a os as um uma de do da dos das e ou em no na nos nas com por para que se e sao foi foram era como
    mais de het een van en of in op te dat die is zijn was waren werd voor met aan door и в во на с со по к ко у о об от до за из
    для что как это его ее её их он она они был была было были есть а но же ли бы при также который которая которые которое
    является і в у на з до та що як це його її їх він вона вони був була було були i w na z ze do o od za po jest był była było
    byli są się że jak oraz dla ve ile bir bu da de için olan olarak en daha gibi idi olduğu tarafından ki mi o في من على إلى عن
    مع و أن إن هو هي هذا هذه التي الذي كان كانت قد بن ما كما أو ثم بين عند के की का में है हैं और से को पर ने था थी थे यह वह एक कि
    जो तक लिए भी हो गया गई कर किया
    """.split()
)

# Function characters of scripts without spaces: they join words and carry none.
RUN_FUNCTION = frozenset(
    "的了是在有和与與及之这這那该該其为為于於由以被把上下中个個座条條は が を に の で と も や へ た て し る い な です ます であ".replace(
        " ", ""
    )
)

# Words that say the same of a thing: one line, one sense. Only words that carry facts; forms as they are compared.
SENSES = """
long length longitud largo largeur lang länge длина длину длиной длины протяженность طول طوله uzunluk uzunluğu uzun लंबाई लंबी लंबा ยาว ความยาว 长 長 长度 長さ
high height tall altura alto hauteur haut hoch höhe высота высоту высотой ارتفاع ارتفاعه yükseklik yüksekliği yüksek ऊंचाई ऊँचाई ऊंचा ऊँचा สูง ความสูง 高 高度 高さ
wide width broad ancho anchura breit breite ширина ширину عرض genişlik चौड़ाई กว้าง 宽 幅
deep depth profundidad profundo tief tiefe глубина глубину عمق derinlik derinliği derin गहराई ลึก 深 深さ
weigh weighs weight peso pesa wiegt gewicht вес весит وزن ağırlık वजन น้ำหนัก 重 重量
area surface superficie fläche площадь مساحة alan alanı क्षेत्रफल พื้นที่ 面积 面積
open opened opens opening inaugurated inauguration inauguró inaugurado inaugurada abierto eröffnet eröffnung eröffnete открыт открыли открыта открытие افتتح افتتاح دشن açıldı açılan खुला खोला उद्घाटन เปิด 开放 通车 開通 启用 開業 开业
built build construct constructed construction erected completed construido construida construyó edificado gebaut erbaut errichtet построен построена построили сооружен بني شيد بناء inşa yapıldı yapılmış बना बनाया निर्माण สร้าง 建成 修建 建造 竣工 建設 完成 建立
founded founder found established establish created set fundado fundada fundó gegründet gründete gründung основан основана основали основатель أسس تأسس تأسست kuruldu kurdu kurucusu kurulmuş स्थापित स्थापना ก่อตั้ง ผู้ก่อตั้ง 成立 创立 創立 创办 設立 创建
designed design designer architect drew diseñado diseñó arquitecto entworfen entwarf architekt спроектирован спроектировал архитектор صمم تصميم معماري المعماري tasarladı tasarlandı mimar mimarı ออกแบบ 设计 設計 设计师 設計者
wrote written write author escribió escrito escrita autor écrit auteur schrieb geschrieben autor написал написана написан автор كتب كتبه مؤلف yazdı yazan yazarı लिखा लेखक เขียน ผู้เขียน 写 作者 著 書いた
died death dead passed murió muerte falleció starb gestorben умер умерла скончался توفي مات öldü vefat मृत्यु निधन เสียชีวิต 去世 逝世 死去 死亡
born birth nació nacido geboren родился родилась ولد doğdu doğumlu जन्म เกิด 出生 生まれ
cost costs price paid spent pay spend costó coste pagó kostete kosten zahlte стоил стоила стоимость تكلفة كلف maliyeti लागत ราคา 耗资 花费 費用 造价
hold holds house houses contain contains keep keeps store stores conserva conservan guarda alberga birgt хранит хранится хранятся تضم تحتوي يضم barındırır 藏
live lives inhabitant inhabitants population residents people habitantes población einwohner bevölkerung жители жителей население سكان nüfus nüfusu जनसंख्या ประชากร 人口
situated located lies location stands site ubicado situado liegt gelegen расположен расположена находится يقع تقع bulunur yer स्थित ตั้งอยู่ 位于 位於
begin began begun start started starts commenced empezó comenzó begann началось начался началась بدأ بدأت başladı शुरू เริ่ม 开始 開始
end ended ends finish finished concluded terminó acabó endete закончился завершился завершена انتهى انتهت bitti sona समाप्त สิ้นสุด 结束 終了
win won wins victory beat beaten defeated ganó venció gewann besiegte выиграл победил فاز فازت kazandı yendi जीता ชนะ 获胜 击败 优勝
lead led leads head headed leader led dirigió encabezó leitete führte возглавил возглавила руководил قاد ترأس yönetti नेतृत्व นำ 领导 率领
car cars automobile automobiles vehicle auto
film films movie movies picture
buy bought purchased acquired purchase acquire acquisition compró adquirió kaufte erwarb купил приобрел اشترى satın
leave left departed quit resigned stepped
marry married wed wedding spouse
child children kids son daughter
job work employment post position
company firm business corporation
choose chose chosen select selected pick picked
become became named appointed elected
say said told stated announced declared
big large great huge
turn turned decline declined refused reject rejected
several multiple many numerous
common usual frequent
seat seats capacity hold accommodates spectators zuschauer aforo capacidad fasst passen вмещает yutar จุ 座位 容纳
study studies student students enrolled okuyor öğrenci
rebuilt repaired restored renovated renovation repairs reparado restaurado repariert restauriert saniert отремонтирован восстановлен onarıldı restore मरम्मत ซ่อมแซม 维修 加固 改修 修复
produce produces makes manufactures production output produce produces выпускает производит производство üretir üretim 生产 生産 製造
aim aims strive strives tries seek seeks
important significant major key
""".strip().splitlines()

MONTHS: dict[str, int] = {}
for _line in """
january february march april may june july august september october november december
jan feb mar apr - jun jul aug sept oct nov dec
enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
janvier février mars avril mai juin juillet août septembre octobre novembre décembre
januar februar märz april mai juni juli august september oktober november dezember
gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro
januari februari maart april mei juni juli augustus september oktober november december
января февраля марта апреля мая июня июля августа сентября октября ноября декабря
январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь
январе феврале марте апреле мае июне июле августе сентябре октябре ноябре декабре
січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня
stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia
ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık
ocakta şubatta martta nisanda mayısta haziranda temmuzda ağustosta eylülde ekimde kasımda aralıkta
يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر
- - - ابريل - يونية يولية اغسطس - اكتوبر - -
जनवरी फरवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर अक्टूबर नवंबर दिसंबर
- फ़रवरी - - - - - - सितम्बर - नवम्बर दिसम्बर
มกราคม กุมภาพันธ์ มีนาคม เมษายน พฤษภาคม มิถุนายน กรกฎาคม สิงหาคม กันยายน ตุลาคม พฤศจิกายน ธันวาคม
sep - - - - - - - - - - -
""".strip().splitlines():
    for _number, _name in enumerate(_line.split(), 1):
        if _name != "-":
            MONTHS.setdefault(folded(_name), _number if _name != "sep" else 9)
AMBIGUOUS_MONTHS = {
    "may",
    "march",
    "mars",
    "mai",
    "mei",
    "mar",
    "mart",
    "mayo",
    "jan",
    "dec",
    "ekim",
    "maj",
    "мая",
    "май",
    "ocak",
    "kasim",
    "maio",
    "agosto",
    "aug",
}
# Languages that write the days of the week small.
LOWER_DAYS = frozenset(
    """
    lunes martes miércoles jueves viernes sábado domingo lundi mardi mercredi jeudi vendredi samedi dimanche
    lunedì martedì mercoledì giovedì venerdì sabato domenica понедельник вторник среду четверг пятницу субботу воскресенье
    segunda-feira segundas-feiras terça-feira terças-feiras quarta-feira quartas-feiras quinta-feira quintas-feiras sexta-feira sextas-feiras
    maandag dinsdag woensdag donderdag vrijdag zaterdag zondag
    """.split()
)
WEEKDAYS: dict[str, int] = {}
for _line in """
monday tuesday wednesday thursday friday saturday sunday
lunes martes miércoles jueves viernes sábado domingo
lundi mardi mercredi jeudi vendredi samedi dimanche
montag dienstag mittwoch donnerstag freitag samstag sonntag
montags dienstags mittwochs donnerstags freitags samstags sonntags
mondays tuesdays wednesdays thursdays fridays saturdays sundays
lunedì martedì mercoledì giovedì venerdì sabato domenica
maandag dinsdag woensdag donderdag vrijdag zaterdag zondag
понедельникам вторникам средам четвергам пятницам субботам воскресеньям
понедельник вторник среду четверг пятницу субботу воскресенье
pazartesi salı çarşamba perşembe cuma cumartesi pazar
الاثنين الثلاثاء الأربعاء الخميس الجمعة السبت الأحد
सोमवार मंगलवार बुधवार गुरुवार शुक्रवार शनिवार रविवार
""".strip().splitlines():
    for _number, _name in enumerate(_line.split(), 1):
        WEEKDAYS.setdefault(folded(_name), _number)

APPROXIMATE = frozenset(
    folded(word)
    for word in """
    about around approximately roughly nearly almost some circa ca c approx estimated unos unas aproximadamente casi cerca
    alrededor environ presque pres etwa ungefahr rund fast knapp circa quasi около примерно почти приблизительно порядка yaklasik
    neredeyse civarinda حوالي نحو تقريبا قرابة लगभग करीब तकरीबन 约 約 大约 大約 近 およそ 約 ほぼ 약 ประมาณ ราว เกือบ ~ ≈
    """.split()
)
AT_LEAST = frozenset(
    folded(word)
    for word in """
    over above exceeding exceeded exceeds least minimum sobre superior menos plus moins über mindestens mehr более свыше больше
    минимум fazla aşkın أكثر अधिक 超过 超過 以上 กว่า 이상 más mais
    """.split()
)
AT_MOST = frozenset(
    folded(word)
    for word in """
    under below fewer less most maximum menos inférieur unter weniger höchstens менее меньше az أقل कम 不足 以下 未満 이하
    """.split()
)

# What a speaker says of himself or to somebody: no page bears that out.
PERSONAL = frozenset(
    """
    i you my your me we am im ive think yeah wow agree sure know like love heard really guess did do our well ich du wir je tu nous yo tú nosotros я ты мы ben sen biz أنا
    أنت मैं तुम हम 我 你 私 ฉัน คุณ
    """.split()
)

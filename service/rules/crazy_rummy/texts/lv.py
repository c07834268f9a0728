"""Crazy Rummy in Latvian."""

from collections.abc import Mapping
from types import MappingProxyType

RULES: Mapping[str, str] = MappingProxyType(
    {
        "C1": "Spēlē trīs līdz seši spēlētāji ar vienu 52 kāršu kavu. Izmanto tikai kārtis, kas "
        "tev ir rokā.",
        "C2": "Katram spēlētājam parāda vienu kārti; pirmais dala tas, kam zemākā (dūzis ir "
        "zemākais). Ja zemākās ir vienādas, šiem spēlētājiem parāda vēl pa vienai.",
        "C3": "Katrs saņem septiņas kārtis, pa vienai, sākot no dalītāja kreisās puses; tur "
        "sēdošais saņem astoto. Pārējās ir kaudze. Nevienu kārti neatklāj.",
        "C4": "Spēlē trīspadsmit raundus. Pirmajā aizstājējkārtis ir dūži, otrajā divnieki un tā "
        "līdz karaļiem. Varat vienoties spēlēt tikai dažus pirmos.",
        "C5": "Dūzis ir zemākais, tad no divnieka līdz desmitniekam, kalps, dāma un augšā "
        "karalis. Aiz karaļa nekas neseko.",
        "C6": "Komplekts ir trīs vai četras vienas vērtības kārtis, katra sava masta.",
        "C7": "Secība ir trīs vai vairāk viena masta kārtis pēc kārtas, ne vairāk par trīspadsmit.",
        "C8": "Sāk spēlētājs pa kreisi no dalītāja, un šajā pirmajā gājienā viņš neņem. Katrs "
        "cits gājiens sākas ar kārti no kaudzes vai augšējo no nomestajām, ja tāda ir.",
        "C9": "Pēc tam vari izlikt tik kombināciju, cik gribi, arī savā pirmajā gājienā.",
        "C10": "Aizstājējkārts aizstāj jebkuru kārti, kas kombinācijai vajadzīga, arī pati sevi. "
        "Kombinācijā var būt vairākas aizstājējkārtis vai tikai tās. Divas kārtis vienā "
        "kombinācijā nevar nozīmēt vienu un to pašu.",
        "C11": "Kārtis, kas veido kombināciju tā, kā uzdrukāts, tā arī saprot, ja vien nesaki "
        "citādi. Ja tās var saprast dažādi, pasaki, ko katra aizstājējkārts nozīmē. Tā paliek, "
        "līdz kāds to paņem.",
        "C12": "Ja šajā raundā esi izlicis kombināciju, vari pielikt kārtis jebkurai kombinācijai "
        "uz galda: ceturto kārti komplektam, kārti jebkurā secības galā.",
        "C13": "Ja šajā raundā esi izlicis kombināciju, vari paņemt aizstājējkārti no jebkuras "
        "kombinācijas, liekot vietā tieši to kārti, ko tā aizstāj. Aizstājējkārti, kas nozīmē pati "
        "sevi, paņemt nevar.",
        "C14": "Tev vienmēr jāpaliek kārtij, ko drīksti nomest.",
        "C15": "Gājiens beidzas, nometot vienu kārti, jebkuru, arī aizstājējkārti. (Varat "
        "vienoties, ka no nomestajām paņemto kārti tajā pašā gājienā nomest nedrīkst.)",
        "C16": "Tu izej, nometot pēdējo kārti. Raunds ir beidzies.",
        "C17": "Ja gājienu sāc ar vienu kārti, ņem no kaudzes. Ja šajā gājienā neizej, nomet "
        "kārti, kas tev bija, un paturi paņemto. Aizstājējkārts, ko paņem vienas no tām vietā, "
        "šajā noteikumā stājas tās vietā.",
        "C18": "Raunds beidzas arī tad, kad kaudze ir tukša: gājienu, kurā paņemta pēdējā kārts, "
        "pabeidz, un tad visi skaita. Nulle ir tikai tam, kas tajā gājienā izgājis.",
        "C19": "Dalīšana pāriet pa kreisi.",
        "C20": "Rokā palikušās kārtis skaita pret tevi: katra aizstājējkārts 25, citi dūži 1, no "
        "divnieka līdz desmitniekam pēc skaitļa, kalps, dāma un karalis pa 10. Kas izgājis, tam 0.",
        "C21": "Ja trīs veselus apļus neviens nav ņēmis no kaudzes, izlicis, pielicis vai paņēmis "
        "aizstājējkārti, nākamā kārts jāņem no kaudzes.",
        "C22": "Pēc pēdējā raunda uzvar tas, kam vismazāk punktu. Ja punkti vienādi, uzvara ir "
        "kopīga.",
    }
)

MESSAGES: Mapping[str, str] = MappingProxyType(
    {
        "Draw a card first.": "Vispirms paņem kārti.",
        "A card can't be used twice.": "Vienu kārti nevar izmantot divreiz.",
        "You don't hold {card}.": "Tev nav kārts {card}.",
        "There is no meld {meld} on the table.": "Uz galda nav kombinācijas {meld}.",
        "Say for each card what it stands for, in the same order.": "Pasaki par katru kārti, ko tā "
        "nozīmē, tajā pašā secībā.",
        "These cards can be read in more than one way: say what each stands for.": "Šīs kārtis var "
        "saprast dažādi: pasaki, ko katra nozīmē.",
        "A set has three or four cards of one rank, each of another suit.": "Komplekts ir trīs vai "
        "četras vienas vērtības kārtis, katra sava masta.",
        "These cards are no set and no run: a run is three or more of one suit in sequence.": "Šīs "
        "kārtis nav ne komplekts, ne secība: secība ir trīs vai vairāk viena masta kārtis pēc kārtas.",
        "The wild card fits in more than one place: say what it stands for.": "Aizstājējkārts der "
        "vairākās vietās: pasaki, ko tā nozīmē.",
        "The round is over.": "Raunds ir beidzies.",
        "You don't draw now: meld, lay off or discard.": "Tagad neņem: izliec, pieliec vai nomet.",
        "The discard pile is empty: draw from the stock.": "Nomesto kāršu nav: ņem no kaudzes.",
        "With a single card you draw from the stock.": "Ar vienu kārti rokā ņem no kaudzes.",
        "Three circuits have passed without anything new: draw from the stock.": "Trīs apļi pagājuši "
        "bez nekā jauna: ņem no kaudzes.",
        "You took {card} in this turn: discard another.": "Kārti {card} paņēmi šajā gājienā: nomet "
        "citu.",
        "You held {card} alone before you drew: it must be the one to go.": "Pirms ņemšanas tev bija "
        "tikai {card}: jānomet tieši tā.",
        "You must keep a card that you may discard.": "Tev jāpaliek kārtij, ko drīksti nomest.",
        "Put down a meld of your own first.": "Vispirms izliec savu kombināciju.",
        "{card} is not wild: it stands for itself.": "{card} nav aizstājējkārts: tā nozīmē pati sevi.",
        "Two cards of a meld can't stand for the same card.": "Divas kārtis vienā kombinācijā nevar "
        "nozīmēt vienu un to pašu.",
        "{card} is no fourth card to this set.": "{card} nav šī komplekta ceturtā kārts.",
        "{card} fits neither end of this run.": "{card} neder nevienā šīs secības galā.",
        "{wild} is not in that meld.": "Kārts {wild} tajā kombinācijā nav.",
        "{wild} stands for itself.": "{wild} nozīmē pati sevi.",
        "{wild} stands for {represented}: only that card can take its place.": "{wild} aizstāj kārti "
        "{represented}: tās vietā var likt tikai šo kārti.",
    }
)

"""Jokers Go Boom in Latvian."""

from collections.abc import Mapping
from types import MappingProxyType

RULES: Mapping[str, str] = MappingProxyType(
    {
        "G1": "Spēlē trīs vai četri spēlētāji. Gājieni notiek pulksteņrādītāja virzienā.",
        "G2": "Vajadzīga kava ar 52 kārtīm un džokeri: divi vai tik, cik vienojaties, no nulles "
        "līdz astoņiem.",
        "G3": "Džokeri ir bum kārtis. Ja spēlējat bez džokeriem, bum kārtis ir dūži.",
        "G4": "Katram spēlētājam parāda vienu kārti; pirmais dala tas, kam zemākā (divnieks ir "
        "zemākais, dūzis augstākais). Ja zemākās ir vienādas, šiem spēlētājiem parāda vēl pa vienai.",
        "G5": "Katrs saņem septiņas kārtis, pa vienai, sākot no dalītāja kreisās puses. Pārējās "
        "ir kaudze. Tās augšējo kārti atklāj blakus: tā sāk nomesto kāršu kaudzi.",
        "G6": "Ja atklājas džokeris, neviens nav saucis bum, tāpēc neviens neņem, un pirmais "
        "spēlētājs liek jebkuru kārti. Atklāts dūzis ir parasts dūzis, kam jāatbild.",
        "G7": "Sāk spēlētājs pa kreisi no dalītāja. Savā gājienā liec kārti, kuras masts vai "
        "vērtība sakrīt ar augšējo kārti, vai bum kārti. Liec tikai kārtis, kas tev ir rokā; ja "
        "tev ir derīga kārts, tā jāliek.",
        "G8": "Ja derīgas kārts nav, paņem vienu no kaudzes; gājiens beidzas, pat ja tā der. Bum "
        "kārts, kas neatbilst augšējai, nav pienākums: kamēr kaudzē ir kārtis, vari to likt vai "
        "ņemt.",
        "G9": "Bum kārti savā gājienā drīkst likt uz jebkuras kārts. Bum! Visi pārējie paņem pa "
        "vienai kārtij, sākot no tavas kreisās puses, kamēr kaudzē ir kārtis. Tad turpina "
        "nākamais.",
        "G10": "Uz džokera drīkst likt jebkuru kārti, tātad viena arī jāliek. (Varat vienoties, "
        "ka joprojām jāatbild kārtij zem džokera.) Dūzim, kas nostrādāja kā bum, atbild ar tā "
        "mastu vai vērtību.",
        "G11": "Ja kaudze ir tukša un tu neko nevari likt, arī bum kārti ne, tu izlaid gājienu. "
        "Ja vari likt, tad jāliek, pat ja tā ir bum kārts. Kamēr kaudzē ir kārtis, gājienu neizlaiž.",
        "G12": "Kas nolicis pēdējo kārti, tas iziet, un raunds ir beidzies. Ja tā bija bum kārts, "
        "pārējie vispirms paņem.",
        "G13": "Ja kaudze ir tukša un visi pēc kārtas izlaiduši gājienu, raunds arī ir beidzies. "
        "Neviens nav izgājis, un visi skaita savas kārtis.",
        "G14": "Rokā palikušās kārtis skaita pret tevi: džokeris 20, dūzis 15, karalis, dāma, "
        "kalps un desmitnieks pa 10, pārējās pēc skaitļa. Kas izgājis, tam 0.",
        "G15": "Spēlē tik raundu, cik ir spēlētāju, lai katrs reizi dalītu, vai tik, cik "
        "vienojaties. Dalīšana pāriet pa kreisi.",
        "G16": "Beigās uzvar tas, kam vismazāk punktu. Ja punkti vienādi, uzvara ir kopīga.",
        "G17": "Kas liek bum kārti, tas sauc «BOOM!». To tavā vietā dara galds, ja vien neesat "
        "vienojušies saukt paši: tad bez sauciena bum kārts ir tikai kārts, un neviens neņem.",
    }
)

MESSAGES: Mapping[str, str] = MappingProxyType(
    {
        "The round is over.": "Raunds ir beidzies.",
        "The stock is empty: play a card, or pass if you can't.": "Kaudze ir tukša: liec kārti vai, "
        "ja nevari, izlaid gājienu.",
        "You hold a card that may be played: you must play.": "Tev ir kārts, ko var likt: tā jāliek.",
        "Nobody passes while the stock has cards: draw one.": "Kamēr kaudzē ir kārtis, gājienu "
        "neizlaiž: paņem vienu.",
        "You can play a card, so you must.": "Tu vari likt kārti, tātad tā jāliek.",
        "You don't hold {card}.": "Tev nav kārts {card}.",
        "{card} follows neither suit nor rank: play a card of suit {suit} or of rank {rank}, "
        "or a boom card.": "{card} neatbilst ne mastam, ne vērtībai: liec kārti ar mastu {suit} vai "
        "vērtību {rank}, vai bum kārti.",
        "{card} is no boom card.": "{card} nav bum kārts.",
        "In this game the table calls the boom: leave the call out.": "Šajā spēlē bum sauc galds: "
        "sauciens nav jāsūta.",
    }
)

"""Tells a question in another language from one in English, by its letters and its small words.

It only words a refusal, and is strict: a question is English unless its letters are of another script, or
small words of other languages outnumber those of English. Words that both have (`die`, `was`, `in`) count for
none, nor do those in front of a name (`de la Rue`).
"""

from __future__ import annotations

import re
from itertools import pairwise

LEAST_FOREIGN = 2
"""Small words of other languages that a question in one of them holds at least."""
_WORD = re.compile(r"[^\W\d_]+")
_LATIN = re.compile(r"[A-Za-zªºÀ-ɏḀ-ỿﬀ-ﬆ]")

_ENGLISH = frozenset(
    """
    about after all and any are be been before between by can could did does during each every for from
    get has have having he her how if into it its must my not off or other our out shall she should than
    that the their them there these they this those under until up upon us what when where which while
    who whom whose why with within without would you your
    """.split()  # noqa: SIM905 - a list would take a screen
)
_FOREIGN = frozenset(
    """
    aan abbiamo aber alla alle allo als au aucune auf aux avant avec avete bei beim bez bij binnen cada
    cette che chez ciò com como con contra contrat contrato contratto cualquier cuando cuál cuáles cuándo
    cuánta cuánto czy dal dalla dans darf das dass degli dei della delle dem deve devono deze dies diese
    diesem diesen dieser dieses dit dla doit doivent dopo durante durch dürfen dürfte een ein eine einem
    einen einer eines ella elle estas este esto está están et fällig für gdzie gibt gli haben hay hebben
    heeft het hoe hoeveel ihr ils ist jak jaka jaki jakie jako jest jeżeli kan kann kiedy która które
    który können laufzeit leur licencia lo mają moet moeten mogą moja może można musi muss müssen nach ne
    nel nella nicht niet nos notre nous nur não oder ook oraz ou où para perché peut peuvent pode podem
    pourquoi przed przez przy puede pueden può qu quais qual quale quali quand quando quanta quanti
    quanto que quel quelle quelles quels quem qui quién quiénes quoi qué sein ses sich sie sind się sobre
    sono sont sous sul sulla sur są tegen tem tiene tienen toute toutes umowa umowy un una une uno vanaf
    vertrag vom voor vor votre vous waar wann wanneer warum wat welche welcher welches welk welke wenn
    werden wie wieviel wij wird worden wordt zijn zum zur été être
    """.split()  # noqa: SIM905
)
_BEFORE_NAMES = frozenset("da de del den der des di du el en il la las le les los van von y".split())  # noqa: SIM905


def is_english(question: str) -> bool:
    """Whether a question is in English; True where its letters and small words do not tell."""
    words: list[str] = _WORD.findall(question)
    letters = "".join(words)
    if 2 * len(_LATIN.findall(letters)) < len(letters):
        return False
    small = sum(word.lower() in _FOREIGN for word in words)
    small += sum(word in _BEFORE_NAMES and after.islower() for word, after in pairwise([*words, ""]))
    return small < LEAST_FOREIGN or small <= sum(word.lower() in _ENGLISH for word in words)

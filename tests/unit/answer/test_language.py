import csv
import json
from pathlib import Path

import pytest

from services.answer.query.language import is_english

EVALUATION = Path(__file__).parents[4] / "shared" / "eval"


@pytest.mark.parametrize(
    "question",
    [
        "Wie lang ist die Kündigungsfrist?",
        "Wann wird die Gebühr fällig?",
        "Welches Recht gilt für diesen Vertrag?",
        "Muss Tarnholm eine Prüfung ankündigen und wie oft darf sie stattfinden?",
        "Quel est le préavis de résiliation ?",
        "Qui peut résilier le contrat sans motif ?",
        "Combien de jours avons-nous pour payer une facture ?",
        "Le licencié peut-il céder ses droits à un tiers ?",
        "¿Cuál es el plazo de preaviso?",
        "¿Puede el licenciatario ceder los derechos a un tercero?",
        "¿Cuánto hay que pagar y cuándo?",
        "¿Qué ley se aplica a este contrato?",
        "Qual è il termine di preavviso?",
        "Chi può recedere dal contratto?",
        "Quanto si deve pagare per la licenza e quando?",
        "Quale legge regola il contratto?",
        "Wat is de opzegtermijn van de overeenkomst?",
        "Mag de licentienemer de gegevens met derden delen?",
        "Welk recht is van toepassing op deze overeenkomst?",
        "Hoeveel moet er per jaar worden betaald?",
        "Jaki jest okres wypowiedzenia umowy?",
        "Czy licencjobiorca może przekazać dane osobom trzecim?",
        "Kiedy i jak można rozwiązać umowę?",
        "Jakie prawo jest właściwe dla tej umowy?",
        "通知期限是多久？",
        "被许可人可以转让数据吗?",
        "ما هي مدة الإشعار؟",
        "هل يجوز للمرخص له نقل البيانات؟",
        "Каков срок уведомления о расторжении?",
        "ライセンス料はいつ支払いますか？",
    ],
)
def test_a_question_in_another_language_is_told(question):
    assert not is_english(question)


@pytest.mark.parametrize(
    "question",
    [
        "",
        "5?",
        "fees",
        "Governing law?",
        "Is De La Rue a party?",
        "Is van der Berg of Los Angeles a party?",
        "Did Société Générale de Paris sign?",
        "Will Rio de Janeiro be the seat?",
        "What does “force majeure” mean, and is it in the Tarnholm agreement?",
        "May we die in no war on an island?",
        "Does Müller GmbH & Co. KG owe the fee?",
        "pro rata refund inter alia per annum",
        "What is “通知期限” in English?",
    ],
)
def test_a_question_in_english_is_never_taken_for_another(question):
    assert is_english(question)


@pytest.mark.skipif(not EVALUATION.is_dir(), reason="the evaluation data is not here")
def test_all_questions_of_the_evaluation_are_english():
    with (EVALUATION / "cuad" / "questions.tsv").open(encoding="utf-8") as file:
        asked = [row[1] for row in csv.reader(file, delimiter="\t")]
    for name, fields in (
        ("natural/train.jsonl", ("q", "q_named")),
        ("cuad/dev/mini600.jsonl", ("question",)),
    ):
        lines = (EVALUATION / name).read_text(encoding="utf-8").splitlines()
        asked += [json.loads(line)[field] for line in lines for field in fields]

    assert len(asked) > 1000
    assert [question for question in asked if not is_english(question)] == []

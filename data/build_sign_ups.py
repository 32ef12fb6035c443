"""Make up ``data/sign-ups.csv``, an untidy list of a shop's new customers: ``python data/build_sign_ups.py``.

The people are invented. Their numbers are either in the ranges that regulators keep free for films and
books, or in the published list of disposable numbers that the package contains, drawn at random.
"""

from __future__ import annotations

import csv
import datetime as dt
import random
from pathlib import Path

import numpy as np
import phonenumbers

from webanalytics.records.phones import phone_list

TARGET = Path(__file__).parent / "sign-ups.csv"
FIRST_DAY, DAYS = dt.date(2024, 1, 1), 182
CUSTOMERS = {"US": 120, "GB": 130, "FR": 95, "DE": 80, "SE": 70, "CA": 45, "AU": 40}
CODES = {"US": "1", "CA": "1", "GB": "44", "FR": "33", "DE": "49", "SE": "46", "AU": "61"}
LISTED = {"44": 30, "33": 22, "358": 12, "1": 14, "46": 9, "31": 9, "49": 3, "61": 1}
"""Sign-ups with a disposable number, by country code."""

FREE = {
    "US": ("20655501xx", "21255501xx", "31055501xx", "61755501xx", "70255501xx"),
    "CA": ("41655501xx", "51455501xx", "60455501xx"),
    "GB": ("2079460xxx", "1134960xxx", "1214960xxx", "1614960xxx"),  # Ofcom
    "FR": ("19900xxxx", "26191xxxx", "35301xxxx", "46571xxxx", "53649xxxx"),  # Arcep
    "DE": ("3023125xxx", "6990009xxx", "4066969xxx", "2214710xxx", "8999998xxx"),  # Bundesnetzagentur
    "SE": ("70174061x", "70174063x", "70174065x", "70174068x", "8465004xx"),  # PTS
    "AU": ("25550xxxx", "35550xxxx", "75550xxxx"),  # ACMA
}
"""Ranges of numbers that nobody has, without the country code; x is any digit."""

BLANKS = ("", "", "", "", "-", "n/a", "none", " ")
HOPELESS = ("call me first", "12345", "see e-mail", "000000000")

Row = tuple[str, str, str]


def invented(country: str, dice: random.Random) -> str:
    """Return a number in E.164 format from a range kept free for fiction."""
    pattern = dice.choice(FREE[country])
    digits = "".join(dice.choice("0123456789") if sign == "x" else sign for sign in pattern)
    return f"+{CODES[country]}{digits}"


def written(number: str, dice: random.Random) -> str:
    """Write a number in one of the ways that are found in such lists."""
    parsed = phonenumbers.parse(number)
    national = phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.NATIONAL)
    spaced = phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.INTERNATIONAL)
    ways = {
        number: 34,
        national: 32,
        spaced: 10,
        f"00{number[1:]}": 8,
        spaced.replace(" ", " (0)", 1): 0 if number.startswith("+1") else 4,
        f"{number[1:]}.0": 9,  # a spreadsheet took it for a number
        f"{float(number):.5E}": 2,  # and rounded it
        f" {number} ": 2,
    }
    return dice.choices(list(ways), list(ways.values()))[0]


def ordinary(dice: random.Random) -> list[Row]:
    """Return sign-ups of invented customers."""
    rows = []
    for country, number in CUSTOMERS.items():
        for _ in range(number):
            phone = written(invented(country, dice), dice)
            rows.append((_day(dice), country, phone))
    return rows


def disposable(dice: random.Random) -> list[Row]:
    """Return sign-ups with listed numbers; some numbers are used several times."""
    listed = phone_list.packaged()
    numbers = np.array([str(number) for number in listed.numbers])
    recent = listed.days > (dt.date(2022, 6, 30) - phone_list.EPOCH).days
    rows = []
    for code, number in LISTED.items():
        long = np.char.str_len(numbers) >= 11
        found = sorted(numbers[np.char.startswith(numbers, code) & recent & long].tolist())
        for phone in dice.sample(found, number):
            countries = [key for key, value in CODES.items() if value == code]
            at_home = bool(countries) and dice.random() < 0.45
            country = dice.choice(countries if at_home else list(CUSTOMERS))
            for _ in range(dice.choices((1, 2, 3, 5), (70, 16, 9, 5))[0]):
                way = dice.choices(("+{}", "00{}", "{}.0"), (80, 12, 8))[0]
                rows.append((_day(dice), country, way.format(phone)))
    return rows


def unusable(dice: random.Random) -> list[Row]:
    """Return sign-ups without a number."""
    return [(_day(dice), dice.choice(list(CUSTOMERS)), text) for text in BLANKS * 3 + HOPELESS]


def _day(dice: random.Random) -> str:
    return (FIRST_DAY + dt.timedelta(dice.randrange(DAYS))).isoformat()


def main() -> None:
    """Write the list, by day; some lines of it twice, as exports have them."""
    dice = random.Random(20240630)
    rows = sorted(ordinary(dice) + disposable(dice) + unusable(dice), key=lambda row: row[0])
    lines = [(f"C{number:04}", *row) for number, row in enumerate(rows, 1)]
    lines = sorted(lines + dice.sample(lines, 14))
    with TARGET.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("customer", "signed_up", "country", "phone"))
        writer.writerows(lines)
    print(f"{len(lines)} lines in {TARGET}")


if __name__ == "__main__":
    main()

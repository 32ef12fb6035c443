"""Two relaunches made up by hand: a shop, and a club in German with a part in English.

Each line: the old page, where it belongs (`-` where nothing takes its place), its old text; the new text follows where
there is one, written anew as people do. Pages share a menu, a footer, and in the shop the same sentences on delivery.
"""

from __future__ import annotations

import pandas as pd

SHOP = """
/ > /
Lamps and chairs for quiet rooms. New this week: oak stools, linen shades, and the sale of last year's colours.
Furniture and light for quiet rooms. This week: stools of oak, shades of linen, last year's colours for less.
/Catalog/Lamps.aspx > /lamps/
All lamps: table lamps, floor lamps and pendants, with shades of linen, glass and paper.
Every lamp we make: for the table, for the floor, and pendants. Shades are of linen, glass or paper.
/Catalog/Chairs.aspx > /seating/
Chairs, stools and benches of oak, ash and beech, with and without cushions.
Seating of oak, ash and beech: chairs, stools and benches, with cushions or without.
/Product.aspx?ID=1001 > /lamps/ember-table-lamp/
Ember table lamp. Brass foot, shade of white linen, cable of two metres, height 42 cm. Takes an E27 bulb.
Ember is our table lamp with a brass foot and a white linen shade. It is 42 cm high, its cable has two metres; bulb E27.
/Product.aspx?ID=1002 > /lamps/ember-floor-lamp/
Ember floor lamp. Brass pole, shade of white linen, switch for the foot, height 158 cm. Takes an E27 bulb.
The tall one: Ember floor lamp with a brass pole, a switch for the foot and a linen shade, 158 cm. Bulb E27.
/Product.aspx?ID=1003 > /lamps/moth-pendant/
Moth pendant. Folded Japanese paper on a wire frame, diameter 60 cm, ceiling rose in black.
Moth hangs from a black ceiling rose: Japanese paper, folded over a wire frame, 60 cm across.
/Product.aspx?ID=1004 > /lamps/reader-clamp-lamp/
Reader clamp lamp. Steel arm with two joints that clamps to a shelf or bed; dims with a touch.
Clamp the Reader to a bed or a shelf. Its steel arm has two joints, and a touch dims it.
/Product.aspx?ID=1005 > -
Christmas star of red paper with a battery, sold out for good.
/Product.aspx?ID=2001 > /seating/oak-stool/
Stool of solid oak, oiled, three legs, seat 32 cm, carries 120 kg.
Our three-legged stool is solid oiled oak. The seat measures 32 cm, and it carries 120 kg.
/Product.aspx?ID=2002 > /seating/bench-fjord/
Bench Fjord, ash with a woven cord seat, 140 cm, for the hall or a long table.
Fjord is a bench of ash for halls and long tables; the seat of 140 cm is woven of cord.
/Product.aspx?ID=2003 > /seating/rocker-ida/
Rocking chair Ida, beech steamed and bent, wool cushion in grey, for nursing and reading.
Ida rocks. Bent by steam from beech, with a grey wool cushion, for those who read or nurse a child.
/Product.aspx?ID=2003&colour=green > /seating/rocker-ida/
Rocking chair Ida in green, beech steamed and bent, wool cushion in green, for nursing and reading.
/Product.aspx?ID=2003&colour=red > /seating/rocker-ida/
Rocking chair Ida in red, beech steamed and bent, wool cushion in red, for nursing and reading.
/Product.aspx?ID=2004 > -
Gift voucher on paper, fifty crowns, by post only.
/info/delivery.html > /help/delivery/
Parcels leave on Tuesday and Friday by the post; a pallet with furniture comes by lorry to your kerb, and the driver calls before.
Small parcels go by post on Tuesdays and Fridays. Furniture comes on a pallet by lorry to the kerb; the driver will call you.
/info/returns.html > /help/returns/
Send anything back within thirty days in its box; we refund the price by bank transfer once we have looked at it.
You have thirty days to send things back in their box. We look at them and refund you by bank transfer.
/info/oil-and-wax.html > /help/care-for-wood/
Care of wood: wipe along the grain, oil it twice a year with linseed oil, and keep it from radiators and sun.
Wood wants little: wipe it along the grain, keep it from sun and radiators, and use linseed oil twice a year.
/info/jobs-2019.html > -
We look for an apprentice carpenter for September 2019, with a driving licence.
/info/imprint.html > /imprint/
Quiet Rooms Ltd, 4 Mill Lane, registered in Leeds, VAT number, director A. Holm.
Imprint: Quiet Rooms Ltd of 4 Mill Lane, registered in Leeds; director is A. Holm; VAT number.
/Blog/2018/05/How-We-Weave-Cord/ > /journal/how-we-weave-cord/
How we weave cord: Danish cord is soaked, wound in pairs around the rails and knotted below, and one seat takes two hours.
A seat takes two hours: pairs of Danish cord, soaked first, are wound around the rails and knotted underneath.
/Blog/2019/11/linen-shades/ > /journal/linen-for-our-shades/
Linen for our shades comes from a mill in Belfast that has woven flax since 1864 and dyes nothing.
The mill in Belfast that weaves the flax for our shades has done so since 1864, and dyes nothing.
/Blog/2020/01/fair-in-cologne/ > -
Meet us at the fair in Cologne in January, hall 4, stand B12, with coffee.
"""
CLUB = """
/index.php > /
Ruderclub Seeblick von 1902: Rudern, Segeln und Jugendarbeit am Nordufer, Gäste sind willkommen.
Seit 1902 am Nordufer: der Ruderclub Seeblick mit Rudern, Segeln und viel Jugendarbeit. Gäste sind willkommen.
/Verein/Vorstand.php > /verein/vorstand/
Der Vorstand: Vorsitzende, Kassenwart, Bootswart und Jugendwartin, gewählt von der Mitgliederversammlung für zwei Jahre.
Für zwei Jahre wählt die Mitgliederversammlung den Vorstand: die Vorsitzende, den Kassenwart, den Bootswart und die Jugendwartin.
/Verein/Satzung.php > /verein/satzung/
Satzung: Zweck des Vereins, Gemeinnützigkeit, Erwerb und Ende der Mitgliedschaft, Beiträge, Auflösung.
Die Satzung regelt Zweck und Gemeinnützigkeit des Vereins, wie die Mitgliedschaft beginnt und endet, die Beiträge und die Auflösung.
/Verein/Beitraege.php > /verein/mitglied-werden/
Beiträge: Erwachsene zahlen 180 Euro im Jahr, Schüler 60 Euro, Familien 320 Euro; das Aufnahmegeld entfällt im ersten Jahr.
Wer Mitglied wird, zahlt 180 Euro im Jahr, Familien 320 Euro und Schüler 60 Euro. Das Aufnahmegeld entfällt im ersten Jahr. Der Antrag auf Aufnahme wird unterschrieben per Post oder im Bootshaus abgegeben.
/Verein/Aufnahmeantrag.php > /verein/mitglied-werden/
Antrag auf Aufnahme: bitte ausfüllen, unterschreiben und im Bootshaus abgeben oder mit der Post schicken.
/Sport/Rudern.php > /rudern/
Rudern lernen: Anfängerkurse im Mai im breiten Gig-Vierer, danach Technik im Skiff; schwimmen muss man können.
Im Mai beginnen die Anfängerkurse im breiten Gig-Vierer, Technik im Skiff kommt danach. Wer rudert, muss schwimmen können.
/Sport/Segeln.php > /segeln/
Segeln: vier Jollen und ein Kielboot liegen am Steg, wer den Binnenschein hat, darf sie ausleihen.
Am Steg liegen ein Kielboot und vier Jollen. Ausleihen darf sie, wer den Binnenschein hat.
/Sport/Trainingszeiten.php > /rudern/trainingszeiten/
Trainingszeiten: Dienstag und Donnerstag ab 18 Uhr auf dem Wasser, im Winter Kraftraum und Ergometer am Samstag.
Auf dem Wasser sind wir dienstags und donnerstags ab 18 Uhr, samstags im Winter am Ergometer und im Kraftraum.
/Jugend/Ferienlager.php > /jugend/ferienlager/
Ferienlager auf der Insel: zwei Wochen Zelten im August, mit Lagerfeuer, Kanutour und Nachtwanderung, ab zehn Jahren.
Zwei Wochen im August zelten wir auf der Insel, mit Kanutour, Nachtwanderung und Lagerfeuer. Mitfahren darf man ab zehn Jahren.
/Jugend/Regatta2009.php > -
Ergebnisse der Jugendregatta 2009: Platz drei im Doppelzweier, Platz fünf im Achter, Gegenwind bis Stärke sechs.
/Bootshaus/Mieten.php > /bootshaus/feiern/
Das Bootshaus mieten: der Saal fasst achtzig Personen, hat Küche und Terrasse und kostet 250 Euro am Wochenende.
Feiern im Bootshaus: Im Saal mit Küche und Terrasse ist Platz für achtzig Personen. Am Wochenende kostet er 250 Euro Miete.
/Bootshaus/Anfahrt.php > /kontakt/
Anfahrt: mit der Straßenbahn bis Nordufer, dann zehn Minuten am Wasser entlang; Parkplätze gibt es kaum.
Kontakt und Weg zu uns: Die Straßenbahn hält am Nordufer, von dort sind es zehn Minuten am Wasser entlang. Parkplätze gibt es kaum. Telefon und E-Mail des Büros.
/Bootshaus/Kontakt.php > /kontakt/
Kontakt: Telefon und E-Mail des Büros, besetzt am Mittwoch von 17 bis 19 Uhr.
/Bootshaus/Speisekarte.php > -
Speisekarte der Gaststätte: Matjes, Bratkartoffeln, Rote Grütze; die Küche schließt um 21 Uhr.
/Gaestebuch.php?seite=2 > -
Gästebuch: Viele Grüße aus Bremen, tolle Seite, weiter so! Schöne Bilder vom Sommerfest, danke an alle Helfer.
/en/rowing.php > /en/rowing/
Learn to row: courses for beginners in May in a wide coxed four, then technique in the single scull; you must be able to swim.
Courses for beginners begin in May in a wide coxed four, technique in the single scull follows. Who rows must be able to swim.
/en/sailing.php > /en/sailing/
Sailing: four dinghies and a keelboat lie at the jetty; members with a licence may borrow them.
A keelboat and four dinghies lie at our jetty, which members with a licence may borrow.
/en/guests.php > /en/visitors/
Guests from other clubs may row with us on Sundays; bring proof of membership and ask the boatman before.
Visitors from other clubs are welcome to row with us on Sundays. Ask the boatman before, and bring proof of membership.
"""
FILLER = {
    "shop": "We answer on workdays from nine to five. Newsletter: be the first to hear of new pieces. Pay by card, invoice or bank transfer.",
    "club": "Impressum und Datenschutz. Unser Büro antwortet, sobald es kann. Folgt dem Verein auch auf Bildern vom Wasser.",
}
ELSEWHERE = {
    "shop": {
        "/lamps/lantern-for-gardens/": "New: a lantern for gardens, zinc and glass, with a candle or a small bulb.",
        "/help/pay-by-instalments/": "Pay by instalments over six or twelve months without interest, decided at once.",
        "/journal/a-new-workshop/": "We moved into a new workshop with a saw of its own room and windows to the north.",
    },
    "club": {
        "/datenschutz/": "Datenschutz: welche Daten der Verein von Mitgliedern speichert, wie lange, und wer sie sieht.",
        "/jugend/schulrudern/": "Schulrudern: zwei Gymnasien trainieren bei uns am Montag, die Boote stellt der Verein.",
        "/en/privacy/": "Privacy: which data of members we store, for how long, and who may see them.",
    },
}


def _html(kind: str, path: str, text: str) -> str:
    language = "de" if kind == "club" and not path.startswith("/en/") else "en"
    title = " ".join(text.replace(".", " ").replace(":", " ").replace(",", " ").split()[:3])
    return (
        f"<html lang={language}><title>{title}</title><nav><a href=/>Start</a></nav>"
        f"<main><h1>{title}</h1><p>{text}</main><footer><p>{FILLER[kind]}</footer>"
    )


def relaunch(kind: str) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, str | None]]:
    """Return the pages of the old and the new site, and where each old one belongs."""
    old, new = f"https://old-{kind}.example", f"https://{kind}.example"
    before: dict[str, str] = {}
    after = dict(ELSEWHERE[kind])
    truth: dict[str, str | None] = {}
    path = target = ""
    for line in (SHOP if kind == "shop" else CLUB).strip().splitlines():
        if line.startswith("/"):
            path, _, target = line.partition(" > ")
            truth[old + path] = None if target == "-" else new + target
        elif path not in before:
            before[path] = line
        else:
            after[target] = line
    sides = [
        pd.DataFrame(
            {"url": [host + name for name in texts], "html": [_html(kind, *one) for one in texts.items()]}
        )
        for host, texts in ((old, before), (new, after))
    ]
    return sides[0], sides[1], truth

"""Properties that search engines ask of common schema.org types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class Requirement(NamedTuple):
    """What things of some types must say of themselves.

    Attributes
    ----------
    types : frozenset of str
        Names of schema.org types.
    required : tuple of tuple of str
        Properties; of several in one tuple, one is enough.
    recommended : tuple of tuple of str
        Properties that are asked for and do not have to be there.
    within : frozenset of str, optional
        Properties through which a thing must belong to another one for this to hold; things that
        stand alone are always meant. None for any.
    """

    types: frozenset[str]
    required: tuple[tuple[str, ...], ...] = ()
    recommended: tuple[tuple[str, ...], ...] = ()
    within: frozenset[str] | None = None


def _types(names: str) -> frozenset[str]:
    return frozenset(names.split())


_LISTED = _types("mainEntity mainEntityOfPage item itemListElement @graph")
_ARTICLES = _types("Article NewsArticle BlogPosting TechArticle ScholarlyArticle Report AnalysisNewsArticle")
_EVENTS = _types(
    "Event BusinessEvent ChildrensEvent ComedyEvent DanceEvent EducationEvent ExhibitionEvent "
    "Festival FoodEvent LiteraryEvent MusicEvent SaleEvent ScreeningEvent SocialEvent SportsEvent "
    "TheaterEvent"
)
_BUSINESSES = _types(
    "LocalBusiness AnimalShelter AutoDealer AutomotiveBusiness AutoRepair Bakery BarOrPub BeautySalon "
    "Bookstore "
    "CafeOrCoffeeShop ClothingStore DaySpa Dentist Electrician EmploymentAgency EntertainmentBusiness "
    "FinancialService Florist FoodEstablishment FurnitureStore GeneralContractor GroceryStore HairSalon "
    "HealthAndBeautyBusiness HomeAndConstructionBusiness Hotel InsuranceAgency LegalService Library "
    "LodgingBusiness MedicalBusiness MedicalClinic Optician Pharmacy Physician Plumber ProfessionalService "
    "RealEstateAgent Restaurant Store TravelAgency"
)
_ORGANIZATIONS = _types(
    "Organization Airline Consortium Corporation EducationalOrganization CollegeOrUniversity "
    "GovernmentOrganization MedicalOrganization NewsMediaOrganization NGO OnlineBusiness OnlineStore "
    "PerformingGroup School SportsOrganization"
)

REQUIREMENTS = (
    Requirement(_ARTICLES, recommended=(("headline",),)),
    Requirement(_types("Product"), required=(("name",),)),
    Requirement(_types("Product"), required=(("review", "aggregateRating", "offers"),), within=_LISTED),
    Requirement(
        _types("Offer"),
        required=(("price", "priceSpecification"), ("priceCurrency", "priceSpecification")),
        within=_types("offers"),
    ),
    Requirement(
        _types("AggregateOffer"), required=(("lowPrice",), ("priceCurrency",)), within=_types("offers")
    ),
    Requirement(_types("AggregateRating"), required=(("ratingValue",), ("ratingCount", "reviewCount"))),
    Requirement(_types("Review"), required=(("reviewRating",), ("author",))),
    Requirement(_types("Review"), required=(("itemReviewed",),), within=_LISTED),
    Requirement(_types("Recipe"), required=(("name",), ("image",))),
    Requirement(
        _EVENTS, required=(("name",), ("startDate",), ("location",)), within=_LISTED | {"event", "events"}
    ),
    Requirement(_types("FAQPage"), required=(("mainEntity",),)),
    Requirement(_types("BreadcrumbList"), required=(("itemListElement",),)),
    Requirement(_ORGANIZATIONS, recommended=(("name",),)),
    Requirement(_BUSINESSES, required=(("name",),)),
    Requirement(_BUSINESSES, required=(("address",),), within=_LISTED),
    Requirement(
        _types("JobPosting"),
        required=(
            ("title",),
            ("description",),
            ("datePosted",),
            ("hiringOrganization",),
            ("jobLocation", "jobLocationType"),
        ),
    ),
    Requirement(_types("VideoObject"), required=(("name",), ("thumbnailUrl",), ("uploadDate",))),
)
"""Requirements, by the documentation of Google Search.

Sources: developers.google.com/search/docs/appearance/structured-data/, pages article, product-snippet,
review-snippet, recipe, event, faqpage, breadcrumb, organization, local-business, job-posting and video;
hierarchy of types: schema.org.
"""

_BY_TYPE: dict[str, list[Requirement]] = {}
for _requirement in REQUIREMENTS:
    for _type in _requirement.types:
        _BY_TYPE.setdefault(_type, []).append(_requirement)

# An older name of the same property (schema.org).
_SAME: Mapping[str, tuple[str, ...]] = {"review": ("reviews",)}


def missing_properties(kind: str, given: Iterable[str], within: str) -> list[str]:
    """Return what a thing lacks, as ends of a sentence.

    Parameters
    ----------
    kind : str
        Name of its type.
    given : iterable of str
        Names of the properties that it has.
    within : str
        Property of another thing whose value it is; '' where it stands alone.

    Examples
    --------
    >>> missing_properties("Product", {"name"}, "")
    ['review, aggregateRating or offers is missing']
    >>> missing_properties("Article", {"author"}, ""), missing_properties("Product", {"name"}, "isRelatedTo")
    (['headline is missing (recommended)'], [])
    """
    known = set(given)
    found = []
    for requirement in _BY_TYPE.get(kind, ()):
        if within and requirement.within is not None and within not in requirement.within:
            continue
        for names, hint in (
            *((names, "") for names in requirement.required),
            *((names, " (recommended)") for names in requirement.recommended),
        ):
            if not any(name in known or not known.isdisjoint(_SAME.get(name, ())) for name in names):
                found.append(f"{_either(names)} is missing{hint}")
    return found


def _either(names: tuple[str, ...]) -> str:
    return " or ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def has_requirements(kind: str) -> bool:
    """Tell whether anything is asked of things of a type."""
    return kind in _BY_TYPE

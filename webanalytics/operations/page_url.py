"""The parameter that every page operation has."""

from __future__ import annotations

from webanalytics.operations.base import Parameter

PAGE_URL = Parameter("url", str, "URL of the web page.", expects="a valid URL in http or https format")

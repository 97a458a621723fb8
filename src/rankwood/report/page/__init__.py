"""The report page: one HTML file about one model or several, which needs no other file and no network."""

from rankwood.report.page.make import Page, make_page

__all__ = ["Page", "make_page"]

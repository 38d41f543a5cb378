"""The page without a browser."""

from __future__ import annotations

from bokeh.document import Document

from otafl.demo.page import Page


def test_a_page_that_is_closed_hears_no_more_of_its_training():
    document = Document()
    page = Page(document)
    page._close()
    page._later(lambda: None)
    assert not document.session_callbacks

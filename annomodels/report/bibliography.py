"""What to cite: sources with a short form, a reference and a BibTeX entry."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SOURCES", "Source", "cited", "sources_of"]


@dataclass(frozen=True)
class Source:
    """One publication.

    Parameters
    ----------
    key
        Key of the BibTeX entry.
    kind
        Kind of the entry.
    short
        Authors and year as they stand in a sentence.
    author, title, year
        As BibTeX wants them.
    rest
        Further fields in their order.
    """

    key: str
    kind: str
    short: str
    author: str
    title: str
    year: int
    rest: tuple[tuple[str, str], ...]

    @property
    def bibtex(self) -> str:
        """The BibTeX entry.

        Examples
        --------
        >>> print(SOURCES["rubin1981"].bibtex.splitlines()[0])
        @article{rubin1981,
        """
        fields = [
            ("author", self.author),
            ("title", f"{{{self.title}}}"),
            ("year", str(self.year)),
            *self.rest,
        ]
        body = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields)
        return f"@{self.kind}{{{self.key},\n{body}\n}}"

    @property
    def text(self) -> str:
        """The reference as a sentence."""
        rest = dict(self.rest)
        where = next(
            (rest[name] for name in ("journal", "institution", "publisher") if name in rest), ""
        )
        if "volume" in rest:
            number = f"({rest['number']})" if "number" in rest else ""
            where += f" {rest['volume']}{number}"
        if "pages" in rest:
            where += f", {rest['pages'].replace('--', '–')}"
        doi = f" https://doi.org/{rest['doi']}" if "doi" in rest else ""
        authors = self.author.replace(" and ", "; ")
        return f"{authors} ({self.year}). {self.title}. {where}.{doi}"


SOURCES: dict[str, Source] = {
    source.key: source
    for source in (
        Source(
            "dawid1979",
            "article",
            "Dawid & Skene 1979",
            "Dawid, A. P. and Skene, A. M.",
            "Maximum likelihood estimation of observer error-rates using the EM algorithm",
            1979,
            (
                ("journal", "Journal of the Royal Statistical Society. Series C"),
                ("volume", "28"),
                ("number", "1"),
                ("pages", "20--28"),
                ("doi", "10.2307/2346806"),
            ),
        ),
        Source(
            "carpenter2008",
            "techreport",
            "Carpenter 2008",
            "Carpenter, Bob",
            "Multilevel Bayesian models of categorical data annotation",
            2008,
            (("institution", "Alias-i"),),
        ),
        Source(
            "paun2018",
            "article",
            "Paun et al. 2018",
            "Paun, Silviu and Carpenter, Bob and Chamberlain, Jon and Hovy, Dirk and "
            "Kruschwitz, Udo and Poesio, Massimo",
            "Comparing Bayesian models of annotation",
            2018,
            (
                ("journal", "Transactions of the Association for Computational Linguistics"),
                ("volume", "6"),
                ("pages", "571--585"),
                ("doi", "10.1162/tacl_a_00040"),
            ),
        ),
        Source(
            "krippendorff2019",
            "book",
            "Krippendorff 2019",
            "Krippendorff, Klaus",
            "Content analysis: An introduction to its methodology",
            2019,
            (("publisher", "SAGE"), ("edition", "4")),
        ),
        Source(
            "artstein2008",
            "article",
            "Artstein & Poesio 2008",
            "Artstein, Ron and Poesio, Massimo",
            "Inter-coder agreement for computational linguistics",
            2008,
            (
                ("journal", "Computational Linguistics"),
                ("volume", "34"),
                ("number", "4"),
                ("pages", "555--596"),
                ("doi", "10.1162/coli.07-034-R2"),
            ),
        ),
        Source(
            "rubin1981",
            "article",
            "Rubin 1981",
            "Rubin, Donald B.",
            "The Bayesian bootstrap",
            1981,
            (
                ("journal", "The Annals of Statistics"),
                ("volume", "9"),
                ("number", "1"),
                ("pages", "130--134"),
                ("doi", "10.1214/aos/1176345338"),
            ),
        ),
        Source(
            "vehtari2021",
            "article",
            "Vehtari et al. 2021",
            "Vehtari, Aki and Gelman, Andrew and Simpson, Daniel and Carpenter, Bob and "
            "Bürkner, Paul-Christian",
            "Rank-normalization, folding, and localization: An improved R-hat for assessing "
            "convergence of MCMC",
            2021,
            (
                ("journal", "Bayesian Analysis"),
                ("volume", "16"),
                ("number", "2"),
                ("pages", "667--718"),
                ("doi", "10.1214/20-BA1221"),
            ),
        ),
        Source(
            "abrilpla2023",
            "article",
            "Abril-Pla et al. 2023",
            "Abril-Pla, Oriol and others",
            "PyMC: a modern, and comprehensive probabilistic programming framework in Python",
            2023,
            (
                ("journal", "PeerJ Computer Science"),
                ("volume", "9"),
                ("pages", "e1516"),
                ("doi", "10.7717/peerj-cs.1516"),
            ),
        ),
    )
}

_COMMON = ("dawid1979", "artstein2008", "krippendorff2019", "rubin1981")
_OF_ENGINE = {"gibbs": ("vehtari2021",), "nuts": ("vehtari2021", "abrilpla2023"), "em": ()}


def cited(*keys: str) -> str:
    """Give sources as they stand in a sentence.

    Examples
    --------
    >>> cited("rubin1981", "artstein2008")
    '(Rubin 1981; Artstein & Poesio 2008)'
    """
    return f"({'; '.join(SOURCES[key].short for key in keys)})"


def sources_of(citation: str, engine: str) -> list[Source]:
    """Give what to cite for a fit, the source of the model first.

    Parameters
    ----------
    citation
        How the model names its source: a DOI, or author and year.
    engine
        Name of the engine.
    """
    model = next((key for key, source in SOURCES.items() if _is(source, citation)), "dawid1979")
    keys = dict.fromkeys((model, *_COMMON, *_OF_ENGINE.get(engine, ())))
    return [SOURCES[key] for key in keys]


def _is(source: Source, citation: str) -> bool:
    doi = dict(source.rest).get("doi")
    if doi is not None and citation.endswith(doi):
        return True
    return f"{source.short.replace(' 20', ' (20')})" == citation

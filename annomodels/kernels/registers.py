"""The truth of an item of three, four or five classes, in registers.

The same as ``passes.weigh`` and a draw, written out for the numbers of classes that are common:
loops over a number of classes that is not known beforehand take half as long again.
"""

from __future__ import annotations

import math

from annomodels.kernels.compile import Array, melted


@melted
def weigh_three(
    log_prevalence: Array,
    table: Array,
    cell: Array,
    lo: int,
    hi: int,
    u: float,
    keep: bool,
    p: Array,
) -> tuple[float, float, int]:
    """Weigh three classes by labels lo..hi of an item, and draw one with the uniform number `u`.

    Gives the log probability of the labels, the entropy in nats and the class; with `keep`, `p`
    is filled with P(truth), and without it the entropy is 0.
    """
    a, b, c = log_prevalence[0], log_prevalence[1], log_prevalence[2]
    for n in range(lo, hi):
        at = cell[n]
        a += table[at, 0]
        b += table[at, 1]
        c += table[at, 2]
    top = max(max(a, b), c)
    a -= top
    b -= top
    c -= top
    ea = math.exp(a)
    eb = math.exp(b)
    ec = math.exp(c)
    to_b = ea + eb
    total = to_b + ec
    log_total = math.log(total)
    u = u * total if u < 1.0 else 0.5 * total  # rounding may make the number one
    truth = int(u >= ea) + int(u >= to_b)
    if not keep:
        return top + log_total, 0.0, truth
    wa = ea * a if ea > 0.0 else 0.0
    wb = eb * b if eb > 0.0 else 0.0
    wc = ec * c if ec > 0.0 else 0.0
    weighted = wa + wb + wc
    p[0] = ea / total
    p[1] = eb / total
    p[2] = ec / total
    return top + log_total, log_total - weighted / total, truth


@melted
def weigh_four(
    log_prevalence: Array,
    table: Array,
    cell: Array,
    lo: int,
    hi: int,
    u: float,
    keep: bool,
    p: Array,
) -> tuple[float, float, int]:
    """Weigh four classes by labels lo..hi of an item, and draw one with the uniform number `u`.

    Gives the log probability of the labels, the entropy in nats and the class; with `keep`, `p`
    is filled with P(truth), and without it the entropy is 0.
    """
    a, b, c, d = log_prevalence[0], log_prevalence[1], log_prevalence[2], log_prevalence[3]
    for n in range(lo, hi):
        at = cell[n]
        a += table[at, 0]
        b += table[at, 1]
        c += table[at, 2]
        d += table[at, 3]
    top = max(max(a, b), max(c, d))
    a -= top
    b -= top
    c -= top
    d -= top
    ea = math.exp(a)
    eb = math.exp(b)
    ec = math.exp(c)
    ed = math.exp(d)
    to_b = ea + eb
    to_c = to_b + ec
    total = to_c + ed
    log_total = math.log(total)
    u = u * total if u < 1.0 else 0.5 * total  # rounding may make the number one
    truth = int(u >= ea) + int(u >= to_b) + int(u >= to_c)
    if not keep:
        return top + log_total, 0.0, truth
    wa = ea * a if ea > 0.0 else 0.0
    wb = eb * b if eb > 0.0 else 0.0
    wc = ec * c if ec > 0.0 else 0.0
    wd = ed * d if ed > 0.0 else 0.0
    weighted = wa + wb + wc + wd
    p[0] = ea / total
    p[1] = eb / total
    p[2] = ec / total
    p[3] = ed / total
    return top + log_total, log_total - weighted / total, truth


@melted
def weigh_five(
    log_prevalence: Array,
    table: Array,
    cell: Array,
    lo: int,
    hi: int,
    u: float,
    keep: bool,
    p: Array,
) -> tuple[float, float, int]:
    """Weigh five classes by labels lo..hi of an item, and draw one with the uniform number `u`.

    Gives the log probability of the labels, the entropy in nats and the class; with `keep`, `p`
    is filled with P(truth), and without it the entropy is 0.
    """
    a, b, c, d, e = (
        log_prevalence[0],
        log_prevalence[1],
        log_prevalence[2],
        log_prevalence[3],
        log_prevalence[4],
    )
    for n in range(lo, hi):
        at = cell[n]
        a += table[at, 0]
        b += table[at, 1]
        c += table[at, 2]
        d += table[at, 3]
        e += table[at, 4]
    top = max(max(max(a, b), max(c, d)), e)
    a -= top
    b -= top
    c -= top
    d -= top
    e -= top
    ea = math.exp(a)
    eb = math.exp(b)
    ec = math.exp(c)
    ed = math.exp(d)
    ee = math.exp(e)
    to_b = ea + eb
    to_c = to_b + ec
    to_d = to_c + ed
    total = to_d + ee
    log_total = math.log(total)
    u = u * total if u < 1.0 else 0.5 * total  # rounding may make the number one
    truth = int(u >= ea) + int(u >= to_b) + int(u >= to_c) + int(u >= to_d)
    if not keep:
        return top + log_total, 0.0, truth
    wa = ea * a if ea > 0.0 else 0.0
    wb = eb * b if eb > 0.0 else 0.0
    wc = ec * c if ec > 0.0 else 0.0
    wd = ed * d if ed > 0.0 else 0.0
    we = ee * e if ee > 0.0 else 0.0
    weighted = wa + wb + wc + wd + we
    p[0] = ea / total
    p[1] = eb / total
    p[2] = ec / total
    p[3] = ed / total
    p[4] = ee / total
    return top + log_total, log_total - weighted / total, truth

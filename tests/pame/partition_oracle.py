"""Partitions again, slowly: plain Python numbers and loops on the same random words."""

from collections.abc import Sequence
from dataclasses import replace
from math import exp, floor, log, sqrt
from statistics import NormalDist

from pame.randomness import Key, Purpose
from tests.pame.randomness.oracle import slow_subset, slow_words

ORDER, OTHERS, TURNS, MIX = 0, 1, 2, 3


def slow_dirichlet(key: Key, beta: float, count: int) -> list[float]:
    """Gamma numbers by Marsaglia and Tsang, divided by their sum."""
    shape = beta if beta >= 1 else beta + 1
    d = shape - 1 / 3
    logs: list[float] = []
    peer = 1
    while len(logs) < count:
        missing = count - len(logs)
        x_words = slow_words(replace(key, peer=peer), missing)
        u_words = slow_words(replace(key, peer=peer + 1), missing)
        for x_word, u_word in zip(x_words, u_words, strict=True):
            x = NormalDist().inv_cdf(((x_word >> 12) + 0.5) / 2**52)
            u = 1 - (u_word >> 11) / 2**53
            v = (1 + x / sqrt(9 * d)) ** 3
            if v > 0 and log(u) < x * x / 2 + d - d * v + d * log(v):
                logs.append(log(d * v))
        peer += 2
    if beta < 1:
        powers = slow_words(replace(key, peer=0), count)
        logs = [value + log(1 - (word >> 11) / 2**53) / beta for value, word in zip(logs, powers, strict=True)]
    weights = [exp(value - max(logs)) for value in logs]
    return [weight / sum(weights) for weight in weights]


def slow_shuffle(seed: int, node: int, items: Sequence[int]) -> list[int]:
    """By the order of as many words."""
    drawn = slow_words(Key(seed, Purpose.PARTITION, node, ORDER), len(items))
    return [items[place] for place in sorted(range(len(items)), key=lambda place: (drawn[place], place))]


def even_pieces(items: Sequence[int], count: int) -> list[list[int]]:
    """The first ones have one more."""
    least, more = divmod(len(items), count)
    pieces, start = [], 0
    for number in range(count):
        end = start + least + (number < more)
        pieces.append(list(items[start:end]))
        start = end
    return pieces


def of_class(labels: Sequence[int], number: int) -> list[int]:
    return [index for index, label in enumerate(labels) if label == number]


def slow_iid(samples: int, nodes: int, seed: int) -> list[list[int]]:
    return [sorted(piece) for piece in even_pieces(slow_shuffle(seed, 0, range(samples)), nodes)]


def slow_classes(labels: Sequence[int], classes: int, nodes: int, seed: int, per_node: int) -> list[list[int]]:
    held = []
    for node in range(nodes):
        own = node % classes
        others = [number for number in range(classes) if number != own]
        drawn = slow_subset(Key(seed, Purpose.PARTITION, node, OTHERS), classes - 1, per_node - 1)
        held.append({own, *(others[place] for place in drawn)})
    shares: list[list[int]] = [[] for _ in range(nodes)]
    for number in range(classes):
        holders = [node for node in range(nodes) if number in held[node]]
        if holders:
            pieces = even_pieces(slow_shuffle(seed, number, of_class(labels, number)), len(holders))
            for node, piece in zip(holders, pieces, strict=True):
                shares[node] += piece
    return [sorted(share) for share in shares]


def slow_by_class(
    labels: Sequence[int], classes: int, nodes: int, seed: int, beta: float, least: int
) -> list[list[int]]:
    for draw in range(100):
        shares: list[list[int]] = [[] for _ in range(nodes)]
        for number in range(classes):
            order = slow_shuffle(seed, number, of_class(labels, number))
            p = slow_dirichlet(Key(seed, Purpose.PARTITION, number, MIX + draw), beta, nodes)
            start, cumulated = 0, 0.0
            for node in range(nodes):
                cumulated += p[node]
                end = len(order) if node == nodes - 1 else floor(cumulated * len(order))
                shares[node] += order[start:end]
                start = end
        if min(len(share) for share in shares) >= least:
            return [sorted(share) for share in shares]
    raise AssertionError("no draw has enough for every node")


def slow_by_node(labels: Sequence[int], classes: int, nodes: int, seed: int, beta: float) -> list[list[int]]:
    size = len(labels) // nodes
    left = [slow_shuffle(seed, number, of_class(labels, number)) for number in range(classes)]
    mixes = [slow_dirichlet(Key(seed, Purpose.PARTITION, node, MIX), beta, classes) for node in range(nodes)]
    draws = [slow_words(Key(seed, Purpose.PARTITION, node, TURNS), size) for node in range(nodes)]
    shares: list[list[int]] = [[] for _ in range(nodes)]
    for turn in range(size):
        for node in [*range(turn % nodes, nodes), *range(turn % nodes)]:
            weights = [share if samples else 0.0 for share, samples in zip(mixes[node], left, strict=True)]
            if sum(weights) == 0:
                weights = [float(len(samples)) for samples in left]
            aim = (draws[node][turn] >> 11) / 2**53 * sum(weights)
            number, cumulated = 0, weights[0]
            while cumulated <= aim:
                number += 1
                cumulated += weights[number]
            shares[node].append(left[number].pop(0))
    return [sorted(share) for share in shares]

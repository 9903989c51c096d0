"""The same draws as `draws.py` for many nodes at once: Philox4x64-10 on arrays of counters.

    round:  (c0,c1,c2,c3) -> (hi(M1 c2) ^ c1 ^ k0,  lo(M1 c2),  hi(M0 c0) ^ c3 ^ k1,  lo(M0 c0)),  ten times

It yields the very words of NumPy's generator, node by node; starting a generator per node costs 20 µs, this about 2.
"""

import numpy as np
from numpy.typing import NDArray

from pame.randomness.key import Key, Purpose, Words
from pame.randomness.subsets import by_gaps, subset

Nodes = NDArray[np.int64]

_M0, _M1 = 0xD2E7470EE14C6C93, 0xCA5A826395121157
_BUMP0, _BUMP1 = 0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B
_ROUNDS = 10
_WORD = 2**64
_LOW = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)
_CHUNK = 1 << 13  # blocks handled at a time: temporaries stay in the cache


def words_of_nodes(
    seed: int, purpose: Purpose, nodes: Nodes, iteration: int, count: int, peers: Nodes | None = None
) -> Words:
    """Row i: the first `count` words of Key(seed, purpose, nodes[i], iteration, peers[i])."""
    blocks = -(-count // 4)
    out = np.empty((nodes.size * blocks, 4), dtype=np.uint64)
    block = np.tile(np.arange(1, blocks + 1, dtype=np.uint64), nodes.size)
    node = np.repeat(nodes.astype(np.uint64), blocks)
    peer = np.repeat(peers.astype(np.uint64), blocks) if peers is not None else np.zeros_like(node)
    for start in range(0, len(out), _CHUNK):
        piece = slice(start, start + _CHUNK)
        _philox(seed, purpose, block[piece], iteration, node[piece], peer[piece], out[piece])
    return out.reshape(nodes.size, 4 * blocks)[:, :count]


def uniforms_of_links(
    seed: int, purpose: Purpose, senders: Nodes, receivers: Nodes, iteration: int
) -> NDArray[np.float64]:
    """The first uniform number of each link's key (node = sender, peer = receiver)."""
    first = words_of_nodes(seed, purpose, senders, iteration, 1, receivers)[:, 0]
    return (first >> np.uint64(11)).astype(np.float64) * 2.0**-53


def subsets_of_nodes(seed: int, purpose: Purpose, nodes: Nodes, iteration: int, n: int, s: int) -> NDArray[np.bool_]:
    """Row i: the mask of `subset(Key(seed, purpose, nodes[i], iteration), n, s)`."""
    few = min(s, n - s)
    chosen = np.zeros((nodes.size, n), dtype=np.bool_)
    one_by_one = np.arange(nodes.size) if by_gaps(n, few) else _mark(chosen, seed, purpose, nodes, iteration, few)
    if s != few:
        np.logical_not(chosen, out=chosen)
    for row in one_by_one:
        chosen[row] = False
        chosen[row, subset(Key(seed, purpose, int(nodes[row]), iteration), n, s)] = True
    return chosen


def _mark(
    chosen: NDArray[np.bool_], seed: int, purpose: Purpose, nodes: Nodes, iteration: int, count: int
) -> NDArray[np.int64]:
    """Mark `count` in each row as `subsets.py` does; returns the rows for which too few words were drawn ahead."""
    ahead = _usually_enough(chosen.shape[1], count)
    halves = words_of_nodes(seed, purpose, nodes, iteration, ahead).astype("<u8").view("<u4")
    missing = np.full(nodes.size, count)
    begin = np.zeros(nodes.size, dtype=np.int64)
    left_over = []
    while (rows := np.flatnonzero(missing)).size:
        end = begin[rows] + missing[rows]
        short = end > halves.shape[1]
        left_over.append(rows[short])
        missing[rows[short]] = 0
        rows = rows[~short]
        _mark_next(chosen, halves, rows, begin, missing)
        begin[rows] = end[~short] + (missing[rows] & 1)  # an odd last half is thrown away
        missing[rows] = count - np.count_nonzero(chosen[rows], axis=1)
    return np.concatenate([np.empty(0, dtype=np.int64), *left_over])


def _usually_enough(n: int, few: int) -> int:
    """How many words to draw ahead: the mean number of draws until `few` are distinct, plus several deviations."""
    drawn = few * (1.0 + 0.8 * few / n)
    return int(drawn / 2 + 3 * drawn**0.5) + 16


def _mark_next(
    chosen: NDArray[np.bool_], halves: NDArray[np.uint32], rows: Nodes, begin: Nodes, missing: Nodes
) -> None:
    counts = missing[rows]
    row = np.repeat(rows, counts)
    offset = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    n = chosen.shape[1]
    product = halves[row, begin[row] + offset].astype(np.uint64) * np.uint64(n)
    accepted = (product & _LOW) >= 2**32 % n
    chosen[row[accepted], (product >> _SHIFT)[accepted].astype(np.int64)] = True


def _philox(seed: int, purpose: int, block: Words, iteration: int, node: Words, peer: Words, out: Words) -> None:
    c0, c1, c2, c3 = block, np.full_like(block, iteration), node, peer
    k0, k1 = seed, int(purpose)
    for _ in range(_ROUNDS):
        hi0, lo0 = _multiply(_M0, c0)
        hi1, lo1 = _multiply(_M1, c2)
        c0, c1, c2, c3 = hi1 ^ c1 ^ np.uint64(k0), lo1, hi0 ^ c3 ^ np.uint64(k1), lo0
        k0, k1 = (k0 + _BUMP0) % _WORD, (k1 + _BUMP1) % _WORD
    for column, word in enumerate((c0, c1, c2, c3)):
        out[:, column] = word


def _multiply(constant: int, x: Words) -> tuple[Words, Words]:
    """The upper and the lower 64 bits of constant * x, from 32-bit halves."""
    a1, a0 = np.uint64(constant >> 32), np.uint64(constant & 0xFFFFFFFF)
    x1, x0 = x >> _SHIFT, x & _LOW
    low = a0 * x0
    middle = a1 * x0 + (low >> _SHIFT)
    cross = a0 * x1 + (middle & _LOW)
    return a1 * x1 + (middle >> _SHIFT) + (cross >> _SHIFT), np.uint64(constant) * x

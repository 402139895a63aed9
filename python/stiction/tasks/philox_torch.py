"""Philox4x32-10 in torch, for `philox.Draw`: the words of envs/philox.h on any device of torch."""

import math

import torch

_WORD = 0xFFFFFFFF
_KEY_STEPS = 0x9E3779B9, 0xBB67AE85


def draw_bits(seed, episode, purpose, step, first, count):
    """(n, count) int64 in [0, 2^32). seed: int64, the bits of uint64; episode, step: (n,) or a number."""
    begin, end = first // 4, (first + count + 3) // 4
    column = lambda x: x[:, None].long() & _WORD if isinstance(x, torch.Tensor) else x & _WORD
    x = [torch.arange(begin, end, device=seed.device) & _WORD, column(step), purpose, column(episode)]
    high = lambda product: (product >> 32) & _WORD
    key0, key1 = seed[:, None] & _WORD, (seed[:, None] >> 32) & _WORD
    for _ in range(10):
        # products of 64 bits wrap around, and their upper word is what a shift without the sign leaves
        a, b = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
        x = [high(b) ^ x[1] ^ key0, b & _WORD, high(a) ^ x[3] ^ key1, a & _WORD]
        key0, key1 = (key0 + _KEY_STEPS[0]) & _WORD, (key1 + _KEY_STEPS[1]) & _WORD
    words = torch.stack(torch.broadcast_tensors(*x), dim=2)
    return words.reshape(len(seed), 4 * (end - begin))[:, first - 4 * begin :][:, :count]


def draw_uniform(seed, episode, purpose, step, first, count):
    """(n, count) float64 in (0, 1): 24 bits, at the middle of each of their intervals."""
    words = draw_bits(seed, episode, purpose, step, first, count)
    return ((words >> 8).double() + 0.5) * 2.0**-24


def draw_normal(seed, episode, purpose, step, first, count):
    """(n, count) float64 of mean 0 and deviation 1: Box and Muller, the cosine only."""
    u = draw_uniform(seed, episode, purpose, step, first, 2 * count)
    return torch.sqrt(-2 * torch.log(u[:, ::2])) * torch.cos(2 * math.pi * u[:, 1::2])

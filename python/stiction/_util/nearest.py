"""The names that somebody who mistyped one may have meant."""

import difflib


def nearest(name, known, count=3) -> list[str]:
    """Up to `count` of the names in `known`, best first: the same letters in upper or lower case, one that
    begins with the other, or similar ones. Only names nearly as good as the best."""
    wanted = str(name).casefold()

    def score(other):
        other = other.casefold()
        if wanted == other:
            return 2.0
        ratio = difflib.SequenceMatcher(None, wanted, other).ratio()
        whole = min(len(wanted), len(other)) > 2 and (other.startswith(wanted) or wanted.startswith(other))
        return max(ratio, 0.9) if whole else ratio

    scored = sorted(((score(str(k)), str(k)) for k in dict.fromkeys(known)), key=lambda x: -x[0])
    if not scored or scored[0][0] < 0.55:
        return []
    best = scored[0][0]
    return [k for s, k in scored if s >= max(0.55, best - 0.2) and (best < 2 or s == best)][:count]


def hint(name, known) -> str:
    """"; nearest: 'a', 'b'" or nothing."""
    near = nearest(name, known)
    return "; nearest: " + ", ".join(map(repr, near)) if near else ""

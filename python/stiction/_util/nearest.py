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


def misspelt(name, known) -> str | None:
    """The one of `known` that `name` is but for underscores, capitals or one letter; None: it is another word."""
    letters = lambda x: str(x).replace("_", "").casefold()
    mine = letters(name)
    for other in known:
        if name != other and len(mine) > 5 and _one_letter_apart(mine, letters(other)):
            return other
    return None


def _one_letter_apart(a: str, b: str) -> bool:
    """The same, or one letter is another one, too many, or missing."""
    if abs(len(a) - len(b)) > 1:
        return False
    i = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return a[i + 1 :] == b[i + 1 :] or a[i + 1 :] == b[i:] or a[i:] == b[i + 1 :]


def hint(name, known) -> str:
    """"; nearest: 'a', 'b'" or nothing."""
    near = nearest(name, known)
    return "; nearest: " + ", ".join(map(repr, near)) if near else ""

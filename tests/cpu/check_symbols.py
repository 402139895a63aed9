"""The objects of an instruction set define weak symbols in their own namespace only: the linker may
take any copy of a weak function, and code for a new processor must not run on an old one.

check_symbols.py NM ISA OBJECT... prints the offenders and exits 1 when there is one.
"""

import re
import subprocess
import sys


def foreign_symbols(listing: str, isa: str) -> list[str]:
    """Weak or unique definitions in the output of `nm` whose mangled name does not name the
    namespace: stiction::physics::ISA is N8stiction7physics<length>ISA."""
    own = re.compile(rf"N?K?8stiction7physics{len(isa)}{isa}")
    found = []
    for line in listing.splitlines():
        fields = line.split()
        if len(fields) < 2 or fields[-2] not in ("W", "V", "u"):
            continue
        # the function itself, or the one around a lambda, not only an argument of it
        name = re.match(r"_Z(TV|TI|TS|GV)?Z*N[VK]*(8stiction7physics\d+\w+)", fields[-1])
        if name is None or not own.match(name[2]):
            found.append(fields[-1])
    return found


if __name__ == "__main__":
    nm, isa, *objects = sys.argv[1:]
    if not objects:
        sys.exit("no objects given")
    bad = []
    for path in objects:
        listing = subprocess.run([nm, path], capture_output=True, text=True, check=True).stdout
        bad += [f"{path}: {symbol}" for symbol in foreign_symbols(listing, isa)]
    print("\n".join(bad) or f"{isa}: {len(objects)} objects define nothing outside their namespace")
    sys.exit(bool(bad))

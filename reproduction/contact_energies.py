"""Energies of two amino acids that touch: Miyazawa and Jernigan's of 1996.

Tested in tests/reproduction/test_lattice.py.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from trug_fast.datasets.alignments import ALPHABETS

AMINO_ACIDS = "CMFILVWYAGTSNQDEHRKP"

# J. Mol. Biol. 256 (1996), 623-644, Table 3, in hundredths of kT: each with those before it.
HUNDREDTHS = """\
-544
-499 -546
-580 -656 -726
-550 -602 -684 -654
-583 -641 -728 -704 -737
-496 -532 -629 -605 -648 -552
-495 -555 -616 -578 -614 -518 -506
-416 -491 -566 -525 -567 -462 -466 -417
-357 -394 -481 -458 -491 -404 -382 -336 -272
-316 -339 -413 -378 -416 -338 -342 -301 -231 -224
-311 -351 -428 -403 -434 -346 -322 -301 -232 -208 -212
-286 -303 -402 -352 -392 -305 -299 -278 -201 -182 -196 -167
-259 -295 -375 -324 -374 -283 -307 -276 -184 -174 -188 -158 -168
-285 -330 -410 -367 -404 -307 -311 -297 -189 -166 -190 -149 -171 -154
-241 -257 -348 -317 -340 -248 -284 -276 -170 -159 -180 -163 -168 -146 -121
-227 -289 -356 -327 -359 -267 -299 -279 -151 -122 -174 -148 -151 -142 -102 -91
-360 -398 -477 -414 -454 -358 -398 -352 -241 -215 -242 -211 -208 -198 -232 -215 -305
-257 -312 -398 -363 -403 -307 -341 -316 -183 -172 -190 -162 -164 -180 -229 -227 -216 -155
-195 -248 -336 -301 -337 -249 -269 -260 -131 -115 -131 -105 -121 -129 -168 -180 -135 -59 -12
-307 -345 -425 -376 -420 -332 -373 -319 -203 -187 -190 -157 -153 -173 -133 -126 -225 -170 -97 -175
"""


def contact_energies() -> NDArray[np.float32]:
    """Return the energies of pairs of states of the alphabet "protein", in hundredths of kT.

    Shape (21, 21), symmetric, whole numbers; a gap touches nobody, which is an energy of 0.
    """
    states = [ALPHABETS["protein"].index(letter) for letter in AMINO_ACIDS]
    found = np.zeros((len(ALPHABETS["protein"]),) * 2, np.float32)
    for own, line in zip(states, HUNDREDTHS.splitlines(), strict=True):
        for other, energy in zip(states, line.split(), strict=False):
            found[own, other] = found[other, own] = float(energy)
    return found

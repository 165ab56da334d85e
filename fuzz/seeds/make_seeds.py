"""Writes the small files of this folder: formats that the fixtures of lkdl-data's tests lack.

Run: python3 make_seeds.py (with Pillow)
"""
import bz2
import gzip
import struct
from PIL import Image

TEXT = b"1 1:0.5 3:2\n-1 2:1e-3 # note\n+1 qid:3 1:7\n"
TABLE = '# note\n"a;b",b,label\n1,-2e5,"x, ""y"""\n.5,3,z\n'

open("text.svm", "wb").write(TEXT)
open("zero_based.svm", "wb").write(b"1 0:1 2:3\n2 1:4\n")
open("text.svm.gz", "wb").write(gzip.compress(TEXT, mtime=0))
open("text.svm.bz2", "wb").write(bz2.compress(TEXT))
open("table.csv", "w").write(TABLE)
open("table.txt", "w").write("0 1 2\n1.5 2.5 3.5\n")
open("semicolons.csv", "w").write("0;1;2;kind\n1,5;2;3;cat\n")
for code, kind in ((8, "B"), (0x0B, ">h"), (0x0E, ">d")):
    values = b"".join(struct.pack(kind, v) for v in range(8))
    open(f"kind_{code}.idx", "wb").write(struct.pack(">BBBBIII", 0, 0, code, 3, 2, 2, 2) + values)
image = Image.frombytes("L", (4, 3), bytes(range(0, 240, 20)))
image.save("grey.png")
image.save("grey.jpg")
image.save("grey.bmp")
image.save("grey.pgm")
image.convert("RGB").save("colour.png")
image.convert("P").save("palette.png")
open("text.pgm", "w").write("P2 2 2 255 0 9 80 255\n")

"""Speed and memory, printed and never asserted: `make bench DATA=FOLDER`.

FOLDER holds the development contracts (`cuad/dev/corpus`, `cuad_pdf/dev/pdf`). Figures of one run are
comparable with each other, not with those of another machine or hour: quote medians and ratios.
"""

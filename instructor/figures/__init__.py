"""The handout's diagrams, drawn as SVG files without any library.

svg         a drawing: boxes, grids, arrows and words in, an SVG out
checkpoint  sizes and ids that the figures show
model       the whole model, its embedding, one layer
attention   attention by hand, the mask, the heads
further     what the extensions are about: norms, the decoder, pre-training
__main__    writes pictures/*.svg, or compares
"""

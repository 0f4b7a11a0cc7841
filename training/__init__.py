"""Makes the weights of the reader, the network that tells whether a passage answers a question.

Read in this order: `examples` (what is learned from), `sets` (where it comes from), `found` (what search
finds), `groups` (how wrong passages are chosen), `rows` (the same as numbers), `network` and `fitting`
(PyTorch, in an environment of its own), `export` (the file that is shipped), `figures` (what it is worth).
`make train-reader` runs them all.
"""

"""What the programs share: command lines, files, data and pictures. Nothing here needs editing.

The other files stay where they are because a `bert.py` of the published minBERT scaffold imports
them by these names: base_bert, config, tokenizer, utils, optimizer and classifier.
"""

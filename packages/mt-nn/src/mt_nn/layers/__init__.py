"""Layers: modules with parameters and settings around the functions of `mt_nn.functional`."""

"""One namespace for programs that say `torch.nn`: its names are those of mt-tensor and mt-nn."""

import importlib

import pytest

import mt_nn as nn
import mt_nn.torch_names as names
import mt_tensor as mt


def test_names_are_those_of_tensors_and_networks() -> None:
    assert names.zeros is mt.zeros
    assert names.abs is mt.abs
    assert names.float is mt.float32
    assert names.autograd.Function is mt.Function
    assert names.nn.utils.clip_grad_norm_ is nn.utils.clip_grad_norm_
    assert names.optim.lr_scheduler is nn.optim.lr_scheduler
    assert names.utils.data.DataLoader is nn.data.DataLoader
    assert (names.save, names.load) == (nn.save, nn.load)


def test_no_name_of_ours_hides_one_of_tensors() -> None:
    for name in names.__all__:
        assert not hasattr(mt, name)


def test_names_are_in_the_places_of_torch() -> None:
    torch = pytest.importorskip("torch")
    for name in names.__all__:
        assert hasattr(torch, name) or importlib.import_module(f"torch.{name}")


def test_what_is_missing_says_so() -> None:
    with pytest.raises(AttributeError, match="no attribute 'compile'"):
        names.compile  # noqa: B018

"""Errors of a GPU: reasons why it cannot be used, and the effects of a failed kernel."""

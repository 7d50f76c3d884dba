"""The primitives of the contract: how loops may run over memory, and what runs there."""

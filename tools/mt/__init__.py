"""The command `mt`: compare stages, run their tests, measure their speed, check a machine."""

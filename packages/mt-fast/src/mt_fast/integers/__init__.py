"""Operations on integers and quotients that take several steps."""

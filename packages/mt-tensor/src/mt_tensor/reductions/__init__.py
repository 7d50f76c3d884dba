"""Operations that fold dimensions into one element."""

"""Operations that rearrange elements: views, joins, and copies in another order."""

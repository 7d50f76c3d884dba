"""Operations that move elements: views, and copies in another order."""

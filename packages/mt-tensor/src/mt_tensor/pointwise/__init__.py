"""Operations element by element: the operator table lifted, and what is made of it."""

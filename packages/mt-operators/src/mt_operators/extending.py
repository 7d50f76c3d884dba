"""What later stages build on operators and modules with, beside the names that users import.

It is the border of this stage. The modules that its README shows are for other packages too, with
`elementary`, `graph`, `evaluation` and `testing` among them; everything else may change without
notice.
"""

# Formulas: the constant partials.
from mt_operators.formula import one as one, zero as zero

# Modules: what parameters and buffers of every stage are.
from mt_operators.parameter import Holder as Holder

# Errors that say which name was meant.
from mt_operators.errors import nearest as nearest, no_attribute as no_attribute

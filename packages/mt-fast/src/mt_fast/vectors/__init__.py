"""The processor's vector registers: their width, and instructions on them."""

"""`python -m stiction.demo`: many copies of a robot under random controls, and a film of them."""

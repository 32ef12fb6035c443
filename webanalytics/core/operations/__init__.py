"""The model of an operation: parameters, fields, types, checks, and the register of all of them."""

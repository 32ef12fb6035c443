"""Inputs of any kind -> jobs; answers -> DataFrames with one schema."""

"""The pictures of the sample site, by how they are made."""

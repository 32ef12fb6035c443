"""How the service documents itself: JSON Schema, the OpenAPI document and the documentation page."""

"""The GraphQL endpoint: its schema from the declarations, the limits of a query, execution and credits."""

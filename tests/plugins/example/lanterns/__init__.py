"""A package from elsewhere: an operation, a rule and two backends for webanalytics."""

"""Operations that need no page, a folder each: declaration, computation, function, chart, widget and data."""

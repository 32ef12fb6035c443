"""What an analyst sees in a notebook: accessors, charts, widgets, the explorer and the audit desk."""

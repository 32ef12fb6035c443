"""What the content of a page is, for any type of page; `content.content` is the door."""

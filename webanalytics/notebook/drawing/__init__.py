"""What all charts share: figures, colours, headlines, labels, and the data they draw."""

"""Pages as a browser makes them: all that it loads comes through the guard, pace and limits of a run."""

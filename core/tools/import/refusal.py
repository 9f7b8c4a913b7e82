"""The only error that a user sees: what is not covered, and the place in the file."""


class Refused(Exception):
    """Carries one sentence or several; each becomes a line of the report."""

    def __init__(self, *sentences):
        super().__init__("\n".join(sentences))
        self.sentences = list(sentences)

"""The one error that a person sees: what is not covered, and where in their file."""


class Refused(Exception):
    """Carries one sentence or several; each becomes a line of the report."""

    def __init__(self, *sentences):
        super().__init__("\n".join(sentences))
        self.sentences = list(sentences)

"""The former place of `FewLabelClassifier.compact`."""


class CompactClassifier:
    """Use `FewLabelClassifier.compact`."""

    @staticmethod
    def of(model):
        """The model without its feature spaces."""
        return model.compact()

"""`mercer studio`: the page where labels are made."""

from ..studio.start import studio as studio

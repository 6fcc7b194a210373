"""`mercer studio`: the page where labels are made."""

from ..studio.command import studio as studio

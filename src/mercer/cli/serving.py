"""`mercer studio` labels rows in the browser."""

from ..studio.command import studio as studio

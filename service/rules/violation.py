"""A refusal by the rules of a game."""

from service.canonical import JsonMap


class RuleViolation(Exception):
    """The rules say no; the state stands as it was.

    `rule` is the number in the ruleset's texts, `message` a template in
    English, `params` what fills it, `members` what a program reads beside it:
    public facts and the mover's own cards, nothing else.
    """

    def __init__(
        self, rule: str, message: str, members: JsonMap | None = None, **params: object
    ) -> None:
        """Refuse by that rule, for the reason that the message gives."""
        super().__init__(message.format(**params))
        self.members: JsonMap = members or {}
        self.rule = rule
        self.message = message
        self.params = params

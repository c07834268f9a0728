"""A refusal by the rules of a game."""


class RuleViolation(Exception):
    """The rules say no; the state stands as it was.

    `rule` is the number in the ruleset's texts, `message` a template in
    English, `params` what fills it: public facts and the mover's own cards,
    nothing else.
    """

    def __init__(self, rule: str, message: str, **params: object) -> None:
        """Refuse by that rule, for the reason that the message gives."""
        super().__init__(message.format(**params))
        self.rule = rule
        self.message = message
        self.params = params

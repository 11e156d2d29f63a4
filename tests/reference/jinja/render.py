"""Renders chat templates as transformers does: Jinja in a sandbox, with its options, filter and functions.

Standard input has {"templates": [text], "cases": [variables]}; standard output is a list for each template, with a text or null (where
the template refuses) for each case.
"""

import datetime
import json
import sys

from jinja2 import ext, nodes
from jinja2.exceptions import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment


class Generation(ext.Extension):
    """{% generation %}, which marks what a model says and writes nothing itself."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        call = self.call_method("_body")
        return nodes.CallBlock(call, [], [], body).set_lineno(line)

    def _body(self, caller):
        return caller()


def refuse(message):
    raise TemplateError(message)


def to_json(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(
        value,
        ensure_ascii=ensure_ascii,
        indent=indent,
        separators=separators,
        sort_keys=sort_keys,
    )


def environment():
    env = ImmutableSandboxedEnvironment(
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=[Generation, ext.loopcontrols],
    )
    env.filters["tojson"] = to_json
    env.globals["raise_exception"] = refuse
    env.globals["strftime_now"] = lambda form: datetime.datetime.now().strftime(form)
    return env


def rendered(template, case):
    try:
        return environment().from_string(template).render(**case)
    except Exception:  # whatever a stranger's template raises
        return None


given = json.load(sys.stdin)
json.dump(
    [[rendered(each, case) for case in given["cases"]] for each in given["templates"]],
    sys.stdout,
)

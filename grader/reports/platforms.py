"""The result in the format of another tool: Gradescope."""

import json
from typing import Any


def gradescope(result: dict[str, Any]) -> str:
    """Return results.json for Gradescope; its `score` overrides the sum, so that bonus is apart."""
    tests = [
        {
            "number": str(number),
            "name": one["id"],
            "output": f"{one['outcome']}\n{one['message']}",
            "visibility": "visible",
            **({} if one["score"] is None else {"score": one["score"]}),
            **({} if one["score"] is None else {"max_score": one["max_score"]}),
        }
        for number, one in enumerate(result["exercises"], start=1)
    ]
    found = {
        "score": result["score"],
        "output": "\n".join([f"{result['score']:g} / {result['max_score']:g}", *result["notes"]]),
        "output_format": "text",
        "test_output_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "extra_data": {"tier": result["tier"], "bonus": result["bonus"]},
        "tests": tests,
    }
    return json.dumps(found, indent=2) + "\n"

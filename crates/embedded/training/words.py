"""Texts that the model reads. The program has to make the same ones."""


def human(name):
    return name.replace("_", " ").replace("-", " ")


def own(name):
    """The name that a server gave its tool: `mcp_weather_forecast` is `forecast`."""
    parts = name.split("_", 2)
    return parts[2] if parts[0] == "mcp" and len(parts) == 3 else name


# What may be meant beside a tool, as if it were one.
NULLS = {
    "none": "small talk: greetings, thanks, moods, reactions; nothing is to be done",
    "planner": "plan: a project or several steps for several agents, one after the other",
    "help": "help: a question about this assistant itself, how it is used, set up or what it can do",
    "write": "a model that writes: summarise, translate, explain, compose, review, write code, general knowledge",
    "ask": "a question back: an order that is too vague or lacks something essential",
    "stray": "pasted text, logs, code, noise, or an order that is only quoted, imagined or a joke; nothing is to be done",
}

# The classes of requests that were labelled before small talk was divided.
SMALL_TALK = ("none", "help", "write", "stray")


def card(name, tool, parameters=True, description=True):
    text = human(own(name))
    if description:
        text += ": " + tool["description"]
    names = ", ".join(human(p["name"]) for p in tool["parameters"])
    if parameters and names:
        text += " (" + names + ")"
    return text


def choices(parameter):
    if parameter["type"] == "enum":
        return list(parameter["values"])
    if parameter["type"] == "boolean":
        return ["yes"]
    return []


def question(name, parameter, description=True):
    """What is asked about a parameter, and where each choice stands in it."""
    text = human(own(name)) + ", " + human(parameter["name"])
    if parameter["type"] in ("integer", "number"):
        text += ", number"
    if description and parameter["description"]:
        text += ": " + parameter["description"].rstrip(".")
    places = {}
    found = choices(parameter)
    if found:
        text += " ?"
        for choice in found:
            text += " "
            places[choice] = (len(text), len(text) + len(human(choice)))
            text += human(choice)
    return text, places

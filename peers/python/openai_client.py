"""The official OpenAI client for Python, for /v1 of ours. Commands and lines: ../README.md.

  openai_client.py --url BASE/v1 [--key K] [--model M] [--tools] COMMAND ...
"""

import argparse
import json
import sys

import openai

# Something that the client's program could do itself. Ours must not mix its own tools up with it.
TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Tells the weather.",
        "parameters": {"type": "object", "properties": {"place": {"type": "string"}}},
    },
}


def line(kind, **fields):
    print(json.dumps({"kind": kind, **fields}), flush=True)


def client(options, key=None):
    return openai.OpenAI(
        base_url=options.url, api_key=key or options.key, max_retries=0, timeout=options.timeout
    )


def user(text):
    return {"role": "user", "content": text}


def request(options, messages, **more):
    if options.tools:
        more["tools"] = [TOOL]
    if options.user:
        more["user"] = options.user
    return {"model": options.model, "messages": messages, **more}


def show_completion(completion):
    choice = completion.choices[0]
    raw = completion.model_dump(mode="json", exclude_unset=True)
    line(
        "completion",
        id=completion.id,
        object=completion.object,
        model=completion.model,
        text=choice.message.content,
        role=choice.message.role,
        finish=choice.finish_reason,
        calls=len(choice.message.tool_calls or []),
        usage=raw.get("usage"),
        # What the client did not know of, at the top and in the message.
        extra=completion.model_extra or {},
        message_extra=choice.message.model_extra or {},
        raw=raw,
    )


def chat(options, messages):
    completion = client(options).chat.completions.create(**request(options, messages))
    show_completion(completion)
    return completion.choices[0].message.content


def stream(options, text):
    """A line for each chunk, and the whole at the end."""
    more = {"stream": True, "stream_options": {"include_usage": True}}
    pieces, ids, finish, usage = [], set(), None, None
    for chunk in client(options).chat.completions.create(**request(options, [user(text)], **more)):
        raw = chunk.model_dump(mode="json", exclude_unset=True)
        choice = chunk.choices[0] if chunk.choices else None
        piece = (choice.delta.content or "") if choice else ""
        line(
            "chunk",
            text=piece,
            finish=choice.finish_reason if choice else None,
            extra=chunk.model_extra or {},
            delta_extra=(choice.delta.model_extra or {}) if choice else {},
            raw=raw,
        )
        pieces.append(piece)
        ids.add(chunk.id)
        finish = (choice.finish_reason if choice else None) or finish
        usage = raw.get("usage") or usage
    line("stream-end", text="".join(pieces), ids=len(ids), finish=finish, usage=usage)


def stream_helper(options, text):
    """The client's own assembly of a stream, which is stricter than reading its chunks."""
    with client(options).chat.completions.stream(**request(options, [user(text)])) as events:
        for event in events:
            line("event", type=event.type)
        show_completion(events.get_final_completion())


def obey(options):
    command, texts = options.command, options.texts
    if command == "chat":
        chat(options, [user(texts[0])])
    elif command == "stream":
        stream(options, texts[0])
    elif command == "stream-helper":
        stream_helper(options, texts[0])
    elif command == "conversation":
        messages = []
        for text in texts:
            messages.append(user(text))
            messages.append({"role": "assistant", "content": chat(options, messages)})
    elif command == "models":
        models = client(options).models.list()
        raw = [model.model_dump(mode="json", exclude_unset=True) for model in models]
        line("models", models=[model["id"] for model in raw], raw=raw)
    elif command == "model":
        model = client(options).models.retrieve(texts[0])
        line("model", model=model.id, raw=model.model_dump(mode="json", exclude_unset=True))
    elif command == "bad-key":
        client(options, key="wrong-key").models.list()
    elif command == "bad-model":
        options.model = "no-such-model"
        chat(options, [user("hello")])
    elif command == "bad-request":
        messages = [{"role": "unknown", "content": 7}]
        client(options).chat.completions.create(**request(options, messages, temperature="hot"))
    elif command == "empty":
        chat(options, [])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", required=True, help="with /v1")
    parser.add_argument("--key", default="no-key")
    parser.add_argument("--model", default="lango")
    parser.add_argument("--user", help="the field `user` of the requests")
    parser.add_argument("--tools", action="store_true", help="offer a tool of the client's own")
    parser.add_argument("--timeout", type=float, default=60)
    commands = "chat stream stream-helper conversation models model bad-key bad-model bad-request empty"
    parser.add_argument("command", choices=commands.split())
    parser.add_argument("texts", nargs="*")
    options = parser.parse_args()
    try:
        obey(options)
    except openai.OpenAIError as error:
        line(
            "error",
            **{"class": type(error).__name__},
            status=getattr(error, "status_code", None),
            code=getattr(error, "code", None),
            type=getattr(error, "type", None),
            param=getattr(error, "param", None),
            message=str(error),
            body=getattr(error, "body", None),
        )
        sys.exit(1)


if __name__ == "__main__":
    main()

"""What the test agents do with a message. The same for all versions of the SDK: what differs (parts,
messages, the first event of a task) is handed in.

  echo TEXT            completed, with the artifact TEXT
  stream N [SECONDS]   working, N chunks of one artifact ("chunk 1 " ...), completed;
                       SECONDS (0.05) before each chunk
  ask [QUESTION]       input required; the next message of the task completes it with "got: ..."
  login                authentication required; continues as `ask` does
  slow SECONDS         works that long, then completed with "slept"; can be cancelled
  reject, fail         rejected, failed, each with a message
  message              a bare message, no task
  headers              completed, with the request's headers as JSON: see HEADERS
  anything else        completed, with the artifact "heard: ..."
"""

import asyncio
import json

# Those that a test may want to see arrive, or not.
HEADERS = [
    "traceparent", "tracestate", "a2a-version", "a2a-extensions", "user-agent", "authorization"
]


async def act(text, continues, headers, updater, part):
    """Plays a task to its end, or to where it needs an answer."""
    word, _, rest = text.strip().partition(" ")

    def saying(words):
        return updater.new_agent_message([part(words)])

    async def finish(artifact):
        await updater.add_artifact([part(artifact)], name="result", last_chunk=True)
        await updater.complete()

    await updater.start_work()
    if continues:
        await finish(f"got: {text}")
    elif word == "echo":
        await finish(rest)
    elif word == "stream":
        await stream(rest, updater, part)
    elif word == "ask":
        await updater.requires_input(saying(rest or "Which colour?"))
    elif word == "login":
        await updater.requires_auth(saying("Sign in, then go on."))
    elif word == "slow":
        await asyncio.sleep(float(rest or "1"))
        await finish("slept")
    elif word == "reject":
        await updater.reject(saying("I do not do this."))
    elif word == "fail":
        await updater.failed(saying("It went wrong."))
    elif word == "headers":
        await finish(json.dumps({name: headers.get(name) for name in HEADERS}))
    else:
        await finish(f"heard: {text}")


async def stream(words, updater, part):
    count, _, pause = words.partition(" ")
    last = int(count or "3")
    for number in range(1, last + 1):
        await asyncio.sleep(float(pause or "0.05"))
        await updater.add_artifact(
            [part(f"chunk {number} ")],
            artifact_id="stream",
            name="result",
            append=number > 1,
            last_chunk=number == last,
        )
    await updater.complete()

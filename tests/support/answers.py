"""A program that answers as the chunker `process` expects it, or in one of many wrong ways."""

import json
import os
import sys
import time

MODE = sys.argv[1]
served = 0

for line in sys.stdin:
    source = json.loads(line)
    text = source["text"]
    served += 1
    chunks = [{"start": 0, "end": len(text)}]
    bad = "bad" in text
    match MODE:
        case "lines":
            count = text.count("\n") + (not text.endswith("\n"))
            chunks = [{"start_line": at, "end_line": at} for at in range(1, count + 1)]
        case "texts":
            chunks = [{"text": one.strip()} for one in text.split("\n\n")]
        case "echo":
            source["served"] = served
            chunks = [{"text": text}]
            print(json.dumps(source), file=sys.stderr, flush=True)
            if bad:
                sys.exit(1)
        case "error" if bad:
            print(json.dumps({"error": f"beyond\n  me, after {served}"}), flush=True)
            continue
        case "hang" if bad:
            print("now it hangs", file=sys.stderr, flush=True)
            time.sleep(1000)
        case "crash" if bad:
            print("first\nlast words", file=sys.stderr, flush=True)
            os.abort()
        case "leave" if bad:
            sys.exit(4)
        case "half" if bad:
            print('{"chunks": [', end="", flush=True)
            sys.exit(0)
        case "garbage" if bad:
            print("Traceback\x1b[31m (most", flush=True)
            continue
        case "flood" if bad:
            while True:
                sys.stdout.write("x" * 100_000)
        case "shout" if bad:
            for _ in range(3_000):
                sys.stderr.write("!" * 1_000 + "\n")
            sys.stderr.write("the end\n")
            sys.stderr.flush()
        case "twice" if bad:
            print('{"chunks": []}\n{"chunks": []}', flush=True)
            continue
        case "late" if bad:
            print('{"chunks": []}', flush=True)
            time.sleep(0.3)
            print("Bye", flush=True)
            continue
        case "answer" if bad:
            print(text.split("bad ")[1].strip(), flush=True)
            continue
    print(json.dumps({"chunks": chunks}), flush=True)

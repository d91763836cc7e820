// Makes it a program for chunkmark: reads a line of JSON for each source, writes a line of JSON.

import { createInterface } from "node:readline";
import { paragraphs } from "./paragraphs.mjs";

for await (const line of createInterface({ input: process.stdin })) {
  const { text, options } = JSON.parse(line);
  let reply;
  try {
    const chunks = paragraphs(text, options.max_size ?? undefined);
    reply = { chunks: chunks.map((chunk) => ({ text: chunk })) };
  } catch (error) {
    reply = { error: String(error) };
  }
  process.stdout.write(JSON.stringify(reply) + "\n");
}

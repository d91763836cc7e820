// What lets chunkmark use it: a line of JSON in for every source, a line of JSON out.

import { createInterface } from "node:readline";
import { paragraphs } from "./paragraphs.mjs";

for await (const line of createInterface({ input: process.stdin })) {
  const { text, options } = JSON.parse(line);
  let answer;
  try {
    const chunks = paragraphs(text, options.max_size ?? undefined);
    answer = { chunks: chunks.map((chunk) => ({ text: chunk })) };
  } catch (error) {
    answer = { error: String(error) };
  }
  process.stdout.write(JSON.stringify(answer) + "\n");
}

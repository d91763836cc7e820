// An ordinary chunker: a function from a text to a list of strings.

/** Paragraphs of a text, joined while they stay within `maxSize` characters. */
export function paragraphs(text, maxSize = 1500) {
  const chunks = [];
  for (const paragraph of text.split(/(?<=\n[ \t\r]*\n)(?=\S)/)) {
    const last = chunks.length - 1;
    if (last >= 0 && chunks[last].length + paragraph.length <= maxSize) {
      chunks[last] += paragraph;
    } else {
      chunks.push(paragraph);
    }
  }
  return chunks;
}

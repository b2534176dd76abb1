import ts from "typescript-js"

/** A text for TypeScript. It says what has changed, so that the rest is not parsed again. */
export function toSnapshot(text: string): ts.IScriptSnapshot {
  return {
    getText: (start, end) => text.slice(start, end),
    getLength: () => text.length,
    getChangeRange(snapshot) {
      const before = snapshot.getText(0, snapshot.getLength())
      // A file with the same text has another version because its imports resolve differently, which
      // TypeScript notices only for a file that it parses.
      return before === text ? undefined : findChangeRange(before, text)
    },
  }
}

/** The part between the common start and the common end of two texts. */
export function findChangeRange(before: string, after: string): ts.TextChangeRange {
  const lengthMin = Math.min(before.length, after.length)
  let start = 0
  while (start < lengthMin && before.charCodeAt(start) === after.charCodeAt(start)) start += 1
  let end = 0
  while (
    end < lengthMin - start &&
    before.charCodeAt(before.length - 1 - end) === after.charCodeAt(after.length - 1 - end)
  )
    end += 1
  const span = ts.createTextSpan(start, before.length - start - end)
  return ts.createTextChangeRange(span, after.length - start - end)
}

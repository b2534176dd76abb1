/** The languages that are highlighted. */
export type Language = "json" | "ts" | "shell" | "text"

/** A part of the code with one colour. */
export interface CodePart {
  readonly text: string
  readonly kind: "plain" | "key" | "string" | "number" | "word" | "comment"
}

const kinds = ["key", "string", "number", "word", "comment"] as const

// Each pattern has the named groups of `kinds`; the rest is plain.
const patterns: Readonly<Record<Exclude<Language, "text">, RegExp>> = {
  json: /(?<key>"[^"\\]*(?:\\.[^"\\]*)*"(?=\s*:))|(?<string>"[^"\\]*(?:\\.[^"\\]*)*")|(?<word>\b(?:true|false|null)\b)|(?<number>-?\b\d[\d.eE+-]*)/g,
  ts: /(?<comment>\/\/.*|\/\*[\s\S]*?(?:\*\/|$))|(?<string>"[^"\\\n]*(?:\\.[^"\\\n]*)*"|(?<!\w)'[^'\\\n]*(?:\\.[^'\\\n]*)*'|`[^`]*`)|(?<word>(?<![\w)\]]\.)\b(?:as|async|await|break|case|catch|class|const|continue|default|delete|do|else|export|extends|false|finally|for|from|function|if|implements|import|in|instanceof|interface|let|new|null|of|return|satisfies|switch|this|throw|true|try|type|typeof|undefined|var|while|yield)\b(?!\??:))|(?<key>\b\w+(?=:))|(?<number>\b\d[\d._]*\b)/g,
  shell: /(?<comment>^#.*)|(?<string>'[^']*'|"[^"]*")|(?<word>^\w+|(?<=\s)--?[a-zA-Z][\w-]*)/gm,
}

// Each token becomes an element; longer text is shown plain, so that it does not block the page.
const highlightCharsMax = 60_000

/** Splits code into coloured parts; joined, they are the code again. */
export function highlight(code: string, language: Language): readonly CodePart[] {
  if (language === "text" || code.length > highlightCharsMax) return [{ text: code, kind: "plain" }]
  const parts: CodePart[] = []
  let end = 0
  for (const match of code.matchAll(patterns[language])) {
    if (match.index > end) parts.push({ text: code.slice(end, match.index), kind: "plain" })
    parts.push({
      text: match[0],
      kind: kinds.find((kind) => match.groups?.[kind] !== undefined) ?? "plain",
    })
    end = match.index + match[0].length
  }
  return end < code.length ? [...parts, { text: code.slice(end), kind: "plain" }] : parts
}

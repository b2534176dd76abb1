import type { DocPage } from "./load-pages.ts"
import { toSlug } from "./to-slug.ts"

/** A part of a page that begins with a heading. */
export interface DocSection {
  readonly page: DocPage
  readonly title: string
  readonly href: string
  /** The first line that contains a word of the query. */
  readonly line: string
}

const limits = { sectionsMax: 30, wordsMax: 8 }

/** The sections that contain every word of a query; those with a word in the title come first. */
export function findSections(pages: readonly DocPage[], query: string): readonly DocSection[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean).slice(0, limits.wordsMax)
  if (words.length === 0) return []
  const found = pages.flatMap((page) =>
    splitSections(page.text).flatMap(({ title, text }) => {
      const folded = text.toLowerCase()
      if (!words.every((word) => folded.includes(word))) return []
      const foldedTitle = title.toLowerCase()
      const inTitle = words.filter((word) => foldedTitle.includes(word)).length
      const isPage = title === page.title
      const href = `/docs/${page.name}${isPage ? "" : `#${toSlug(title)}`}`
      return [{ page, title, href, line: findLine(text, words), inTitle }]
    }),
  )
  return found
    .toSorted((a, b) => b.inTitle - a.inTitle)
    .slice(0, limits.sectionsMax)
    .map(({ inTitle: _, ...section }) => section)
}

/** Headings inside of code blocks are comments of a shell. */
function splitSections(text: string): readonly { title: string; text: string }[] {
  const sections: { title: string; lines: string[] }[] = []
  let isCode = false
  for (const line of text.split("\n")) {
    if (line.startsWith("```")) isCode = !isCode
    const [, heading] = isCode ? [] : (/^#{1,4} (.+)$/.exec(line) ?? [])
    if (heading !== undefined) sections.push({ title: toPlain(heading), lines: [line] })
    else sections.at(-1)?.lines.push(line)
  }
  return sections.map(({ title, lines }) => ({ title, text: lines.join("\n") }))
}

function findLine(text: string, words: readonly string[]): string {
  const [, ...lines] = text.split("\n").filter((line) => line.trim() !== "")
  const line = lines.find((each) => words.some((word) => each.toLowerCase().includes(word)))
  return toPlain(line ?? lines[0] ?? "")
}

/** Markdown without the signs of emphasis, code and links. */
function toPlain(line: string): string {
  return line
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/[`*|]/g, "")
    .trim()
}

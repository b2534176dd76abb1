/** Where a script goes into a page: a position, `later` if that needs more of the page, or `none`. */
export type ScriptPlace = number | "later" | "none"

/** How far a beginning was read, so that more of it is not read from the start again. */
export interface Reading {
  /** After the last complete token. */
  at: number
  /** Whether a doctype was seen. Nothing may be inserted before one. */
  hasDoctype: boolean
  hasRoot: boolean
  /** Whether a token has begun that lacks nothing but its end, a `>`. */
  isOpen: boolean
}

const space = /[\t\n\f\r ]*/y
const byteOrderMark = "\u00ef\u00bb\u00bf"
/** The longest beginning of a token that decides what it is, as `<!doctype`, and one more. */
const openingCharsMax = 10

/**
 * Finds the place for a script that runs before all others of a page and changes nothing else: behind
 * the doctype, the comments, `<html>` and `<head>` that the page begins with. Before the doctype it
 * would change how the page is laid out, and before `<html>` and `<head>` these would lose their
 * attributes. `text` has a character for each byte.
 */
export function findScriptPlace(text: string, reading: Reading, isWhole: boolean): ScriptPlace {
  if (reading.at === 0) {
    if (text.length < byteOrderMark.length && !isWhole) return "later"
    if (/^(?:\u00fe\u00ff|\u00ff\u00fe)/.test(text)) return "none"
    if (text.startsWith(byteOrderMark)) reading.at = byteOrderMark.length
  }
  for (;;) {
    space.lastIndex = reading.at
    space.test(text)
    const at = space.lastIndex
    const opening = text.slice(at, at + openingCharsMax).toLowerCase()
    const isCut = opening.length < openingCharsMax && !isWhole
    if (isCut && (opening === "" || (opening.startsWith("<") && !opening.includes(">"))))
      return "later"
    const isHead = /^<head[\t\n\f\r />]/.test(opening)
    const isRoot = /^<html[\t\n\f\r />]/.test(opening)
    // A doctype behind `<html>` is none.
    const isSkipped = /^<[!?]/.test(opening) && !(reading.hasRoot && /^<!d/.test(opening))
    if (!isHead && !isRoot && !isSkipped) return at
    const end = isSkipped ? findDeclarationEnd(text, at) : findTagEnd(text, at)
    reading.isOpen = end === undefined
    if (end === undefined) return isWhole ? "none" : "later"
    if (isHead) return end
    reading.hasDoctype ||= opening.startsWith("<!doctype")
    reading.hasRoot ||= isRoot
    reading.at = end
  }
}

/** The end of a comment, a doctype or what browsers read as a comment. */
function findDeclarationEnd(text: string, at: number): number | undefined {
  if (!text.startsWith("<!--", at)) return findAfter(text, ">", at)
  for (const empty of ["<!-->", "<!--->"]) if (text.startsWith(empty, at)) return at + empty.length
  const end = /--!?>/g
  end.lastIndex = at + "<!--".length
  return end.test(text) ? end.lastIndex : undefined
}

/** The end of a tag with attributes, whose quoted values may contain `>`. */
function findTagEnd(text: string, start: number): number | undefined {
  const skip = (part: RegExp, from: number) => {
    part.lastIndex = from
    part.test(text)
    return part.lastIndex
  }
  for (let at: number | undefined = start + "<html".length; at !== undefined; ) {
    at = skip(/[\t\n\f\r /]*/y, at)
    if (at >= text.length) return undefined
    if (text[at] === ">") return at + 1
    // A name may begin with the sign, and contain quotes.
    const next = skip(space, skip(/=?[^\t\n\f\r />=]*/y, at))
    at = next
    if (text[next] !== "=") continue
    const value = skip(space, next + 1)
    const quote = text[value]
    at =
      quote === '"' || quote === "'"
        ? findAfter(text, quote, value + 1)
        : skip(/[^\t\n\f\r >]*/y, value)
  }
  return undefined
}

function findAfter(text: string, end: string, from: number): number | undefined {
  const at = text.indexOf(end, from)
  return at < 0 ? undefined : at + 1
}

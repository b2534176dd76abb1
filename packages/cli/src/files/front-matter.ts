import { limits, valNamePattern } from "@hamlet/contract/limits"
import { privacies, valTypes } from "@hamlet/contract/lists"
import { CliError } from "../cli-error.ts"
import type { Privacy, ValType } from "../vals.ts"

/** The settings in the first line of a file. */
export interface FrontMatter {
  readonly name?: string
  readonly privacy?: Privacy
  readonly type?: ValType
}

/** A file, split into front matter and code. */
export interface FileParts {
  readonly front: FrontMatter
  /** The val's code, byte for byte. */
  readonly code: string
}

const start = "// hamlet:"

/**
 * Splits a file. The front matter is one line, so that line numbers of errors are off by one at
 * most: `// hamlet: name=hello privacy=public type=http`. It belongs to the file, not to the code:
 * it is removed before saving and added after fetching. A value with spaces or quotes is a JSON
 * string.
 */
export function parseFile(text: string, source: string): FileParts {
  const whole = text.replace(/^\ufeff/, "")
  if (!whole.startsWith(start)) return { front: {}, code: whole }
  const end = whole.indexOf("\n")
  const line = whole.slice(start.length, end === -1 ? undefined : end)
  return { front: parseFields(line, source), code: end === -1 ? "" : whole.slice(end + 1) }
}

/** Joins front matter and code. */
export function formatFile({ front, code }: FileParts): string {
  const fields = Object.entries(front).filter(([, value]) => value !== undefined)
  // An empty line of front matter keeps the code after it from being parsed as front matter, or as
  // a byte order mark.
  if (fields.length === 0 && !code.startsWith(start) && !code.startsWith("\ufeff")) return code
  return `${[start, ...fields.map(([name, value]) => `${name}=${toValue(value)}`)].join(" ")}\n${code}`
}

function toValue(value: string): string {
  return /^[^\s"]+$/.test(value) ? value : JSON.stringify(value)
}

function parseFields(line: string, source: string): FrontMatter {
  const fields: Record<string, string> = {}
  const pattern = /\s*(?:([a-z]+)=("(?:[^"\\]|\\.)*"|[^\s"]+)(?=\s|$)|(\S+))/gy
  for (const [, name, value = "", rest] of line.trim().matchAll(pattern)) {
    if (name === undefined) throw refuse(source, `"${rest}" is not a field`)
    if (name in fields) throw refuse(source, `it has "${name}" twice`)
    fields[name] = value.startsWith('"') ? fromJson(value, source) : value
  }
  return assertFields(fields, source)
}

function fromJson(text: string, source: string): string {
  try {
    return JSON.parse(text)
  } catch {
    throw refuse(source, `${text} is not a JSON string`)
  }
}

function assertFields(fields: Readonly<Record<string, string>>, source: string): FrontMatter {
  for (const [name, value] of Object.entries(fields)) {
    const isGood = checks[name as keyof FrontMatter]
    if (!isGood) throw refuse(source, `"${name}" is not one of ${Object.keys(checks).join(", ")}`)
    if (!isGood(value)) throw refuse(source, `"${value}" is not a valid ${name}`)
  }
  return fields
}

const checks: Readonly<Record<keyof FrontMatter, (value: string) => boolean>> = {
  name: isValName,
  privacy: (value) => (privacies as readonly string[]).includes(value),
  type: (value) => (valTypes as readonly string[]).includes(value),
}

function refuse(source: string, problem: string): CliError {
  return new CliError("usage", `Cannot read the first line of "${source}": ${problem}`, {
    advice: 'it should look like "// hamlet: name=hello privacy=public type=http"',
  })
}

/** Whether a text is a valid name of a val. */
export function isValName(text: string): boolean {
  return valNamePattern.test(text) && text.length <= limits.nameCharsMax
}

import { type HeaderList, isHopByHopHeader } from "@hamlet/http1"
import { toRegExp } from "@hamlet/kit"
import type { Substitution } from "../../program/outgoing-request.ts"

/** Receives a sentence for the program's owner: why a placeholder was not replaced. */
export type ReportUnreplaced = (sentence: string) => void

const limits = {
  /**
   * How much one request may grow. A value can be 32 KB long, and a header can contain its
   * placeholder a thousand times.
   */
  charsAddedMax: 131_072,
  /** Sentences about one request, and the characters of a header's name in them. */
  sentencesMax: 10,
  nameCharsMax: 100,
}

/**
 * Replaces placeholders by the values of their secrets, in the header values of a request to one of
 * their hosts and nowhere else. `host` is in lower case, with its port unless that is the default
 * one. `isTrusted`: the connection is encrypted, or the operator has allowed the host.
 */
export function substituteSecrets(
  headers: HeaderList,
  host: string,
  isTrusted: boolean,
  substitutions: readonly Substitution[],
  report: ReportUnreplaced = () => {},
): HeaderList {
  if (substitutions.length === 0) return headers
  const finder = getFinder(substitutions)
  const hostKey = toHostKey(host)
  let charsAdded = 0
  const sentences = new Set<string>()

  const toValue = (name: string, encoding: Encoding) => (found: Substitution) => {
    if (!found.hosts.some((entry) => toHostKey(entry) === hostKey)) return undefined
    const value = encoding.toText(found.value)
    const reason = findReason(name, isTrusted, encoding, found.value, charsAdded + value.length)
    if (reason === undefined) {
      charsAdded += value.length
      return value
    }
    if (sentences.size < limits.sentencesMax)
      sentences.add(
        `Cannot replace "${found.placeholder}" in header "${name.slice(0, limits.nameCharsMax)}" by its secret: ${reason}`,
      )
    return undefined
  }

  const replaced = headers.map(([name, value]) => {
    const key = name.toLowerCase()
    const credentials = key === "authorization" ? basicPattern.exec(value) : null
    if (!credentials) return [name, replace(value, finder, toValue(key, plain))] as const
    const [, scheme = "", encoded = ""] = credentials
    const before = Buffer.from(encoded, "base64").toString("latin1")
    const after = replace(before, finder, toValue(key, basic))
    return [
      name,
      after === before ? value : `${scheme}${Buffer.from(after, "latin1").toString("base64")}`,
    ] as const
  })
  for (const sentence of sentences) report(sentence)
  return replaced
}

/** Basic authentication: user and password are encoded, so placeholders show after decoding. */
const basicPattern = /^(basic +)([a-z0-9+/]+=*)$/i

/** How a value is written where its placeholder was. */
interface Encoding {
  toText(value: string): string
  readonly allowed: RegExp
}

/**
 * The bytes of other characters depend on the program that writes the header, and a line break
 * would start another header.
 */
const plain: Encoding = { toText: (value) => value, allowed: /^[\t\x20-\x7e]*$/ }

/** The bytes of UTF-8 as characters. Control characters are invalid in Basic authentication. */
const basic: Encoding = {
  toText: (value) => Buffer.from(value, "utf8").toString("latin1"),
  allowed: /^\P{Cc}*$/u,
}

/** Whether the header says where a request goes, how long it is or how its connection is used. */
function isFixedHeader(name: string): boolean {
  return (
    isHopByHopHeader(name) ||
    name === "content-length" ||
    name === "expect" ||
    name === "host" ||
    name.startsWith("sec-websocket-")
  )
}

function findReason(
  name: string,
  isTrusted: boolean,
  encoding: Encoding,
  value: string,
  charsAdded: number,
): string | undefined {
  if (!isTrusted) return "the request is not encrypted"
  if (isFixedHeader(name)) return "this header cannot contain secrets"
  if (!encoding.allowed.test(value))
    return "its value contains characters that a header cannot contain"
  return charsAdded > limits.charsAddedMax ? "the headers would become too large" : undefined
}

/** Without a dot at the end of the name and without the default port of https. */
function toHostKey(host: string): string {
  return host
    .toLowerCase()
    .replace(/:443$/, "")
    .replace(/\.(?=:\d+$|$)/, "")
}

interface Finder {
  readonly pattern: RegExp
  readonly byPlaceholder: ReadonlyMap<string, Substitution>
}

/** A process sends many requests with the same substitutions. */
const finders = new WeakMap<readonly Substitution[], Finder>()

function getFinder(substitutions: readonly Substitution[]): Finder {
  const finder = finders.get(substitutions) ?? createFinder(substitutions)
  finders.set(substitutions, finder)
  return finder
}

/** The placeholders of as many secrets as a user and a program can have, escaped. */
const patternCharsMax = 500_000

/**
 * Finds all placeholders, including those for other hosts, and the longest first: the placeholder of
 * KEY must not match within that of KEY2.
 */
function createFinder(substitutions: readonly Substitution[]): Finder {
  const byPlaceholder = new Map(
    substitutions.map((substitution) => [substitution.placeholder, substitution]),
  )
  const longestFirst = [...byPlaceholder.keys()].sort((left, right) => right.length - left.length)
  return {
    pattern: toRegExp(
      longestFirst.map((text) => RegExp.escape(text)).join("|"),
      "g",
      patternCharsMax,
    ),
    byPlaceholder,
  }
}

/** Replaces in one pass, so that placeholders within a value are kept. */
function replace(
  text: string,
  { pattern, byPlaceholder }: Finder,
  toValue: (found: Substitution) => string | undefined,
): string {
  return text.replace(pattern, (placeholder) => {
    const found = byPlaceholder.get(placeholder)
    return (found && toValue(found)) ?? placeholder
  })
}

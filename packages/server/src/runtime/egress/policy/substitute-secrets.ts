import type { Substitution } from "../../../domain/egress.ts"
import type { HeaderList } from "../../../domain/runs/runner.ts"
import { isHopByHopHeader } from "../../../shared/hop-by-hop-headers.ts"

/**
 * Says, in a sentence for the val's owner, why a placeholder was left where the value would have
 * been expected.
 */
export type ReportUnreplaced = (sentence: string) => void

const limits = {
  /**
   * By how much one request may grow: a value may be 32 KB, and its placeholder may stand in a
   * header a thousand times.
   */
  charsAddedMax: 131_072,
}

/**
 * Puts the values of secrets in place of their placeholders, in the values of headers of a request
 * to one of their hosts; nothing else is touched. `host` is in lower case, with its port unless
 * that is the usual one. `isTrusted` says that nobody on the way reads along: the connection is
 * encrypted, or the operator has named the host as one of their own.
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
    sentences.add(
      `Cannot put a secret in place of "${found.placeholder}" in header "${name}": ${reason}`,
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

/**
 * User and password as everybody writes them: a placeholder in there is only seen after decoding.
 */
const basicPattern = /^(basic +)([a-z0-9+/]+=*)$/i

/** What becomes of a value where it is put. */
interface Encoding {
  toText(value: string): string
  readonly allowed: RegExp
}

/**
 * Other characters than these would be bytes that depend on who writes the header, and a line break
 * would begin another header.
 */
const plain: Encoding = { toText: (value) => value, allowed: /^[\t\x20-\x7e]*$/ }

/** Bytes as characters, in UTF-8; control characters are not for user names and passwords. */
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
  if (isFixedHeader(name)) return "this header is not for secrets"
  if (!encoding.allowed.test(value))
    return "the value has characters that cannot be sent in a header"
  return charsAdded > limits.charsAddedMax ? "the headers would become too large" : undefined
}

/** Without the dot of the root and the port that an encrypted connection has anyway. */
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

/** A process keeps its substitutions, and sends many requests. */
const finders = new WeakMap<readonly Substitution[], Finder>()

function getFinder(substitutions: readonly Substitution[]): Finder {
  const finder = finders.get(substitutions) ?? createFinder(substitutions)
  finders.set(substitutions, finder)
  return finder
}

/**
 * All placeholders, the longest first, those for other hosts included: KEY must not be found in the
 * placeholder of KEY2.
 */
function createFinder(substitutions: readonly Substitution[]): Finder {
  const byPlaceholder = new Map(
    substitutions.map((substitution) => [substitution.placeholder, substitution]),
  )
  const longestFirst = [...byPlaceholder.keys()].sort((left, right) => right.length - left.length)
  return {
    pattern: new RegExp(longestFirst.map((text) => RegExp.escape(text)).join("|"), "g"),
    byPlaceholder,
  }
}

/** One pass: what a value brings along is not looked at again. */
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

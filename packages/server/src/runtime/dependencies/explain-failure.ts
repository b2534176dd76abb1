import type { OutgoingRequest } from "../../domain/egress.ts"
import type { ImportFailure } from "./tool/tool-messages.ts"

/** Why an import came to nothing, in a sentence, and whether it may be different later. */
export interface Explanation {
  /** What follows `Cannot import "…": `. */
  readonly error: string
  readonly isTemporary: boolean
}

/** Says in words of ours what Deno or esbuild said, with what the way out knows of it. */
export function explainFailure(
  failure: ImportFailure,
  requests: readonly OutgoingRequest[],
): Explanation {
  const explained = explain(failure, requests)
  return failure.about === null
    ? explained
    : { ...explained, error: `it imports "${failure.about}": ${explained.error}` }
}

const messageCharsMax = 300

type Rule = readonly [
  RegExp,
  (match: RegExpExecArray, requests: readonly OutgoingRequest[]) => Explanation,
]

function explain(
  { message, from }: ImportFailure,
  requests: readonly OutgoingRequest[],
): Explanation {
  if (from === "us") return lasting(message)
  for (const [pattern, toExplanation] of from === "deno" ? denoRules : esbuildRules) {
    const match = pattern.exec(message)
    if (match) return toExplanation(match, requests)
  }
  const first = cut(message.split("\n")[0] ?? "")
  return lasting(
    from === "deno" ? `it cannot be fetched: ${first}` : `it cannot be bundled: ${first}`,
  )
}

const noVersion = "the registry has no version that fits"

/** The first that fits counts. */
const denoRules: readonly Rule[] = [
  [
    /No space left on device|os error 28\b/,
    () => lasting("what it needs is larger than the limit"),
  ],
  [
    /npm package '(.+)' does not exist/,
    ([, name]) => lasting(`there is no package "${name}" in the registry`),
  ],
  [
    /JSR package not found: (\S+)/,
    ([, name]) => lasting(`there is no package "${name}" in the registry`),
  ],
  [
    /Could not find npm package '(.+)' matching '(.*)'/,
    ([, name, range]) => lasting(`${noVersion} "${name}@${range}"`),
  ],
  [
    /Could not find dist-tag '(.*)' for npm package '(.+)'/,
    ([, tag, name]) => lasting(`${noVersion} "${name}@${tag}"`),
  ],
  [
    /Could not find version of '(.+)' that matches .*'(.*)'/,
    ([, name, range]) => lasting(`${noVersion} "${name}@${range}"`),
  ],
  [
    /Unknown export '(.+?)' for '(.+?)'/,
    ([, name, id]) => lasting(`"${id}" does not export "${name}"`),
  ],
  [
    /Tarball checksum did not match .* for (\S+)\./,
    ([, id]) => lasting(`what the registry gives for "${id}" is not what it promises`),
  ],
  [
    /Could not find npm package tarball at: (\S+)/,
    ([, url = ""], requests) => explainUrl(url, requests, undefined),
  ],
  [
    /Failed loading (\S+) for package/,
    ([, url = ""], requests) => explainUrl(url, requests, undefined),
  ],
  [
    /Import '([^']+)' failed(?:: (\d{3}))?/,
    ([, url = "", status], requests) => explainUrl(url, requests, status),
  ],
  [/Module not found "([^"]+)"/, ([, url = ""], requests) => explainUrl(url, requests, "404")],
  [
    /Failed caching npm package '(.+?)'[\s\S]*Bad response: (\d{3})/,
    ([, id, status]) => explainStatus(`for "${id}" the registry`, Number(status)),
  ],
  [
    /error sending request|connection (?:closed|reset|error)|error decoding response body/i,
    () => passing("the connection broke off"),
  ],
  [
    /Failed caching npm package '(.+?)'\s+0: ([^\n]+)/,
    ([, id, why = ""]) => lasting(`"${id}" cannot be unpacked: ${cut(why)}`),
  ],
  [/Invalid (?:package|npm|jsr) specifier/i, () => lasting("it does not name a package")],
  [
    /pending module load never completed|[Tt]oo many redirects/,
    () => lasting("it is redirected again and again"),
  ],
  [
    /Expected a JavaScript or TypeScript module/,
    () => lasting("it is neither JavaScript nor TypeScript"),
  ],
  [/SyntaxError: ([^\n]+)/, ([, what = ""]) => lasting(`its code cannot be read: ${cut(what)}`)],
  [
    /not prefixed with \/ or \.\/ or \.\.\/|not a dependency/,
    () => lasting("it is the name of no module"),
  ],
  [/^It is not there$/, () => lasting("it cannot be had together with the others")],
]

const esbuildRules: readonly Rule[] = [
  [/[Tt]op-level await/, () => lasting("it uses top-level await, which packages of vals cannot")],
  [
    /No loader is configured for "(\.?\w+)" files/,
    ([, kind]) => lasting(`it needs a file of a kind that cannot be bundled (${kind})`),
  ],
  [
    /Could not resolve "([^"]+)"/,
    ([, name]) => lasting(`there is no "${name}" in what the registry or the server gives`),
  ],
]

/** What came of a request, if there was one. */
function explainUrl(
  url: string,
  requests: readonly OutgoingRequest[],
  answered: string | undefined,
): Explanation {
  const request = requests.findLast((one) => one.url === url)
  const status = request?.status ?? (answered === undefined ? undefined : Number(answered))
  // The way out says no with 403; a name that nobody knows now may be known later.
  if (request?.blocked && answered === "403" && !unknownName.test(request.blocked))
    return lasting(`blocked: ${request.blocked}`)
  if (request?.blocked) return passing(request.blocked)
  if (status === undefined) return passing(`${toHost(url)} did not answer`)
  return explainStatus(toHost(url), status)
}

const unknownName = /cannot be found$|not found in time$|cannot be looked up/

function explainStatus(who: string, status: number): Explanation {
  if (status < 300) return lasting(`what ${who} gives makes no sense`)
  if (status < 400) return lasting(`${who} redirects it to what cannot be had`)
  const error = `${who} answered ${status}`
  return status >= 500 || status === 429 || status === 408 ? passing(error) : lasting(error)
}

function toHost(url: string): string {
  return URL.parse(url)?.host || "the server"
}

function lasting(error: string): Explanation {
  return { error, isTemporary: false }
}

function passing(error: string): Explanation {
  return { error, isTemporary: true }
}

function cut(text: string): string {
  return text.length <= messageCharsMax ? text : `${text.slice(0, messageCharsMax - 1)}…`
}

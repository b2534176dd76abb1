import type { OutgoingRequest } from "@hamlet/sandbox"
import type { ImportRules } from "./import-rules.ts"
import type { ImportFailure } from "./tool/tool-messages.ts"

/** Why an import failed, in a sentence, and whether it may work later. */
export interface Explanation {
  /** The text after `Cannot import "…": `. */
  readonly error: string
  readonly isTemporary: boolean
}

/** Explains a message of Deno or esbuild. `requests` are the requests that they sent. */
export function explainFailure(
  failure: ImportFailure,
  requests: readonly OutgoingRequest[],
  rules: Pick<ImportRules, "describeMissing">,
): Explanation {
  const explained = explain(failure, { requests, ...rules })
  return failure.about === null
    ? explained
    : { ...explained, error: `it imports "${failure.about}": ${explained.error}` }
}

const messageCharsMax = 300

interface Facts extends Pick<ImportRules, "describeMissing"> {
  readonly requests: readonly OutgoingRequest[]
}

/** A text is the reason of a failure that will last. */
type Rule = readonly [RegExp, (match: RegExpExecArray, facts: Facts) => string | Explanation]

function explain({ message, from }: ImportFailure, facts: Facts): Explanation {
  if (from === "us") return lasting(message)
  for (const [pattern, toExplanation] of from === "deno" ? denoRules : esbuildRules) {
    const match = pattern.exec(message)
    if (!match) continue
    const explained = toExplanation(match, facts)
    return typeof explained === "string" ? lasting(explained) : explained
  }
  const first = truncate(message.split("\n")[0] ?? "")
  return lasting(
    from === "deno" ? `it cannot be fetched: ${first}` : `it cannot be bundled: ${first}`,
  )
}

const noVersion = "the registry has no version that fits"

/** The first match counts. */
const denoRules: readonly Rule[] = [
  [/No space left on device|os error 28\b/, () => "what it needs is larger than the limit"],
  [
    /npm package '(.+)' does not exist/,
    ([, name]) => `there is no package "${name}" in the registry`,
  ],
  [/JSR package not found: (\S+)/, ([, name]) => `there is no package "${name}" in the registry`],
  [
    /Could not find npm package '(.+)' matching '(.*)'/,
    ([, name, range]) => `${noVersion} "${name}@${range}"`,
  ],
  [
    /Could not find dist-tag '(.*)' for npm package '(.+)'/,
    ([, tag, name]) => `${noVersion} "${name}@${tag}"`,
  ],
  [
    /Could not find version of '(.+)' that matches .*'(.*)'/,
    ([, name, range]) => `${noVersion} "${name}@${range}"`,
  ],
  [/Unknown export '(.+?)' for '(.+?)'/, ([, name, id]) => `"${id}" does not export "${name}"`],
  [
    /Tarball checksum did not match .* for (\S+)\./,
    ([, id]) => `the checksum of "${id}" is not the one that the registry lists`,
  ],
  [
    /Could not find npm package tarball at: (\S+)/,
    ([, url = ""], facts) => explainUrl(url, facts, undefined),
  ],
  [/Failed loading (\S+) for package/, ([, url = ""], facts) => explainUrl(url, facts, undefined)],
  [
    /Import '([^']+)' failed(?:: (\d{3}))?/,
    ([, url = "", status], facts) => explainUrl(url, facts, status),
  ],
  [/Module not found "([^"]+)"/, ([, url = ""], facts) => explainUrl(url, facts, "404")],
  [
    /Failed caching npm package '(.+?)'[\s\S]*Bad response: (\d{3})/,
    ([, id, status]) => explainStatus(`the registry, asked for "${id}",`, Number(status)),
  ],
  [
    /error sending request|connection (?:closed|reset|error)|error decoding response body/i,
    () => temporary("the connection was interrupted"),
  ],
  [
    /Failed caching npm package '(.+?)'\s+0: ([^\n]+)/,
    ([, id, why = ""]) => `"${id}" cannot be unpacked: ${truncate(why)}`,
  ],
  [/Invalid (?:package|npm|jsr) specifier/i, () => "it does not name a package"],
  [/pending module load never completed|[Tt]oo many redirects/, () => "it has too many redirects"],
  [/Expected a JavaScript or TypeScript module/, () => "it is neither JavaScript nor TypeScript"],
  [/SyntaxError: ([^\n]+)/, ([, what = ""]) => `its code cannot be parsed: ${truncate(what)}`],
  [/not prefixed with \/ or \.\/ or \.\.\/|not a dependency/, () => "it does not name a module"],
  [/^It is missing$/, () => "it cannot be resolved together with the other imports"],
]

const esbuildRules: readonly Rule[] = [
  [
    /No loader is configured for "(\.?\w+)" files/,
    ([, kind]) => `it needs a file of a kind that cannot be bundled (${kind})`,
  ],
  [
    /Could not resolve "([^"]+)"/,
    ([, name]) => `neither the registry nor the server has "${name}"`,
  ],
]

/** Explains by the request for the URL, if there was one. What neither side has is said for both. */
function explainUrl(
  url: string,
  { requests, describeMissing }: Facts,
  reportedStatus: string | undefined,
): Explanation {
  const explanation = explainRequest(url, requests, reportedStatus)
  const missing = describeMissing(url)
  return missing === undefined
    ? explanation
    : { ...explanation, error: `${missing}, and ${explanation.error}` }
}

function explainRequest(
  url: string,
  requests: readonly OutgoingRequest[],
  reportedStatus: string | undefined,
): Explanation {
  const request = requests.findLast((one) => one.url === url)
  const status =
    request?.status ?? (reportedStatus === undefined ? undefined : Number(reportedStatus))
  // The egress proxy blocks with 403. A host name that does not exist now may exist later.
  if (request?.blocked && reportedStatus === "403" && !unknownName.test(request.blocked))
    return lasting(`blocked: ${request.blocked}`)
  if (request?.blocked) return temporary(request.blocked)
  if (status === undefined) return temporary(`${toHost(url)} did not respond`)
  return explainStatus(toHost(url), status)
}

const unknownName = /cannot be found$|not found in time$|cannot be looked up/

function explainStatus(server: string, status: number): Explanation {
  if (status < 300) return lasting(`${server} sent an invalid response`)
  if (status < 400) return lasting(`${server} redirects it to an address that cannot be fetched`)
  const error = `${server} responded with ${status}`
  return status >= 500 || status === 429 || status === 408 ? temporary(error) : lasting(error)
}

function toHost(url: string): string {
  return URL.parse(url)?.host || "the server"
}

function lasting(error: string): Explanation {
  return { error, isTemporary: false }
}

function temporary(error: string): Explanation {
  return { error, isTemporary: true }
}

function truncate(text: string): string {
  return text.length <= messageCharsMax ? text : `${text.slice(0, messageCharsMax - 1)}…`
}

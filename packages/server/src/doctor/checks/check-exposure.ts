import { type Config, isForOthers } from "../../config/config.ts"
import { about, type Finding, type Findings } from "../finding.ts"

const check = about("exposure")

/**
 * Whether the settings fit the exposure: the protections of a public server are enabled only if it
 * knows that it is public.
 */
export function checkExposure(config: Config): Findings {
  if (!config.isPublic) {
    if (!isForOthers(config)) return check.fine("for this machine only, without rate limits")
    const found = `it listens on ${config.host} without rate limits, because HAMLET_PUBLIC is no`
    return check.warning(
      found,
      "leave HAMLET_PUBLIC out, unless all machines on that network are trusted",
    )
  }
  const problems = [...listAddressProblems(config), ...listRateProblems(config)]
  return problems.length > 0
    ? problems
    : check.fine(`for others, at ${config.baseUrl}, with rate limits`)
}

function listAddressProblems({ baseUrl, valsDomain }: Config): Findings {
  const { protocol, hostname } = new URL(baseUrl)
  const domain = valsDomain.replace(/:\d+$/, "")
  const problems: Finding[] = []
  if (protocol !== "https:")
    problems.push(
      ...check.warning(
        `${baseUrl} is not encrypted: tokens and sessions can be read on the way`,
        "put a proxy with TLS before it",
      ),
    )
  if (isRelated(hostname, domain))
    problems.push(
      ...check.warning(
        `vals answer below ${domain}, which browsers take for the same site as ${hostname}`,
        "set HAMLET_VALS_DOMAIN to a domain on which nothing else is; docs/self-hosting.md has a recipe",
      ),
    )
  return problems
}

function listRateProblems({
  host,
  addressHeader,
  ratePerToken,
  ratePerAddress,
  ...config
}: Config): Findings {
  const problems: Finding[] = []
  // A server that listens on loopback and is public must be behind a proxy on this machine.
  if (!isForOthers({ host, isPublic: false }) && addressHeader === undefined)
    problems.push(
      ...check.warning(
        `it listens on ${host} and serves others, so that all who come through the proxy count as one address`,
        "set HAMLET_ADDRESS_HEADER=x-forwarded-for if the proxy sends that header",
      ),
    )
  const rates = {
    RATE_PER_TOKEN: ratePerToken,
    RATE_PER_ADDRESS: ratePerAddress,
    RUNS_PER_MINUTE: config.allowances.runsPerMinute,
  }
  const off = Object.entries(rates).flatMap(([name, rate]) =>
    rate === undefined ? [`HAMLET_${name}`] : [],
  )
  if (off.length > 0)
    problems.push(
      ...check.warning(
        `${off.join(" and ")} is none, and the server is for others`,
        "leave it out, or set a number",
      ),
    )
  return problems
}

/** Short second-level names are often public suffixes, such as `co` in `co.uk`. */
const registrableCharsMin = 4

/** Whether two hosts belong to one registrable domain, judged by their names. */
function isRelated(one: string, other: string): boolean {
  const [mine, theirs] = [one.split(".").reverse(), other.split(".").reverse()]
  const shared = mine.findIndex((label, index) => label !== theirs[index])
  const count = shared === -1 ? mine.length : shared
  return (
    one === other || count >= 3 || (count === 2 && (mine[1] ?? "").length >= registrableCharsMin)
  )
}

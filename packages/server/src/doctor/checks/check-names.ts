import { lookup } from "node:dns/promises"
import { isIP } from "node:net"
import { orLate } from "@hamlet/kit"
import type { Config } from "../../config/config.ts"
import { about, type Findings, type Topic } from "../finding.ts"
import { doctorLimits } from "../limits.ts"

/** A name that no val has: only a wildcard record resolves it. */
const someVal = "hamlet-doctor"

/** Whether DNS resolves the addresses of vals. */
export async function checkNames({ valsDomain, baseUrl }: Config): Promise<Findings> {
  const domain = valsDomain.replace(/:\d+$/, "")
  const base = new URL(baseUrl).hostname.replace(/^\[|\]$/g, "")
  const findings =
    domain === "localhost"
      ? await judgeLocalhost()
      : await judge(about("names of vals"), `${someVal}.${domain}`, `*.${domain}`)
  return base === "localhost" || isIP(base)
    ? findings
    : [...findings, ...(await judge(about("name of the server"), base, base))]
}

/**
 * Browsers and curl resolve *.localhost themselves; for other programs it depends on the system.
 */
async function judgeLocalhost(): Promise<Findings> {
  const address = await find(`${someVal}.localhost`)
  if (address) return about("names of vals").fine(`*.localhost is ${address}`)
  return about("names of vals").fine(
    "*.localhost: browsers and curl find it by themselves, other programs on this machine do not",
  )
}

async function judge(check: Topic, name: string, wanted: string): Promise<Findings> {
  const address = await find(name)
  if (address) return check.fine(`${wanted} is ${address}`)
  return check.warning(
    `${wanted} is not found`,
    `add a DNS record for ${wanted} that names this server`,
  )
}

function find(name: string): Promise<string | undefined> {
  const found = lookup(name).then(
    ({ address }) => address,
    () => undefined,
  )
  return orLate(found, doctorLimits.answerMsMax, () => undefined)
}

import { lookup } from "node:dns/promises"
import { isIP } from "node:net"
import type { Config } from "../../config/config.ts"
import { type Finding, fine, warning } from "../finding.ts"
import { doctorLimits } from "../limits.ts"

/** A name that no val has: only a wildcard record resolves it. */
const someVal = "hamlet-doctor"

/** Whether DNS resolves the addresses of vals. */
export async function checkNames({ valsDomain, baseUrl }: Config): Promise<readonly Finding[]> {
  const domain = valsDomain.replace(/:\d+$/, "")
  const base = new URL(baseUrl).hostname.replace(/^\[|\]$/g, "")
  const findings = [
    domain === "localhost"
      ? await judgeLocalhost()
      : await judge("names of vals", `${someVal}.${domain}`, `*.${domain}`),
  ]
  return base === "localhost" || isIP(base)
    ? findings
    : [...findings, await judge("name of the server", base, base)]
}

/**
 * Browsers and curl resolve *.localhost themselves; for other programs it depends on the system.
 */
async function judgeLocalhost(): Promise<Finding> {
  const address = await find(`${someVal}.localhost`)
  if (address) return fine("names of vals", `*.localhost is ${address}`)
  return fine(
    "names of vals",
    "*.localhost: browsers and curl find it by themselves, other programs on this machine do not",
  )
}

async function judge(check: string, name: string, wanted: string): Promise<Finding> {
  const address = await find(name)
  if (address) return fine(check, `${wanted} is ${address}`)
  return warning(
    check,
    `${wanted} is not found`,
    `add a DNS record for ${wanted} that names this server`,
  )
}

async function find(name: string): Promise<string | undefined> {
  let timer: NodeJS.Timeout | undefined
  const patience = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), doctorLimits.answerMsMax)
  })
  const found = lookup(name).then(
    ({ address }) => address,
    () => undefined,
  )
  return Promise.race([found, patience]).finally(() => clearTimeout(timer))
}

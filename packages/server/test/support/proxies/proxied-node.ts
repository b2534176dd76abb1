import { chosenToken } from "../server-fixture.ts"
import { proxyNames } from "./start-proxy.ts"

/** The settings of a node behind a proxy of `deploy/`, without the limits that load would reach. */
export const proxiedNode = {
  HAMLET_TOKEN: chosenToken,
  HAMLET_USER: "ada",
  HAMLET_BASE_URL: `https://${proxyNames.api}`,
  HAMLET_VALS_DOMAIN: proxyNames.vals,
  HAMLET_ADDRESS_HEADER: "x-forwarded-for",
  HAMLET_SECRET_KEY: Buffer.alloc(32, 5).toString("base64"),
  HAMLET_RATE_PER_ADDRESS: "none",
  HAMLET_RATE_PER_TOKEN: "none",
  HAMLET_RUNS_PER_MINUTE: "none",
  HAMLET_STORAGE_REQUESTS_PER_MINUTE: "none",
  HAMLET_METRICS_PORT: "0",
}

/** The host name of a val of the first user. */
export function toValHost(name: string): string {
  return `ada-${name}.${proxyNames.vals}`
}

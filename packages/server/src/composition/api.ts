import { join } from "node:path"
import {
  createRateLimiter,
  LoopDelay,
  minuteMs,
  prepareOnce,
  type RateLimits,
  SharedRates,
  type Sharing,
} from "@hamlet/kit"
import { openApp } from "@hamlet/web"
import packageJson from "../../package.json" with { type: "json" }
import type { Config } from "../config/config.ts"
import { createSessionCookie } from "../http/auth/session-cookie.ts"
import { McpPool } from "../http/mcp/mcp-pool.ts"
import type { ApiParts } from "../http/nouns.ts"
import { createDocPages } from "../http/pages/doc-pages.ts"
import { BodyBudget } from "../http/request/body-budget.ts"
import { LargeBodies } from "../http/request/large-bodies.ts"
import { createLargeSaves } from "../http/request/large-saves.ts"
import type { Links } from "../http/response/links.ts"
import { ResponseRooms } from "../http/response/response-room.ts"
import type { Limits } from "./accounts.ts"
import type { Foundation } from "./foundation.ts"

/** Clients of OAuth that an address may register per minute, and devices that it may sign in. */
const registrationsPerMinute = 20

function createRateLimits(
  { ratePerToken, ratePerAddress }: Config,
  now: () => number,
  sharing: Sharing,
): RateLimits {
  const limit = (name: string, perMinute: number) =>
    createRateLimiter(perMinute, new SharedRates(name, minuteMs, now, sharing))
  return {
    perToken: ratePerToken === undefined ? undefined : limit("token", ratePerToken),
    perAddress: ratePerAddress === undefined ? undefined : limit("address", ratePerAddress),
    registrations: limit("registrations", registrationsPerMinute),
  }
}

/** The pages and limits of the API, and the health of the server as it reports it. */
export function createApi(
  {
    config,
    db,
    schema,
    schemaVersion,
    log,
    databaseHealth,
    slowRequests,
    traces,
    tracer,
    now,
  }: Foundation,
  { refusals, budgets }: Limits,
  links: Links,
) {
  const docsFolder = join(import.meta.dir, "../../../../docs")
  return {
    log,
    slowRequests,
    tracer,
    spanCounts: () => traces?.counts(),
    refusals,
    links,
    providerName: config.oidc?.name ?? null,
    version: packageJson.version,
    sessionCookie: createSessionCookie(config.baseUrl),
    valsDomain: config.valsDomain,
    metricsAccess: {
      hasOwnPort: config.metricsPort !== undefined,
      token: config.metricsToken,
    },
    bodyBytesMax: config.bodyBytesMax,
    mailBodyBytesMax: Math.max(config.bodyBytesMax, config.emails.bytesMax),
    hasAddressesInLog: config.hasAddressesInLog,
    allowsAnonymousRuns: config.allowsAnonymousRuns,
    bodyBudget: new BodyBudget(),
    largeBodies: new LargeBodies(),
    largeSaves: createLargeSaves(),
    responseRooms: new ResponseRooms(),
    mcpPool: new McpPool(docsFolder, log),
    loopDelay: new LoopDelay(),
    rateLimits: createRateLimits(config, now, budgets),
    docs: createDocPages(docsFolder),
    webApp: prepareOnce(() => openApp(join(config.dataDir, "web"))),
    async checkDatabase() {
      await db.ping()
      await schema.check()
      return { database: db.dialect.name, schemaVersion }
    },
    databaseStats: () => ({ ...db.stats(), ...databaseHealth() }),
  } satisfies Partial<ApiParts>
}

import { join } from "node:path"
import { buildDocsPage, openApp, type WebApp } from "@hamlet/web"
import packageJson from "../../package.json" with { type: "json" }
import { createSessionCookie } from "../http/auth/session-cookie.ts"
import type { ApiParts } from "../http/nouns.ts"
import { createDocPages } from "../http/pages/doc-pages.ts"
import type { DocsPage } from "../http/pages/page-files.ts"
import { LargeBodies } from "../http/request/large-bodies.ts"
import { LoopDelay } from "../shared/loop-delay.ts"
import type { Foundation } from "./foundation.ts"

/** What only the HTTP API needs: its pages, its limits and its view of the server's health. */
export function createApi({ config, db, schema, schemaVersion, log }: Foundation) {
  let docs: Promise<DocsPage> | undefined
  let web: Promise<WebApp> | undefined
  return {
    log,
    version: packageJson.version,
    sessionCookie: createSessionCookie(config.baseUrl),
    valsDomain: config.valsDomain,
    bodyBytesMax: config.bodyBytesMax,
    mailBodyBytesMax: Math.max(config.bodyBytesMax, config.emails.bytesMax),
    hasAddressesInLog: config.hasAddressesInLog,
    allowsAnonymousRuns: config.allowsAnonymousRuns,
    largeBodies: new LargeBodies(),
    loopDelay: new LoopDelay(),
    rateLimits: {
      perTokenPerMinute: config.ratePerToken,
      perAddressPerMinute: config.ratePerAddress,
    },
    docs: createDocPages(join(import.meta.dir, "../../../../docs")),
    docsPage() {
      docs ??= buildDocsPage()
      return docs
    },
    webApp() {
      web ??= openApp(join(config.dataDir, "web")).catch((error: unknown) => {
        // The next request tries again.
        web = undefined
        throw error
      })
      return web
    },
    async checkDatabase() {
      await db.ping()
      await schema.check()
      return { database: db.dialect.name, schemaVersion }
    },
    databaseStats: () => db.stats(),
  } satisfies Partial<ApiParts>
}

import { accessSync, constants, mkdirSync } from "node:fs"
import { join } from "node:path"
import { buildDocsPage } from "@hamlet/web"
import packageJson from "../package.json" with { type: "json" }
import type { Config } from "./config.ts"
import { AppError } from "./domain/app-error.ts"
import { createCipher } from "./domain/cipher.ts"
import { TokenUses } from "./domain/token-uses.ts"
import { createApp } from "./http/app.ts"
import type { BuiltPage, HttpDeps } from "./http/deps.ts"
import { createLinks } from "./http/links.ts"
import { createLog, type Log } from "./http/log.ts"
import { Housekeeping } from "./jobs/housekeeping.ts"
import { CodeTools } from "./runtime/code-tools.ts"
import { createCommentStore } from "./storage/comments.ts"
import type { Database } from "./storage/database.ts"
import { createIdempotencyStore } from "./storage/idempotency.ts"
import { loadKeyFile, readKeyFile } from "./storage/key-file.ts"
import { createLikeStore } from "./storage/likes.ts"
import { migrate } from "./storage/migrate.ts"
import { migrations } from "./storage/migrations/index.ts"
import { openPostgres } from "./storage/postgres.ts"
import { createReferenceStore } from "./storage/references.ts"
import { createRunStore } from "./storage/runs.ts"
import { createSecretStore } from "./storage/secrets.ts"
import { createSettingStore, type SettingStore } from "./storage/settings.ts"
import { openSqlite } from "./storage/sqlite.ts"
import { createTokenStore } from "./storage/tokens.ts"
import { createUserStore } from "./storage/users.ts"
import { createValStore } from "./storage/vals.ts"
import { createVersionStore } from "./storage/versions.ts"

/** The program, put together and ready to be asked. */
export interface Hamlet {
  readonly app: ReturnType<typeof createApp>
  readonly deps: HttpDeps
  readonly settings: SettingStore
  readonly log: Log
  /** Where the data is, in words for the operator. */
  readonly database: string
  /** Ends background work and closes the database; the last thing before the process ends. */
  stop(): Promise<void>
}

/** Puts the program together: opens the database, brings its schema up to date and wires everybody to everybody. */
export async function compose(config: Config, open: (config: Config) => Promise<Database> = openDatabase): Promise<Hamlet> {
  prepareDataDir(config.dataDir)
  const keys = config.secretKeys ?? loadKeyFile(config.dataDir)
  const db = await open(config)
  try {
    const { to: schemaVersion } = await migrate(db, migrations)
    return wire(config, db, keys, schemaVersion)
  } catch (error) {
    await db.stop()
    throw error
  }
}

function prepareDataDir(path: string): void {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    accessSync(path, constants.W_OK)
  } catch (cause) {
    throw new AppError("database_unavailable", `Cannot use the data folder "${path}": ${cause instanceof Error ? cause.message : cause}`, {
      cause,
    })
  }
}

function openDatabase(config: Config): Promise<Database> {
  if (config.databaseUrl) return openPostgres(config.databaseUrl, { connectionsMax: config.databaseConnectionsMax })
  return Promise.resolve(openSqlite(sqlitePath(config)))
}

function sqlitePath(config: Config): string {
  return join(config.dataDir, "hamlet.db")
}

function wire(config: Config, db: Database, keys: readonly Uint8Array[], schemaVersion: number): Hamlet {
  const log = createLog(config.logLevel, (text) => process.stderr.write(text))
  const onError = (error: unknown) =>
    log.error("background", { error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  const tokens = createTokenStore(db)
  const tokenUses = new TokenUses(tokens, onError)
  const codeTools = new CodeTools({}, (gaveUp) => log.warn("parser_gave_up", gaveUp))
  let docs: Promise<BuiltPage> | undefined
  const deps: HttpDeps = {
    vals: createValStore(db),
    versions: createVersionStore(db),
    likes: createLikeStore(db),
    comments: createCommentStore(db),
    references: createReferenceStore(db),
    runs: createRunStore(db),
    users: createUserStore(db),
    tokens,
    secrets: createSecretStore(db),
    idempotency: createIdempotencyStore(db),
    cipher: createCipher(keys, () => config.secretKeys ?? readKeyFile(config.dataDir)),
    importHosts: { baseUrls: [config.baseUrl] },
    scanImports: (code, ownerId) => codeTools.scanImports(code, ownerId),
    toJavaScript: (code, ownerId) => codeTools.toJavaScript(code, ownerId),
    newId: () => Bun.randomUUIDv7(),
    now: Date.now,
    links: createLinks(config.baseUrl, config.valsDomain),
    log,
    version: packageJson.version,
    bodyBytesMax: config.bodyBytesMax,
    rateLimits: { perTokenPerMinute: config.ratePerToken, perAddressPerMinute: config.ratePerAddress },
    tokenUses,
    docsPage() {
      docs ??= buildDocsPage()
      return docs
    },
    async checkDatabase() {
      await db.ping()
      return { database: db.dialect.name, schemaVersion }
    },
    databaseStats: () => db.stats(),
  }
  const housekeeping = new Housekeeping({ runs: deps.runs, idempotency: deps.idempotency, now: deps.now, onError })
  housekeeping.start()
  return {
    app: createApp(deps),
    deps,
    settings: createSettingStore(db),
    log,
    database: config.databaseUrl ? db.dialect.name : `${db.dialect.name} in ${sqlitePath(config)}`,
    async stop() {
      await housekeeping.stop()
      await tokenUses.stop()
      await codeTools.stop()
      await db.stop()
      log.flush()
    },
  }
}

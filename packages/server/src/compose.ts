import { accessSync, constants, mkdirSync } from "node:fs"
import { hostname } from "node:os"
import { join } from "node:path"
import { buildDocsPage } from "@hamlet/web"
import packageJson from "../package.json" with { type: "json" }
import { composeRuntime } from "./compose-runtime.ts"
import type { Config } from "./config.ts"
import { AppError } from "./domain/app-error.ts"
import { createCipher } from "./domain/cipher.ts"
import type { Runner } from "./domain/execution.ts"
import { RunFollowers } from "./domain/follow-run.ts"
import { LiveRuns } from "./domain/live-runs.ts"
import { createPrograms } from "./domain/programs.ts"
import { RunTokens } from "./domain/run-tokens.ts"
import { TokenUses } from "./domain/token-uses.ts"
import { createGateway, type Gateway } from "./gateway/gateway.ts"
import { createApp } from "./http/app.ts"
import type { BuiltPage, HttpDeps } from "./http/deps.ts"
import { createLinks } from "./http/links.ts"
import { createLog, type Log } from "./http/log.ts"
import { Housekeeping } from "./jobs/housekeeping.ts"
import { NodeWatch } from "./jobs/node-watch.ts"
import { CodeTools } from "./runtime/code-tools.ts"
import { runnerLimits } from "./runtime/runner-limits.ts"
import { identityOf, isAlive } from "./runtime/sandbox/process-identity.ts"
import type { IsolationReport } from "./runtime/sandbox/sandboxes.ts"
import { createCommentStore } from "./storage/comments.ts"
import type { Database } from "./storage/database.ts"
import { createIdempotencyStore } from "./storage/idempotency.ts"
import { createImportStore } from "./storage/imports.ts"
import { loadKeyFile, readKeyFile } from "./storage/key-file.ts"
import { createLikeStore } from "./storage/likes.ts"
import { migrate } from "./storage/migrate.ts"
import { migrations } from "./storage/migrations/index.ts"
import { createNodeStore } from "./storage/nodes.ts"
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
  readonly gateway: Gateway
  readonly deps: HttpDeps
  readonly settings: SettingStore
  readonly log: Log
  /** Where the data is, in words for the operator. */
  readonly database: string
  /** Gets ready to run vals, before the first is asked for. */
  start(): Promise<IsolationReport>
  /** Ends background work and closes the database; the last thing before the process ends. */
  stop(): Promise<void>
}

/** What a test puts in the place of the real thing. */
export interface Replacements {
  open?(config: Config): Promise<Database>
  readonly runner?: Runner
}

/** Puts the program together: opens the database, brings its schema up to date and wires everybody to everybody. */
export async function compose(config: Config, replacements: Replacements = {}): Promise<Hamlet> {
  prepareDataDir(config.dataDir)
  const keys = config.secretKeys ?? loadKeyFile(config.dataDir)
  const db = await (replacements.open ?? openDatabase)(config)
  try {
    const { to: schemaVersion } = await migrate(db, migrations)
    const { hamlet, nodeWatch } = wire({ config, db, keys, schemaVersion, runner: replacements.runner })
    await nodeWatch.start()
    return hamlet
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

/** What a request that runs a val may take beyond the run: waiting for its turn, and for the database. */
const requestMsMore = 60_000

type OnError = (error: unknown) => void

interface Foundation {
  readonly config: Config
  readonly db: Database
  readonly keys: readonly Uint8Array[]
  readonly schemaVersion: number
  readonly runner: Runner | undefined
}

function wire(foundation: Foundation): { readonly hamlet: Hamlet; readonly nodeWatch: NodeWatch } {
  const { config, db } = foundation
  const log = createLog(config.logLevel, (text) => process.stderr.write(text))
  const onError = (error: unknown) =>
    log.error("background", { error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  const codeTools = new CodeTools({}, (gaveUp) => log.warn("parser_gave_up", gaveUp))
  const runtime = composeRuntime(config, onError)
  const rules = createRules({ ...foundation, runner: foundation.runner ?? runtime.supervisor }, codeTools, onError)
  const deps = createHttpDeps(foundation, rules, codeTools, log)
  const gateway = createGateway({
    ...rules,
    baseUrl: config.baseUrl,
    valsDomain: config.valsDomain,
    runs: rules.liveRuns,
    limits: {
      requestBytesMax: config.runs.valBodyBytesMax,
      streamMsMax: config.runs.streamMsMax,
      headMsMax: config.runs.runMsMax + runnerLimits.waitMsMax,
    },
  })
  const retention = { keptMs: config.runs.keptDays * 86_400_000, keptPerVal: config.runs.keptPerVal }
  const housekeeping = new Housekeeping({ ...rules, retention })
  housekeeping.start()
  const node = { id: rules.nodeId, host: hostname(), pid: process.pid, pidStarted: identityOf(process.pid) ?? "" }
  const nodeWatch = new NodeWatch({ ...rules, node, nodes: createNodeStore(db), hasEnded: ({ pidStarted }) => !isAlive(pidStarted) })
  const hamlet: Hamlet = {
    app: createApp(deps),
    gateway,
    deps,
    settings: createSettingStore(db),
    log,
    database: config.databaseUrl ? db.dialect.name : `${db.dialect.name} in ${sqlitePath(config)}`,
    start: runtime.start,
    async stop() {
      await housekeeping.stop()
      deps.followers.stop()
      gateway.stop()
      await runtime.stop()
      await rules.liveRuns.stop()
      await rules.runTokens.stop()
      await nodeWatch.stop()
      await rules.tokenUses.stop()
      await codeTools.stop()
      await db.stop()
      log.flush()
    },
  }
  return { hamlet, nodeWatch }
}

/** What the rules of the domain need, whoever asks. */
function createRules({ config, db, keys, runner }: Foundation & { readonly runner: Runner }, codeTools: CodeTools, onError: OnError) {
  const stores = createStores(db)
  const common = { now: Date.now, newId: () => Bun.randomUUIDv7(), onError, nodeId: Bun.randomUUIDv7() }
  // A process that has had its time may have an answer to finish.
  const lifeMsMax = config.runs.processMsMax + config.runs.streamMsMax
  const rules = {
    ...stores,
    ...common,
    cipher: createCipher(keys, () => config.secretKeys ?? readKeyFile(config.dataDir)),
    requestMsMax: config.runs.runMsMax + requestMsMore,
    importHosts: { baseUrls: [config.baseUrl] },
    scanImports: (code: string, ownerId: string) => codeTools.scanImports(code, ownerId),
    links: createLinks(config.baseUrl, config.valsDomain),
    tokenUses: new TokenUses(stores.tokens, onError),
    runTokens: new RunTokens({ ...common, tokens: stores.tokens, lifeMsMax }),
    liveRuns: new LiveRuns({ ...common, runs: stores.runs }),
    runner,
  }
  return { ...rules, programs: createPrograms(rules) }
}

function createHttpDeps(
  { config, db, schemaVersion }: Foundation,
  rules: ReturnType<typeof createRules>,
  codeTools: CodeTools,
  log: Log,
): HttpDeps {
  let docs: Promise<BuiltPage> | undefined
  return {
    ...rules,
    followers: new RunFollowers(rules),
    toJavaScript: (code, ownerId) => codeTools.toJavaScript(code, ownerId),
    log,
    version: packageJson.version,
    bodyBytesMax: config.bodyBytesMax,
    rateLimits: { perTokenPerMinute: config.ratePerToken, perAddressPerMinute: config.ratePerAddress },
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
}

function createStores(db: Database) {
  return {
    vals: createValStore(db),
    versions: createVersionStore(db),
    likes: createLikeStore(db),
    comments: createCommentStore(db),
    references: createReferenceStore(db),
    imports: createImportStore(db),
    runs: createRunStore(db),
    users: createUserStore(db),
    tokens: createTokenStore(db),
    secrets: createSecretStore(db),
    idempotency: createIdempotencyStore(db),
  }
}
